package schema

import (
	"strings"
	"testing"
)

const version = `{"apiVersion": "genname.dev/v1alpha1", "kind": "VersionReport",
	"client": {"gitVersion": "v1", "goVersion": "go1.26", "platform": "linux/amd64"},
	"server": {"gitVersion": "v1.34.4", "major": "1", "minor": "34", "attempts": 8, "attemptsSource": "metric"}}`

// The test detects differences from a schema.
func TestValidate(t *testing.T) {
	for _, test := range []struct{ name, old, by, want string }{
		{"as it is", "", "", ""},
		{"no server", `"server": {`, `"server": null, "was": {`, "additional"},
		{"a new field", `"major"`, `"patch": "4", "major"`, "additional"},
		{"a missing field", `"attempts": 8, `, ``, "required"},
		{"another type", `"attempts": 8`, `"attempts": "8"`, "type"},
		{"unknown attempts", `"attempts": 8`, `"attempts": null`, ""},
		{"negative attempts", `"attempts": 8`, `"attempts": -1`, "minimum"},
		{"another source", `metric`, `rumor`, "enum"},
		{"another version", `v1alpha1`, `v1beta1`, "const"},
		{"another kind", `VersionReport`, `NonsuchReport`, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind, object, ours := parse(strings.Replace(version, test.old, test.by, 1))
			if !ours {
				t.Fatal("not taken for one of ours")
			}
			err := validate(kind, object)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want one about %q", err, test.want)
			}
		})
	}
}

func TestParseLetsOthersBe(t *testing.T) {
	for _, output := range []string{"", "A prefix: 0 of", "{", `{"apiVersion": "v1", "kind": "Pod"}`, "{}", "apiVersion: v1\nkind: Pod\n"} {
		if _, _, ours := parse(output); ours {
			t.Errorf("%q is taken for one of ours", output)
		}
	}
	for _, output := range []string{"apiVersion: genname.dev/v1alpha1\nkind: X\n", "---\n{\n  kind: \"X\",\n  apiVersion: \"genname.dev/v1alpha1\",\n}\n"} {
		if kind, _, ours := parse(output); !ours || kind != "X" {
			t.Errorf("%q is not taken for one of ours", output)
		}
	}
}
