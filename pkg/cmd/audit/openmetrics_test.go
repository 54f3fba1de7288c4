package audit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The parser of node_exporter reads any text in names unchanged. An unknown value has no
// sample, and an unbounded one is +Inf.
func TestOpenMetrics(t *testing.T) {
	attempts, chance, room, inf := 8, 1e-12, int64(12), math.Inf(1)
	prefixes := []string{"run-", `q"uo\te-`, "line\nbreak", `line\nbreak`, "esc\x1b[31m", "half\xc3", "é-", ""}
	report := &v1alpha1.AuditReport{Skipped: []v1alpha1.Skipped{{Reason: "forbidden"}, {Reason: "excluded"}, {Reason: "undiscovered"}}}
	for i, prefix := range prefixes {
		item := v1alpha1.AuditItem{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: prefix, Names: int64(i)}
		item.NextCreate.NoRetry = 0.25
		if i > 0 {
			item.Attempts, item.NextCreate.ServerRetry, item.Room.ServerRetry = &attempts, &chance, &room
		}
		report.Items = append(report.Items, item)
	}
	// One prefix with two lengths of suffixes are two series.
	longer := v1alpha1.AuditItem{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: "run-", Names: 8, SuffixLength: 8}
	longer.FirstFailure = &v1alpha1.AuditFirstFailure{GrowingDays: days(3)}
	longer.Attempts = &attempts
	report.Items = append(report.Items, longer)
	report.Unprefixed = []v1alpha1.TypeObjects{{Resource: "pods", Objects: 3}, {Resource: "secrets", Objects: 4}}
	var out strings.Builder
	if err := writeOpenMetrics(&out, report); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "\n# EOF\n") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("ends without EOF, or has an escape sequence:\n%s", out.String())
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(out.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	var found []string
	byNames := map[float64]string{}
	for _, metric := range families["genname_prefix_names"].GetMetric() {
		labels := map[string]string{}
		for _, l := range metric.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["resource"] != "jobs" || labels["group"] != "batch" || labels["namespace"] != "ci" {
			t.Errorf("%v", metric)
		}
		byNames[metric.GetGauge().GetValue()] = labels["prefix"]
	}
	for i := range report.Items {
		found = append(found, byNames[float64(i)])
	}
	want := []string{"run-", `q\"uo\\te-`, `line\nbreak`, `line\\nbreak`, `esc\x1b[31m`, `half\xc3`, "é-", "", "run-"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("prefixes (-want +got):\n%s", diff)
	}
	for name, samples := range map[string][]float64{
		"genname_prefix_failure_ratio":      {chance, chance, chance, chance, chance, chance, chance, 0, 0.25},
		"genname_prefix_room_creates":       {12, 12, 12, 12, 12, 12, 12, inf, inf},
		"genname_audit_skipped":             {2},
		"genname_audit_unprefixed_objects":  {7},
		"genname_prefix_first_failure_days": {3, inf, inf, inf, inf, inf, inf, inf, inf},
		"genname_audit_complete":            {0},
	} {
		var values []float64
		for _, m := range families[name].GetMetric() {
			values = append(values, m.GetGauge().GetValue())
		}
		slices.Sort(values)
		slices.Sort(samples)
		if !slices.Equal(values, samples) {
			t.Errorf("%s has %v, want %v", name, values, samples)
		}
	}
	if n := len(families["genname_prefix_attempts"].GetMetric()); n != len(prefixes) {
		t.Errorf("%d samples of the attempts, of which one is unknown", n)
	}
}
