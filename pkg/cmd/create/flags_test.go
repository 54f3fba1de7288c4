package create

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/create"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
)

// ownFlags are those that kubectl create does not have.
var ownFlags = map[string]bool{
	"naming": true, "attempts": true, "retry-timeout": true, "idempotency-key": true, "idempotency-key-file": true,
	"idempotency-secret-file": true, "count": true,
	"concurrency": true, "qps": true, "burst": true, "wait": true, "wait-timeout": true, "for": true, "from": true,
	"logs": true, "max-log-requests": true, "fail-on-difference": true, "delete-on-interrupt": true,
}

// Every flag of kubectl create exists with the same name, shorthand, type, default, bare value,
// help, deprecation and completion. Only the documented flags are added. test/e2e compares the
// global flags.
func TestCreateHasKubectlsFlags(t *testing.T) {
	streams := genericiooptions.NewTestIOStreamsDiscard()
	conn := connection.New(streams)
	kubectls := flagsOf(create.NewCmdCreate(conn.Factory, streams))
	ours := flagsOf(New(conn, streams))
	output := ours["output"]
	output.Usage = strings.Replace(output.Usage, ", jsonl", "", 1)
	ours["output"] = output
	for name := range ownFlags {
		if _, there := ours[name]; !there {
			t.Errorf("--%s is missing", name)
		}
		delete(ours, name)
	}
	if len(kubectls) < 17 {
		t.Fatalf("kubectl create has only %d flags: %v", len(kubectls), kubectls)
	}
	if diff := cmp.Diff(kubectls, ours); diff != "" {
		t.Errorf("the flags differ (-kubectl's +ours):\n%s", diff)
	}
}

// Documents overlap only with --concurrency.
func TestDocumentsOverlap(t *testing.T) {
	for args, want := range map[string]bool{"--concurrency=4": true, "": false} {
		o, cmd := optionsWith(genericiooptions.NewTestIOStreamsDiscard()), &cobra.Command{}
		o.addKubectlFlags(cmd)
		o.flags.addTo(cmd)
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil || o.config(nil).Overlap != want {
			t.Errorf("%q: %v, overlap %t", args, err, !want)
		}
	}
}

// flagFacts are the properties of a flag that a user can notice.
type flagFacts struct {
	Shorthand, Type, Default, Bare, Usage string
	Hidden                                bool
	Deprecated, ShorthandDeprecated       string
	Annotations                           map[string][]string
}

func flagsOf(cmd *cobra.Command) map[string]flagFacts {
	facts := map[string]flagFacts{}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		facts[f.Name] = flagFacts{
			Shorthand: f.Shorthand, Type: f.Value.Type(), Default: f.DefValue, Bare: f.NoOptDefVal, Usage: f.Usage,
			Hidden: f.Hidden, Deprecated: f.Deprecated, ShorthandDeprecated: f.ShorthandDeprecated, Annotations: f.Annotations,
		}
	})
	return facts
}
