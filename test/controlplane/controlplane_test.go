package controlplane

import (
	"os"
	"strings"
	"testing"
)

// A program has the version that its module pins.
func TestVersionsArePinned(t *testing.T) {
	t.Parallel()
	for file, pin := range map[string]string{
		"../../go.mod":   "k8s.io/kubectl v0" + strings.TrimPrefix(KubectlVersion, "v1"),
		"servers/go.mod": "k8s.io/kubernetes " + ServerVersion,
	} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "\t"+pin+"\n") {
			t.Errorf("%s lacks %q (%v): change the constant in build.go and the module together", file, pin, err)
		}
	}
}
