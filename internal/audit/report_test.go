package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// skipped is a type that was skipped in one namespace, or in all to be counted.
func skipped(name, namespace string, reason census.Reason) census.Skipped {
	return census.Skipped{Resource: name, Namespace: namespace, Reason: reason, Message: "why"}
}

// A report is complete as its coverage is. A gate fails closed, unless the user allows it to pass without types that
// can't be listed. It doesn't pass on a list that is not consistent.
func TestComplete(t *testing.T) {
	limit, chance := int64(5), 0.5
	without := func(s census.Skipped) census.Summary { return census.Summary{Skipped: []census.Skipped{s}} }
	pods, mixed := without(skipped("pods", "", census.Forbidden)), census.Summary{Inconsistent: []string{"pods"}}
	for _, test := range []struct {
		config   Config
		before   []census.Skipped // skipped before the scan
		during   census.Summary
		complete bool
	}{
		{Config{}, nil, pods, true},
		{Config{TypesNamed: true}, nil, pods, false},
		{Config{Namespace: "ci"}, nil, without(skipped("pods", "ci", census.Forbidden)), true},
		{Config{}, nil, without(skipped("pods", "ci", census.Forbidden)), false},
		{Config{}, nil, without(skipped("pods", "", census.TimedOut)), false},
		{Config{}, nil, without(skipped("pods", "", census.NotFound)), true}, // a CustomResourceDefinition was deleted meanwhile
		{Config{}, []census.Skipped{skipped("", "", census.Undiscovered)}, pods, false},
		{Config{FailAboveCount: &limit}, nil, pods, false},
		{Config{FailAbove: &chance}, nil, pods, false},
		{Config{FailAboveGrowth: &chance}, nil, pods, false},
		{Config{FailAboveCount: &limit, AllowUnlisted: true}, nil, pods, true},
		{Config{FailAboveCount: &limit, AllowUnlisted: true, TypesNamed: true}, nil, pods, false},
		{Config{}, nil, mixed, true},
		{Config{FailAboveCount: &limit}, nil, mixed, false},
	} {
		result, err := building(test.config).report(Counted{
			Types:   []census.Resource{resource("", "pods"), resource("batch", "jobs")},
			Skipped: test.before, Summary: test.during,
		})
		if err != nil || result.Report.Complete != test.complete {
			t.Errorf("%+v: complete %v, %v", test, result.Report.Complete, err)
		}
	}
}

// A creationTimestamp that is ahead of the server's clock is in the report, because then too many objects
// seem recent.
func TestAhead(t *testing.T) {
	ended := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]float64{-time.Hour: 0, time.Minute: 0, 30 * time.Minute: 1800} {
		p := pool("run-", 20)
		p.Newest = ended.Add(ahead)
		b := building(Config{})
		b.add(p)
		result, err := b.report(Counted{Types: []census.Resource{resource("batch", "jobs")}, Ended: ended})
		if err != nil || result.Report.Summary.AheadSeconds != want {
			t.Errorf("%s: %v seconds ahead, want %v: %v", ahead, result.Report.Summary.AheadSeconds, want, err)
		}
	}
}

// For a named prefix without names, the report has the nearest prefix. If the user named an object, the report has the
// prefix of the object.
func TestNearest(t *testing.T) {
	jobs := resource("batch", "jobs").GroupResource()
	for named, want := range map[string]pools.Near{
		"nightly-report":       {Prefix: "nightly-report-"},
		"nightli-report-":      {Prefix: "nightly-report-"},
		"nightly-report-x7k2":  {},
		"nightly-report-x7k2p": {Prefix: "nightly-report-", IsObject: true},
		"backup-":              {},
		"cach":                 {Prefix: "cache-"},
		"cahe":                 {Prefix: "cache-"},
		"night":                {Prefix: "nightly-cleanup-"}, // chosen because it has more names
		"nightly-c":            {Prefix: "nightly-cleanup-"},
	} {
		b := building(Config{Prefixes: []string{named}, PrefixesOf: map[schema.GroupResource][]string{jobs: {named}}})
		b.add(pool("nightly-report-", 20), pool("nightly-cleanup-", 30), pool("cache-", 9))
		result := finish(t, b)
		got := result.Nearest["jobs.batch/"+named]
		if len(result.NotFound) != 1 || got.Prefix != want.Prefix || got.IsObject != want.IsObject {
			t.Errorf("%s: %+v, not found: %q", named, got, result.NotFound)
		}
	}
}

// The report contains the server, the scope, the counts, and the skipped types.
func TestReport(t *testing.T) {
	attempts := 8
	server := v1alpha1.AuditServer{
		GitVersion: "v1.37.1",
		Retries:    v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceVersion},
	}
	c := building(Config{Namespace: "ci", LabelSelector: "app=x", MinCount: 10})
	c.add(pool("p-", 5))
	result, err := c.report(Counted{
		Server: server, Ended: began.Add(1500 * time.Millisecond),
		Types:   []census.Resource{resource("", "pods"), resource("batch", "jobs"), resource("", "configmaps")},
		Skipped: []census.Skipped{skipped("events", "", census.Excluded)},
		Summary: census.Summary{
			Objects: 7, Requests: 3, Inconsistent: []string{"jobs.batch"},
			Skipped: []census.Skipped{skipped("pods", "ci", census.Forbidden)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.AuditReport{
		TypeMeta: metav1.TypeMeta{APIVersion: "genname.dev/v1alpha1", Kind: "AuditReport"},
		Metadata: v1alpha1.ReportMetadata{CreationTimestamp: metav1.NewTime(began)},
		Server:   server,
		Scope: v1alpha1.AuditScope{
			Namespace: "ci", Resources: []string{"configmaps", "jobs.batch", "pods"}, LabelSelector: "app=x", MinCount: 10,
		},
		Summary: v1alpha1.AuditSummary{
			ResourceTypes: 2, Objects: 7, Prefixes: 1, Requests: 3, Seconds: 1.5, Inconsistent: []string{"jobs.batch"},
		},
		Verdict: &v1alpha1.AuditVerdict{
			AttemptsUnknown: []string{}, MostCreated: []v1alpha1.AuditMostCreated{},
		},
		Items:  []v1alpha1.AuditItem{},
		Hidden: v1alpha1.AuditHidden{Prefixes: 1, Names: 5},
		Skipped: []v1alpha1.Skipped{
			{Resource: "events", Reason: "excluded", Message: "why"},
			{Resource: "pods", Namespace: "ci", Reason: "forbidden", Message: "why"},
		},
		Complete: true,
	}
	if diff := cmp.Diff(want, result.Report); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(result.NotFound) != 0 {
		t.Errorf("%q were not found, want none", result.NotFound)
	}
}

// A server with invalid metrics of its attempts is an error.
func TestReportFails(t *testing.T) {
	c := building(Config{})
	c.retriesOf = retries(-1)
	c.add(pool("p-", 5))
	if result, err := c.report(Counted{}); err == nil {
		t.Errorf("the report is %+v, want an error", result.Report)
	}
}
