package audit

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// alertFlags are the flags of the command in the description of an alert.
var alertFlags = regexp.MustCompile(`(?m)kubectl genname audit\{\{.*\{\{ end \}\} (-A[^']*)'$`)

// For each alert about growth, the command in its description prints the growing rows, by generateName and by stem,
// even if many other rows have more names. Names under many prefixes are in a fold.
func TestCommandsOfAlerts(t *testing.T) {
	rules, err := os.ReadFile("../../../deploy/exporter/prometheus-operator/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	commands := alertFlags.FindAllStringSubmatch(string(rules), -1)
	if len(commands) != 3 {
		t.Fatalf("%d alerts have a command, want 3", len(commands))
	}
	for _, command := range commands {
		o, err := parsed(strings.Fields(command[1])...)
		if err != nil {
			t.Errorf("%s: %v", command[1], err)
			continue
		}
		o.config.Began = time.Now()
		report := auditOfALeak(t, o.config)
		rows := rowsOf(report, o.config.Order)
		for _, want := range []string{"leak- generateName", "leak- stem", "fold"} {
			shown := func(r row) bool {
				return want == "fold" && r.fold != nil || r.fold == nil && want == r.Prefix+" "+string(r.Naming)
			}
			if !slices.ContainsFunc(rows, shown) {
				t.Errorf("%s: %s is not among the %d rows", command[1], want, len(rows))
			}
		}
	}
}

// auditOfALeak returns a report on 50 large old prefixes, and new objects of three kinds.
func auditOfALeak(t *testing.T, config audit.Config) *v1alpha1.AuditReport {
	t.Helper()
	jobs := census.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Namespaced: true,
	}
	key := pools.Key{GroupResource: jobs.GroupResource(), Namespace: "ci", Naming: object.FromGenerateName}
	rows := func(each func(pools.Row)) {
		for i := range 50 {
			old := pools.Pool{Key: key, Names: 50_000}
			old.Prefix = strings.Repeat("x", i+1) + "-"
			each(pools.Row{Pool: old})
		}
		for _, naming := range []object.Naming{object.FromGenerateName, object.ByStem} {
			leak := pools.Pool{Key: key, Names: 1500, Recent: [pools.Spans]int64{100, 1001}}
			leak.Prefix, leak.Naming = "leak-", naming
			each(pools.Row{Pool: leak})
		}
	}
	fold := pools.NewFold("ci", pools.CreatorKind{Manager: "ci"})
	fold.Add(&pools.Pool{Key: key, Names: 1500, Recent: [pools.Spans]int64{100, 1001}})
	attempts := func(schema.GroupVersion) (v1alpha1.Retries, string) { return v1alpha1.Retries{}, "" }
	result, err := audit.Build(rows, &audit.Counted{
		Types: []census.Resource{jobs}, Folds: []census.TypeFold{{Resource: jobs, Fold: fold}},
	}, config, audit.NewOdds(attempts))
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}
