package pruning

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// inProcess runs the plugin in the test's own process.
func inProcess(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = cmd.Execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	return code, out.String(), errOut.String()
}

// Of 2,000 objects exactly the 1,200 old ones are deleted, during all faults. "make -f lab/Makefile prune-trial" uses 100,000
// objects.
func TestExactlyTheOldObjectsAreDeleted(t *testing.T) {
	cp := controlplane.New(t)
	outcome, err := Run(t.Context(), cp, Settings{
		Old: 1200, Young: 800, Rate: 0.1, Seed: 1, Kills: 1, Replaced: 60, Plugin: inProcess, Log: t.Output(),
	})
	if err != nil {
		t.Fatalf("%+v: %v", outcome, err)
	}
	if outcome.Kills != 1 || outcome.Replaced == 0 || len(outcome.Faults) < 15 {
		t.Errorf("too little went wrong: %+v", outcome)
	}
	t.Logf("%+v", outcome)
}
