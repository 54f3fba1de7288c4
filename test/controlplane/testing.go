package controlplane

import (
	"os"
	"testing"
)

// SkipIfShort skips a test that needs a control plane in "go test -short".
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: needs a control plane")
	}
}

// New starts a control plane for one test, which "go test -short" skips. It ends with the test. If the test fails,
// its directory with the logs remains.
func New(t testing.TB, options ...Option) *ControlPlane {
	t.Helper()
	SkipIfShort(t)
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
