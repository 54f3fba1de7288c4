package connection

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// A server repeats texts of manifests and webhooks in its warnings. A CI system must not take them for commands.
func TestWarnings(t *testing.T) {
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	New(streams).warnings.HandleWarningHeader(299, "-", `unknown field "##vso[task.complete]a"`)
	if want := "Warning: unknown field \"\\u0023#vso[task.complete]a\"\n"; errOut.String() != want {
		t.Errorf("%q, want %q", errOut.String(), want)
	}
}
