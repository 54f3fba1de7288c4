package docs

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kubectl-genname/kubectl-genname/"

// The table of docs/internals/architecture.md has every package of the plugin and its layer. A package imports only
// packages of lower layers.
func TestArchitecture(t *testing.T) {
	layer := map[string]int{}
	row := regexp.MustCompile("(?m)^\\| ([0-9]+) \\| `([a-z0-9/-]+)` \\|")
	for _, match := range row.FindAllStringSubmatch(read(t, "docs/internals/architecture.md"), -1) {
		layer[match[2]], _ = strconv.Atoi(match[1])
	}
	imports := packages(t)
	if d, i := slices.Sorted(maps.Keys(layer)), slices.Sorted(maps.Keys(imports)); !slices.Equal(d, i) {
		t.Errorf("docs/internals/architecture.md has the packages\n%q, and there are\n%q", d, i)
	}
	for name, imported := range imports {
		for _, other := range imported {
			isPage := strings.HasPrefix(other, "docs/") // a package that only embeds pages
			if layer[other] <= layer[name] && !isPage {
				t.Errorf("%s of layer %d imports %s of layer %d", name, layer[name], other, layer[other])
			}
		}
	}
}

// An engine imports no command line, and the mathematics imports nothing of Kubernetes.
func TestEnginesAreLibraries(t *testing.T) {
	for name := range packages(t) {
		if strings.HasPrefix(name+"/", "pkg/cmd/") || name == "cmd/kubectl-genname" {
			continue
		}
		unwanted := regexp.MustCompile(`^(github\.com/spf13|k8s\.io/(cli-runtime|kubectl))/`)
		if strings.HasPrefix(name+"/", "pkg/once/") {
			unwanted = regexp.MustCompile(`^(github\.com/spf13|k8s\.io/(cli-runtime|kubectl)|sigs\.k8s\.io/kustomize)/`)
		}
		if name == "pkg/analyze" {
			unwanted = regexp.MustCompile(`^[^/]+\.[^/]+/`) // all except the standard library
		}
		for _, dependency := range golist(t, "-deps", module+name) {
			if unwanted.MatchString(dependency) && dependency != module+name {
				t.Errorf("%s needs %s", name, dependency)
			}
		}
	}
}

// packages returns the packages of the plugin, each with its imports of the others.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	format := "-f={{.ImportPath}} {{join .Imports \" \"}}"
	lines := golist(t, format, "./pkg/...", "./internal/...", "./cmd/...", "./docs/rules")
	for _, line := range append(lines, golist(t, "-C=pkg/once", format, "./...")...) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module)
		imports[name] = nil
		for _, imported := range fields[1:] {
			if ours, ok := strings.CutPrefix(imported, module); ok {
				imports[name] = append(imports[name], ours)
			}
		}
	}
	return imports
}

func golist(t *testing.T, args ...string) []string {
	t.Helper()
	command := exec.Command("go", append([]string{"list"}, args...)...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
