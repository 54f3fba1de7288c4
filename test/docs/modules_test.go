package docs

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// older are the modules of older versions, which must not change.
const older = "/test/controlplane/versions/*/*"

// Dependabot keeps every module up to date, not only the plugin's.
func TestDependabotKnowsAllModules(t *testing.T) {
	var config struct {
		Updates []struct{ Directories []string }
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	patterns := []string{older}
	for _, update := range config.Updates {
		patterns = append(patterns, update.Directories...)
	}
	command := exec.Command("git", "ls-files", "go.mod", "*/go.mod")
	command.Dir = root
	modules, err := command.Output()
	if err != nil || len(modules) == 0 {
		t.Fatalf("no module: %v", err)
	}
	for module := range strings.Lines(string(modules)) {
		dir := path.Join("/", path.Dir(strings.TrimSpace(module)))
		if !slices.ContainsFunc(patterns, func(p string) bool { matches, _ := path.Match(p, dir); return matches }) {
			t.Errorf(".github/dependabot.yml does not have %s", dir)
		}
	}
}
