package kustomize

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
)

// TestKustomizesOwn builds the kustomizations of kustomize's own tests, which are in its Go module. Unchanged, they
// give the bytes and errors of the library. Then the name of one object becomes its generateName. The result must be
// equal except for that, or an error must report a reference to the object.
func TestKustomizesOwn(t *testing.T) {
	trees := ownTrees(t)
	built, refused := 0, 0
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		t.Run(name, func(t *testing.T) {
			tree := trees[name]
			want := tree.build(kubectls)
			if diff := cmp.Diff(want, tree.build(ours)); diff != "" {
				t.Fatalf("as it is (-kubectl +ours):\n%s", diff)
			}
			for path, changed := range tree.generated() {
				got := changed.build(ours)
				switch {
				case strings.Contains(got, "not known before"), strings.Contains(got, "give it a fixed name"):
					refused++
					continue
				}
				built++
				if diff := cmp.Diff(named(want), named(got)); diff != "" {
					t.Errorf("generateName in %s (-kubectl with a name +ours):\n%s", path, diff)
				}
			}
		})
	}
	t.Logf("%d kustomizations; with generateName %d built, %d refused for references", len(trees), built, refused)
	if len(trees) < 200 || built < 250 || refused < 50 {
		t.Errorf("these are too few to tell anything")
	}
}

// tree is a tree of kustomizations.
type tree struct {
	files map[string]string
	root  string
}

type builder func(filesys.FileSystem, string) (string, error)

func kubectls(files filesys.FileSystem, root string) (string, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	objects, err := krusty.MakeKustomizer(options).Run(files, root)
	if err != nil {
		return "", err
	}
	text, err := objects.AsYaml()
	return string(text), err
}

func ours(files filesys.FileSystem, root string) (string, error) {
	text, err := kustomize.Build(context.Background(), files, root)
	return string(text), err
}

// build returns the objects of a tree, or the error.
func (k tree) build(by builder) string {
	files := filesys.MakeFsInMemory()
	for path, content := range k.files {
		if err := files.WriteFile(path, []byte(content)); err != nil {
			return err.Error()
		}
	}
	objects, err := by(files, k.root)
	if err != nil {
		return places.ReplaceAllString(err.Error(), "")
	}
	return objects
}

// places are the memory addresses and numbers of lines in kustomize's errors.
var places = regexp.MustCompile("0x[0-9a-f]+|line [0-9]+")

// generated returns the trees in which one object of a resource has a generateName instead of its name.
func (k tree) generated() iter.Seq2[string, tree] {
	return func(yield func(string, tree) bool) {
		for _, path := range slices.Sorted(maps.Keys(k.files)) {
			for i := range 10 {
				content, found := generate(k.files[path], i)
				if !found || !k.isResource(path) {
					break
				}
				changed := tree{files: maps.Clone(k.files), root: k.root}
				changed.files[path] = content
				if !yield(path, changed) {
					return
				}
			}
		}
	}
}

// isResource reports whether some kustomization lists a file in its resources, or might do so.
func (k tree) isResource(path string) bool {
	for other, content := range k.files {
		var spec struct {
			Resources []string `json:"resources"`
		}
		if filepath.Base(other) != "kustomization.yaml" || yaml.Unmarshal([]byte(content), &spec) != nil {
			continue
		}
		for _, resource := range spec.Resources {
			if filepath.Join(filepath.Dir(other), resource) == filepath.Clean(path) {
				return true
			}
		}
	}
	return false
}

// generate makes the name of the n-th object in a file its generateName.
func generate(content string, n int) (string, bool) {
	documents, err := kio.FromBytes([]byte(content))
	if err != nil || n >= len(documents) || strings.Contains(content, "generateName") {
		return "", false
	}
	if documents[n].YNode().Kind != kyaml.MappingNode || strings.Trim(documents[n].GetName(), "-") == "" ||
		documents[n].GetApiVersion() == "builtin" {
		return "", false
	}
	metadata := documents[n].Field(kyaml.MetadataField).Value
	name := kyaml.NewStringRNode(documents[n].GetName())
	if metadata.PipeE(kyaml.Clear("name")) != nil || metadata.PipeE(kyaml.SetField("generateName", name)) != nil {
		return "", false
	}
	var texts []string
	for _, document := range documents {
		texts = append(texts, document.MustString())
	}
	return strings.Join(texts, "---\n"), true
}

// named returns objects with their generateNames as names.
func named(objects string) string {
	var texts []string
	for text := range strings.SplitSeq(objects, "\n---\n") {
		var object map[string]any
		if yaml.Unmarshal([]byte(text), &object) == nil && object["kind"] != nil {
			metadata, _ := object["metadata"].(map[string]any)
			if generateName, ok := metadata["generateName"].(string); ok && metadata["name"] == nil {
				metadata["name"] = generateName
			}
			delete(metadata, "generateName") // if a patch has added a name
			again, _ := yaml.Marshal(object)
			text = string(again)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n---\n")
}

// ownTrees returns the trees of kustomize's tests by the test's name.
func ownTrees(t *testing.T) map[string]tree {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kustomize/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "krusty", "*_test.go"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources: %v", len(sources), err)
	}
	functions := map[string]*ast.FuncDecl{}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
				functions[function.Name.Name] = function
			}
		}
	}
	trees := map[string]tree{}
	for name, function := range functions {
		one := tree{files: map[string]string{}}
		if name == "TestNamedspacedServiceAccountsWithOverlap" {
			continue // the error names one of two objects at random
		}
		if strings.HasPrefix(name, "Test") && one.read(function, functions) && one.root != "" && !one.foreign() {
			trees[name] = one
		}
	}
	return trees
}

// read adds the files that a test writes into its file system, and the directory that it builds. read reports whether
// the test has both as plain strings.
func (k *tree) read(function *ast.FuncDecl, functions map[string]*ast.FuncDecl) bool {
	plain := true
	ast.Inspect(function.Body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if helper, ok := call.Fun.(*ast.Ident); ok && functions[helper.Name] != nil && functions[helper.Name] != function {
			plain = k.read(functions[helper.Name], functions) && plain
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch method.Sel.Name {
		case "WriteK":
			plain = k.write(call, "kustomization.yaml", "\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n") && plain
		case "WriteC":
			plain = k.write(call, "kustomization.yaml", "\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n") && plain
		case "WriteF":
			plain = k.write(call, "", "") && plain
		case "Run", "RunWithErr":
			if root, ok := literal(call.Args[0]); ok && len(call.Args) == 2 && k.root == "" {
				k.root = root
			}
		}
		return true
	})
	return plain
}

func (k *tree) write(call *ast.CallExpr, name, header string) bool {
	path, ok := literal(call.Args[0])
	content, ok2 := literal(call.Args[1])
	path = filepath.Join(path, name)
	if _, twice := k.files[path]; twice {
		return false // several trees, one after the other
	}
	k.files[path] = header + content
	return ok && ok2
}

// foreign reports whether a tree refers to files outside the tree.
func (k tree) foreign() bool {
	for _, content := range k.files {
		if strings.Contains(content, "://") || strings.Contains(content, "github.com") || strings.Contains(content, "git@") {
			return true
		}
	}
	return false
}

func literal(expression ast.Expr) (string, bool) {
	text, ok := expression.(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(text.Value)
	return value, err == nil
}
