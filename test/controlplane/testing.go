package controlplane

import (
	"os"
	"testing"
)

// New starts a control plane for one test. It ends with the test; what it
// leaves behind, its logs, is kept if the test failed.
func New(t testing.TB, options ...Option) *ControlPlane {
	t.Helper()
	cp, err := Start(t.Context(), os.Stderr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("logs are in %s", cp.Dir)
		} else if err := cp.Remove(); err != nil {
			t.Error(err)
		}
	})
	return cp
}
