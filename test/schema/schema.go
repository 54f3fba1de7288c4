// Package schema compares the outputs of the plugin with their published schemas in docs/schemas. The package is for
// tests.
package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// docs returns the path of the repository's directory docs. Tests run below the repository, in the directory of their
// package.
func docs() string {
	above := ".."
	for range 10 {
		dir := filepath.Join(above, "docs")
		if _, err := os.Stat(filepath.Join(dir, "schemas")); err == nil {
			return dir
		}
		above = filepath.Join(above, "..")
	}
	panic("there is no docs/schemas above the directory of the test")
}

// path returns the path of the published schema of a kind.
func path(kind string) string {
	return filepath.Join(docs(), "schemas", v1alpha1.GroupVersion.Version, strings.ToLower(kind)+".json")
}

// createLine matches a line of create -o jsonl.
var createLine = regexp.MustCompile(`(?m)^\{"(?:outcome|result)":.*`)

// Check fails the test if the published schema rejects a part of the output: an object of one of our kinds, in JSON or
// YAML, or a line of create -o jsonl. Check ignores all other output.
func Check(t testing.TB, output string) {
	t.Helper()
	for _, line := range createLine.FindAllString(output, -1) {
		var object map[string]any
		err := json.Unmarshal([]byte(line), &object)
		if err == nil {
			err = validate("CreateLine", object)
		}
		if err != nil {
			t.Errorf("not as %s has it: %v\n%s", path("CreateLine"), err, line)
		}
	}
	kind, object, ours := parse(output)
	if !ours {
		return
	}
	if err := validate(kind, object); err != nil {
		t.Errorf("not as %s has it: %v\n%s", path(kind), err, output)
	}
}

// parse reads an object of our group.
func parse(output string) (kind string, object map[string]any, ours bool) {
	trimmed := strings.TrimSpace(output)
	switch {
	case strings.HasPrefix(trimmed, "{"):
		ours = json.Unmarshal([]byte(trimmed), &object) == nil
	case strings.HasPrefix(trimmed, "---"), strings.HasPrefix(trimmed, "apiVersion: "):
		ours = yaml.Unmarshal([]byte(trimmed), &object) == nil
	}
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ = object["kind"].(string)
	return kind, object, ours && strings.HasPrefix(apiVersion, v1alpha1.GroupVersion.Group+"/")
}

func validate(kind string, object map[string]any) error {
	data, err := os.ReadFile(path(kind))
	if err != nil {
		return err
	}
	return Conforms(data, object)
}

// Conforms returns an error unless a decoded value conforms to the text of a JSON Schema.
func Conforms(text []byte, value any) error {
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	return resolved.Validate(value)
}
