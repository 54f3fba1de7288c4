package scan

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// A failed write of the report keeps the exit code and the lines of the command's own error. A deletion with an unknown
// outcome, for example, stays unknown.
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

// Each notice of the engine is one line, regardless of the server's text.
func TestNoticeText(t *testing.T) {
	from := time.Date(2026, 11, 22, 23, 59, 0, 0, time.UTC)
	for what, want := range map[live.NoticeType]string{
		live.Gap: "Warning: pods was counted again, because the watch lost events from 23:59:00 to 00:01:00 " +
			`(pods is forbidden\u001b). The names are correct, but creates and deletes are lower bounds`,
		live.Unwatched:    `Warning: pods can't be watched, so it is counted again at each interval, without creates and deletes: pods is forbidden\u001b`,
		live.Watched:      "pods is watched now",
		live.Appeared:     "pods is a new resource type",
		live.Vanished:     "pods is no longer a resource type",
		live.Crowded:      "Warning: pods has more than 100000 prefixes, so new ones have no row or series",
		live.Undiscovered: `Warning: the resource types can't be discovered, so new types aren't counted yet: pods is forbidden\u001b`,
	} {
		got := NoticeText(live.Notice{
			Type: what, Resource: schema.GroupResource{Resource: "pods"}, From: from, To: from.Add(2 * time.Minute),
			Cause: errors.New("pods is forbidden\x1b"),
		})
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}
