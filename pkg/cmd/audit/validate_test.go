package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
)

func TestValidate(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "",
		"--polite --retry-timeout=1d":     "",
		"--retry-timeout=0s":              "--retry-timeout must be positive, not 0s",
		"--polite --concurrency=1":        "",
		"--polite --concurrency=2":        "--polite sends one request at a time, so --concurrency can't be 2",
		"--retry-timeout=-1m":             "--retry-timeout must be positive, not -1m0s",
		"--duration=5s":                   "--duration and --interval need --watch",
		"--watch --duration=-5s":          "--duration must be 0 or more, not -5s",
		"--watch --interval=0s":           "--interval must be positive, not 0s",
		"--watch --interval=1s":           "",
		"--watch --sort-by=last-10m":      fmt.Sprintf("--sort-by=%s counts objects of one audit, so it can't be used with --watch", audit.ByLast10m),
		"--watch --sort-by=names":         "",
		"--sort-by=last-24h --top=3":      "",
		"--watch --prefix= --interval=1s": "--prefix must not be empty",
	} {
		_, err := parsed(strings.Fields(line)...)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

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
