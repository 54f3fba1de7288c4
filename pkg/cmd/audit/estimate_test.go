package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

func TestValidate(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "",
		"--polite --retry-timeout=1d":     "",
		"--estimate":                      "",
		"--retry-timeout=0s":              "--retry-timeout must be positive, not 0s",
		"--polite --concurrency=1":        "",
		"--polite --concurrency=2":        "--polite sends one request at a time, so --concurrency can't be 2",
		"--estimate --output=json":        "--estimate prints only a table and takes no --output",
		"--estimate --fail-above=0.1":     "--estimate doesn't count, so it takes neither --compare nor a gate",
		"--estimate --compare=a.json":     "--estimate doesn't count, so it takes neither --compare nor a gate",
		"--retry-timeout=-1m":             "--retry-timeout must be positive, not -1m0s",
		"--duration=5s":                   "--duration and --interval need --watch",
		"--watch --duration=-5s":          "--duration must be 0 or more, not -5s",
		"--watch --interval=0s":           "--interval must be positive, not 0s",
		"--watch --estimate":              "--estimate doesn't count, so it can't be used with --watch",
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
	for line, want := range map[string]audit.Options{
		"":                       {MinCount: 10, Order: audit.ByNames},
		"--prefix=run-,run-":     {MinCount: 1, Order: audit.ByNames, Prefixes: []string{"run-"}},
		"--min-count=5 --watch":  {MinCount: 5, Order: audit.ByRate},
		"-w --sort-by=names":     {MinCount: 10, Order: audit.ByNames},
		"--fail-above-count=0":   {MinCount: 10, Order: audit.ByNames, FailAboveCount: new(int64)},
		"--fail-above-growth=.5": {MinCount: 10, Order: audit.ByNames, FailAboveGrowth: new(0.5)},
		"--fail-above=50%":       {MinCount: 10, Order: audit.ByNames, FailAbove: new(0.5)},
	} {
		o, _ := parsed(strings.Fields(line)...)
		want.Namespace = "ns"
		if diff := cmp.Diff(want, o.about); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// Inexact values are marked. A type without objects has no row.
func TestEstimateTable(t *testing.T) {
	of := func(resource string) census.Resource {
		return census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "example.dev", Resource: resource}}
	}
	table := estimateTable([]census.Estimate{
		{Resource: of("jobs"), Objects: 1_000_000, Known: true, Requests: 42, AtOnce: 2, Bytes: 1_234_000_000, Seats: 37},
		{Resource: of("few\x1b"), Objects: 1, Requests: 1, AtOnce: 4, Bytes: 512, Seats: 1},
		{Resource: of("none"), Known: true, Requests: 1},
	})
	var got []string
	for _, row := range table.Rows {
		got = append(got, strings.Join(row, " | "))
	}
	want := []string{"jobs.example.dev | 1,000,000 | 42 | 2 | 1.2 GB | ≥37", `few\u001b.example.dev | ≥1 | 1 | 1 | 0.51 kB | ≥1`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}
