package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
)

func TestValidateManners(t *testing.T) {
	for flags, want := range map[string]string{
		"":                            "",
		"--polite --retry-timeout=1d": "",
		"--estimate":                  "",
		"--retry-timeout=0s":          fmt.Sprintf(messages.BadRetryTimeout, "0s"),
		"--polite --concurrency=1":    "",
		"--polite --concurrency=2":    fmt.Sprintf(messages.PoliteConcurrency, 2),
		"--estimate --output=json":    messages.EstimateOutput,
		"--estimate --output=name":    messages.EstimateOutput,
		"--estimate --fail-above=0.1": messages.EstimateGate,
		"--estimate --compare=a.json": messages.EstimateGate,
		"--retry-timeout=-1m":         fmt.Sprintf(messages.BadRetryTimeout, "-1m0s"),
	} {
		o := &options{failAbove: flagvalue.Probability{Value: new(float64)}, printFlags: output.NewFlags(output.Wide, openMetricsFormat)}
		cmd := &cobra.Command{}
		set := cmd.Flags()
		o.manners.addFlags(set)
		set.IntVar(&o.concurrency, "concurrency", 0, "")
		set.Var(&o.failAbove, "fail-above", "")
		set.StringVar(&o.compare, "compare", "", "")
		o.printFlags.AddFlags(cmd)
		err := set.Parse(strings.Fields(flags))
		if err == nil {
			err = o.validateManners()
		}
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %q", flags, err, want)
		}
		if flags == "" && time.Duration(o.manners.retryTimeout) != 2*time.Minute {
			t.Errorf("--retry-timeout is %s", o.manners.retryTimeout.String())
		}
	}
}

// What is not known exactly is marked, and a type without objects has no row.
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
		var cells []string
		for _, cell := range row.Cells {
			cells = append(cells, cell.(string))
		}
		got = append(got, strings.Join(cells, " | "))
	}
	want := []string{"jobs.example.dev | 1,000,000 | 42 | 2 | 1.2 GB | ≥37", `few\u001b.example.dev | ≥1 | 1 | 1 | 0.51 kB | ≥1`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}
