package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
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
		result, err := building(Config{}, p).report(Counted{Types: []census.Resource{resource("batch", "jobs")}, Ended: ended})
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
		config := Config{Prefixes: []string{named}, PrefixesOf: map[schema.GroupResource][]string{jobs: {named}}}
		result := finish(t, building(config, pool("nightly-report-", 20), pool("nightly-cleanup-", 30), pool("cache-", 9)))
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
	result, err := building(Config{Namespace: "ci", LabelSelector: "app=x", MinCount: 10}, pool("p-", 5)).report(Counted{
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
	c := building(Config{}, pool("p-", 5))
	c.retriesOf = retries(-1)
	if result, err := c.report(Counted{}); err == nil {
		t.Errorf("the report is %+v, want an error", result.Report)
	}
}

// buildOf builds the report on a set of objects of the only type that was counted.
func buildOf(set *pools.Set, counted Counted, config Config) (*Result, error) {
	for _, f := range set.Folds() {
		counted.Folds = append(counted.Folds, census.TypeFold{Resource: counted.Types[0], Fold: f})
	}
	return Build(func(each func(pools.Row)) {
		for pool := range set.All() {
			each(pools.Row{Pool: *pool})
		}
	}, &counted, config, NewOdds(retries(8)))
}

// The rows, the folds and the hidden names of a report are all objects, whatever the thresholds.
func TestSumOfAReport(t *testing.T) {
	secrets := census.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	creators := []object.Creator{
		{Manager: "Helm"}, {Manager: "kubectl"}, {}, {APIVersion: "batch/v1", Kind: "CronJob", Name: "a", Certain: true},
	}
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			Began: began, MinCount: rapid.Int64Range(0, 12).Draw(t, "min-count"),
			MinStem: rapid.Int64Range(1, 25).Draw(t, "stems"), Top: rapid.IntRange(0, 3).Draw(t, "top"),
			Order: rapid.SampledFrom(Orders).Draw(t, "order"),
		}
		rules := pools.Rules{MinCount: config.CountsFrom(), MinStem: config.StemsFrom(), Folds: true}
		set := pools.New(secrets.GroupVersionResource, &rules)
		set.Unordered()
		objects := rapid.IntRange(0, 200).Draw(t, "objects")
		for range objects {
			name := rapid.StringMatching(`(a|b|c)-(v?[0-9]{1,3}|[a-z]{1,6}|[bcdf24]{5})`).Draw(t, "name")
			o := object.Object{Name: name, Creator: rapid.SampledFrom(creators).Draw(t, "creator")}
			if rapid.IntRange(0, 3).Draw(t, "generated") == 0 {
				o.GenerateName, o.Name = "a-", "a-bcdfg"
			}
			set.Add(&o)
		}
		counted := Counted{Types: []census.Resource{secrets}, Summary: census.Summary{Objects: set.Objects()}}
		result, err := buildOf(set, counted, config)
		if err != nil {
			t.Fatal(err)
		}
		report := result.Report
		sum := report.Hidden.Names
		for _, i := range report.Items {
			sum += i.Names
		}
		for _, f := range report.Folded {
			sum += f.Names
		}
		if sum != report.Summary.Objects || sum != int64(objects) {
			t.Fatalf("%d in rows, folds and hidden, of %d objects: %+v", sum, objects, report)
		}
		if slices.ContainsFunc(report.Items, func(i v1alpha1.AuditItem) bool { return i.Naming == "" }) {
			t.Fatal("a row without a naming")
		}
	})
}

// A row and a fold have the orphaned Pods, and the objects that are being deleted. Only a Pod without a controller that
// has the name and the UID of a Job in its labels can be orphaned.
func TestLeftovers(t *testing.T) {
	gone, there := object.JobRef{Name: "gone", UID: "1"}, object.JobRef{Name: "there", UID: "2"}
	controller := []object.Owner{{Kind: "Job", Name: "gone", UID: "1", Controller: true}}
	at := func(hours int) int64 { return began.Add(time.Duration(-hours) * time.Hour).Unix() }
	objects := []object.Object{
		{Job: gone},
		{Job: gone},
		{Job: there},
		{Job: object.JobRef{Name: "gone"}},
		{Job: object.JobRef{UID: "1"}},
		{Job: gone, Identity: object.Identity{Owners: controller}},
		{Job: gone, Identity: object.Identity{Deleting: true}, Deleted: at(3), Finalizers: []string{"a/x", "a/y"}},
		{Identity: object.Identity{Deleting: true}, Deleted: at(5), Finalizers: []string{"a/y"}},
		{Identity: object.Identity{Deleting: true}},
	}
	since := metav1.NewTime(time.Unix(at(5), 0).UTC())
	wantDeleting := &v1alpha1.AuditDeleting{Names: 3, Since: &since, Finalizer: "a/y", Held: 2}
	for name, generateName := range map[string]string{"a row": "run-", "a fold": ""} {
		for _, jobs := range []map[uint64]bool{nil, {pools.JobHash("n", there): true, pools.JobHash("n", gone): false}} {
			rules := pools.Rules{Folds: true, Leftovers: true}
			set := pools.New(census.Pods.GroupVersionResource, &rules)
			for i, o := range objects {
				o.Namespace, o.GenerateName, o.Name = "n", generateName, generateName+"fixed"+string("bcdfghjkl"[i])
				if generateName != "" {
					o.Name = generateName + "bbbb" + string("bcdfghjkl"[i])
				}
				set.Add(&o)
			}
			counted := Counted{Types: []census.Resource{census.Pods}, Jobs: jobs}
			result, err := buildOf(set, counted, Config{Began: began, MinCount: 1, MinStem: 1})
			if err != nil {
				t.Fatal(err)
			}
			orphaned, deleting := (*v1alpha1.AuditOrphaned)(nil), (*v1alpha1.AuditDeleting)(nil)
			switch report := result.Report; {
			case len(report.Items) == 1 && generateName != "":
				orphaned, deleting = report.Items[0].Orphaned, report.Items[0].Deleting
			case len(report.Folded) == 1 && generateName == "":
				orphaned, deleting = report.Folded[0].Orphaned, report.Folded[0].Deleting
			}
			want := &v1alpha1.AuditOrphaned{Names: 2}
			if jobs == nil {
				want = &v1alpha1.AuditOrphaned{Names: 3, Unknown: true}
			}
			if diff := cmp.Diff(want, orphaned) + cmp.Diff(wantDeleting, deleting); diff != "" {
				t.Errorf("%s, jobs %v (-want +got):\n%s", name, jobs, diff)
			}
		}
	}
}
