// Command licenses writes the licenses and notices of everything that is linked into the plugin on
// all platforms of a release: Go's own and those of the modules. A static binary distributes them.
// The texts come from the module cache.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are the systems of .goreleaser.yaml whose imports differ.
var platforms = []string{"linux", "darwin", "windows"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./packaging/licenses FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	text, err := licenses("./cmd/kubectl-genname")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// licenses returns the texts for a program, each once, after the names of the modules that have this license.
func licenses(program string) ([]byte, error) {
	texts := map[string]string{} // by "MODULE VERSION FILE"
	for _, platform := range platforms {
		packages, err := linked(program, platform)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if err := p.collect(texts); err != nil {
				return nil, err
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, "kubectl-genname is under the Apache License 2.0 (see LICENSE). Linked into it is:")
	for _, sources := range byText(texts) {
		rule, text := strings.Repeat("=", 80), strings.TrimSpace(texts[sources[0]])
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", rule, strings.Join(sources, "\n"), text)
	}
	return out.Bytes(), nil
}

// byText groups sources with the same text, sorted.
func byText(texts map[string]string) [][]string {
	groups := map[string][]string{}
	for _, source := range slices.Sorted(maps.Keys(texts)) {
		groups[texts[source]] = append(groups[texts[source]], source)
	}
	return slices.SortedFunc(maps.Values(groups), func(a, b []string) int { return strings.Compare(a[0], b[0]) })
}

// pkg is a package, as "go list" prints it.
type pkg struct {
	Dir    string
	Module *module
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

// linked are the packages of other modules in a program, and Go itself.
func linked(program, platform string) ([]pkg, error) {
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform, "GOARCH=amd64")
	out, err := run(environment, "go", "list", "-deps", "-json=Dir,Module", program)
	if err != nil {
		return nil, err
	}
	golang, err := run(environment, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(golang)), "\n")
	packages := []pkg{{root, &module{Path: "go", Version: strings.TrimSpace(version), Dir: strings.TrimSpace(root)}}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, err
		case p.Module != nil && !p.Module.Main:
			packages = append(packages, p)
		}
	}
}

func run(environment []string, program string, args ...string) ([]byte, error) {
	command := exec.Command(program, args...)
	command.Env, command.Stderr = environment, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return out, nil
}

var legal = regexp.MustCompile(`(?i)^(licen[sc]e|notice|copying|copyright|patents)([.-]|$)`)

// collect adds the texts of the package's directory and of its parents up to the module's
// directory, which must have one. Copied code has its own license.
func (p pkg) collect(texts map[string]string) error {
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		found := 0
		for _, entry := range entries {
			if entry.IsDir() || !legal.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
				continue
			}
			path := filepath.Join(dir, entry.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(p.Module.Dir, path)
			if err != nil {
				return err
			}
			source := p.Module.Path + " " + p.Module.Version + " " + filepath.ToSlash(relative)
			texts[source] = strings.ReplaceAll(string(text), "\r\n", "\n")
			found++
		}
		if dir == p.Module.Dir {
			if found == 0 {
				return fmt.Errorf("%s %s has no license", p.Module.Path, p.Module.Version)
			}
			return nil
		}
	}
}
