package document

import (
	"os"
	"path/filepath"
	"testing"
)

// A section is replaced, and the rest of the page stays. A page without the section is an error.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	page := "before\n" + Section("a", "old\n") + "between\n" + Section("a, b", "other\n")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, "a", "new\n"); err != nil {
		t.Fatal(err)
	}
	want := "before\n" + Section("a", "new\n") + "between\n" + Section("a, b", "other\n")
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%q, want %q: %v", got, want, err)
	}
	for name, there := range map[string]bool{"a": true, "a, b": true, "c": false} {
		if err := Check(path, name); (err == nil) != there {
			t.Errorf("%s: %v, want the section found: %t", name, err, there)
		}
	}
	if err := Write(path, "c", "new\n"); err == nil {
		t.Error("a section that isn't there was written")
	}
}
