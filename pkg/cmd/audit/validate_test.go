package audit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
)

// parsed returns the options of a command line, with or without an error of Validate.
func parsed(args ...string) (*options, error) {
	cmd, flags := &cobra.Command{}, genericclioptions.NewConfigFlags(false)
	*flags.Namespace = "ns"
	o := newOptions(cmdutil.NewFactory(flags), genericiooptions.NewTestIOStreamsDiscard())
	o.addFlags(cmd)
	cmd.Flags().String("namespace", "", "")
	if err := cmd.Flags().Parse(args); err != nil {
		return o, err
	}
	if err := o.Complete(cmd, cmd.Flags().Args()); err != nil {
		return o, err
	}
	return o, o.Validate()
}

// The config combines flags that affect each other.
func TestConfig(t *testing.T) {
	const release = "sh.helm.release.v1.payments-of-the-shop-in-the-eu-central-1.v"
	for line, want := range map[string]audit.Config{
		"":                       {MinCount: 10, MinStem: 20, Order: audit.ByNames},
		"--prefix=run-,run-":     {MinCount: 1, MinStem: 1, Order: audit.ByNames, Prefixes: []string{"run-"}},
		"--prefix=" + release:    {MinCount: 1, MinStem: 1, Order: audit.ByNames, Prefixes: []string{release[:58], release}},
		"--min-count=5 --watch":  {MinCount: 5, MinStem: 5, Order: audit.ByRate},
		"-w --sort-by=names":     {MinCount: 10, MinStem: 20, Order: audit.ByNames},
		"--fail-above-count=0":   {MinCount: 10, MinStem: 20, Order: audit.ByNames, FailAboveCount: new(int64)},
		"--fail-above-growth=.5": {MinCount: 10, MinStem: 20, Order: audit.ByNames, FailAboveGrowth: new(0.5)},
		"--fail-above=50%":       {MinCount: 10, MinStem: 20, Order: audit.ByNames, FailAbove: new(0.5)},
	} {
		o, _ := parsed(strings.Fields(line)...)
		want.Namespace = "ns"
		if diff := cmp.Diff(want, o.config); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}
