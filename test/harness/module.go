package harness

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// Module downloads a module, like example.com/m@v1.0.0, and returns its directory. Its checksum is the one of a go.sum
// file.
func Module(t *testing.T, module, sum string) string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	download.Dir = t.TempDir()
	out, err := download.Output()
	if err != nil {
		t.Fatalf("download %s: %v\n%s", module, err, out)
	}
	var downloaded struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		t.Fatal(err)
	}
	if downloaded.Sum != sum {
		t.Fatalf("%s has the sum %s, want %s", module, downloaded.Sum, sum)
	}
	return downloaded.Dir
}
