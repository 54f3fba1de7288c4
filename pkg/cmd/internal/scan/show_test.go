package scan

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// A report that can't be written has the exit code and the lines that it has otherwise, because a deletion with an
// unknown outcome stays unknown.
func TestShowToAFullDisk(t *testing.T) {
	unknown := &exitcode.Error{Code: exitcode.Unknown, Lines: []string{"To go on, run:"}}
	for _, format := range []string{"json", "name"} {
		for _, gate := range []error{nil, errors.New("no"), unknown} {
			prints, cmd := output.NewFlags("name"), &cobra.Command{}
			prints.AddFlags(cmd)
			if err := cmd.Flags().Set("output", format); err != nil {
				t.Fatal(err)
			}
			view := View{Gate: gate}
			if prints.Take("name") {
				view.Names = slices.Values([]string{"job.batch/a"})
			}
			s := &Session{Stderr: terminal.NewStderr(io.Discard), Prints: prints, IOStreams: genericiooptions.IOStreams{Out: fullDisk{}}}
			message, code := exitcode.Describe(s.Show(&v1alpha1.PruneReport{}, view))
			wantMessage, want := "error: full", exitcode.Failed
			if errors.Is(gate, unknown) {
				wantMessage, want = "error: full\nTo go on, run:", exitcode.Unknown
			}
			if message != wantMessage || code != want {
				t.Errorf("-o %s, %v: %q, exit code %d, want %q and %d", format, gate, message, code, wantMessage, want)
			}
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }
