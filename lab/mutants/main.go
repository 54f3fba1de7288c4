// Command mutants changes lines chosen by chance, one at a time, and reports the changes that no test finds. It runs
// the tests of the package of the line that need no control plane, those of its importers, and then the recorded
// terminals, which show what commands print. The files themselves stay as they are.
//
//	go run ./lab/mutants -seed 1 -n 40 ./internal/...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// limit is the time limit for the tests of a package. A mutant that exceeds it counts as found.
const limit = 10 * time.Minute

// errInvalid means that a mutant doesn't compile.
var errInvalid = errors.New("does not compile")

// A mutant is a change of one node of a file.
type mutant struct {
	file, what string
	line       int
	apply      func() // changes the syntax tree
	tree       *ast.File
	files      *token.FileSet
}

// A tested package is what go list prints of it.
type tested struct {
	ImportPath, Dir                             string
	GoFiles, Imports, TestImports, XTestImports []string
}

func main() {
	seed := flag.Uint64("seed", 1, "seed of the choice")
	n := flag.Int("n", 40, "number of mutants")
	flag.Parse()
	if err := run(*seed, *n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(seed uint64, n int, patterns []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	packages, err := list(ctx, patterns)
	if err != nil {
		return err
	}
	random, found, own := rand.New(rand.NewPCG(seed, 0)), 0, 0
	for i := 0; i < n; {
		p := choose(random, packages)
		m, err := pick(random, p)
		if err != nil {
			return err
		}
		by, err := finder(ctx, m, p, packages)
		if errors.Is(err, errInvalid) {
			continue
		} else if err != nil {
			return err
		}
		i++
		if by != "" {
			found++
		}
		if path, _, _ := strings.Cut(by, ","); path == p.ImportPath {
			own++
		}
		fmt.Printf("%3d %s:%d: %s: %s\n", i, m.file, m.line, m.what, verdict(by))
	}
	fmt.Printf("%d of %d mutants found (%d%%), %d by the tests of their own package\n", found, n, 100*found/n, own)
	return nil
}

func verdict(by string) string {
	if by == "" {
		return "SURVIVED"
	}
	return "found by " + by
}

func list(ctx context.Context, patterns []string) ([]tested, error) {
	if len(patterns) == 0 {
		patterns = []string{"./internal/...", "./pkg/..."}
	}
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-json"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(patterns, " "), err)
	}
	var all []tested
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p tested
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// choose picks a package with a chance in proportion to its files.
func choose(random *rand.Rand, packages []tested) tested {
	var files []tested
	for _, p := range packages {
		files = append(files, slices.Repeat([]tested{p}, len(p.GoFiles))...)
	}
	return files[random.IntN(len(files))]
}

// pick chooses a change of a file of the package.
func pick(random *rand.Rand, p tested) (*mutant, error) {
	for range 1000 {
		file := filepath.Join(p.Dir, p.GoFiles[random.IntN(len(p.GoFiles))])
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		var all []mutant
		ast.Inspect(tree, func(node ast.Node) bool {
			if what, apply := change(node); apply != nil {
				all = append(all, mutant{file, what, set.Position(node.Pos()).Line, apply, tree, set})
			}
			return true
		})
		if len(all) > 0 {
			return &all[random.IntN(len(all))], nil
		}
	}
	return nil, fmt.Errorf("%s has nothing to change", p.ImportPath)
}

var swapped = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ,
	token.GEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// change returns a change of a node, or nil.
func change(node ast.Node) (string, func()) {
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if other, ok := swapped[node.Op]; ok && (node.Op != token.ADD || !isText(node)) {
			return node.Op.String() + " becomes " + other.String(), func() { node.Op = other }
		}
	case *ast.IfStmt:
		return "condition inverted", func() {
			node.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: node.Cond}}
		}
	case *ast.BlockStmt:
		for i, statement := range node.List {
			if _, ok := statement.(*ast.ExprStmt); ok {
				return "call left out", func() { node.List = slices.Delete(node.List, i, i+1) }
			}
		}
	case *ast.BasicLit:
		if value, err := strconv.Atoi(node.Value); node.Kind == token.INT && err == nil {
			return "one more", func() { node.Value = strconv.Itoa(value + 1) }
		}
	}
	return "", nil
}

func isText(e *ast.BinaryExpr) bool {
	for _, side := range []ast.Expr{e.X, e.Y} {
		if l, ok := side.(*ast.BasicLit); ok && l.Kind == token.STRING {
			return true
		}
		if inner, ok := side.(*ast.BinaryExpr); ok && isText(inner) {
			return true
		}
	}
	return false
}

// finder returns the package whose tests fail with the mutant, or "".
func finder(ctx context.Context, m *mutant, p tested, packages []tested) (string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m.apply()
	var text bytes.Buffer
	if err := format.Node(&text, m.files, m.tree); err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{changed: text.Bytes(), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", err
		}
	}
	// The sessions build the mutated plugin, because they inherit this environment.
	command := func(ctx context.Context, args ...string) error {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
		return cmd.Run()
	}
	if command(ctx, "build", p.ImportPath) != nil && ctx.Err() == nil {
		return "", errInvalid
	}
	tests := [][]string{{"-short", p.ImportPath}}
	for _, importer := range importers(p, packages) {
		tests = append(tests, []string{"-short", importer})
	}
	for _, test := range append(tests, []string{"-count=1", "./test/sessions"}) {
		within, cancel := context.WithTimeout(ctx, limit)
		err := command(within, append([]string{"test"}, test...)...)
		ended := within.Err() == nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil && ended:
			return test[1], nil
		case err != nil:
			return test[1] + ", which did not end in " + limit.String(), nil
		}
	}
	return "", nil
}

func importers(p tested, packages []tested) (paths []string) {
	for _, other := range packages {
		if slices.Contains(slices.Concat(other.Imports, other.TestImports, other.XTestImports), p.ImportPath) && other.ImportPath != p.ImportPath {
			paths = append(paths, other.ImportPath)
		}
	}
	return paths
}
