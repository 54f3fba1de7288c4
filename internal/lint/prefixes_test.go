package lint

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Prefixes checks each prefix once, and compares it with earlier prefixes.
func TestPrefixes(t *testing.T) {
	var steps []struct {
		Object map[string]any
		Want   string
	}
	data, err := os.ReadFile("testdata/prefixes.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, &steps)
	}
	if err != nil {
		t.Fatal(err)
	}
	var p Prefixes
	for _, step := range steps {
		got := ""
		for _, f := range p.Errors(&unstructured.Unstructured{Object: step.Object}) {
			got += f.Rule.Name
			if f.Message == "" || f.Help == "" {
				t.Errorf("%s: message %q, help %q, want both", f.Rule.Name, f.Message, f.Help)
			}
		}
		if got != step.Want {
			t.Errorf("%v: %q, want %q", step.Object, got, step.Want)
		}
	}
}
