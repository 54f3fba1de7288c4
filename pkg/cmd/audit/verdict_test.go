package audit

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// withVerdict returns a report with a verdict, of a server that tries eight names.
func withVerdict(v v1alpha1.AuditVerdict) *v1alpha1.AuditReport {
	eight := 8
	return &v1alpha1.AuditReport{
		Server:  v1alpha1.AuditServer{GitVersion: "v1.34.4", Retries: v1alpha1.Retries{Attempts: &eight}},
		Summary: v1alpha1.AuditSummary{ResourceTypes: 1}, Scope: v1alpha1.AuditScope{Resources: []string{"jobs.batch"}},
		Verdict: &v,
	}
}

// The verdict has at most five lines: one on the gate, one on the prefixes with the most creates, and one on whether a
// create is close to failing, the last two with a command. Before them is a line on the types that could not be read.
// If a gate is exceeded or a prefix grows, no line claims that creates don't fail.
func TestVerdictLines(t *testing.T) {
	fine := v1alpha1.AuditClosest{PrefixRef: v1alpha1.PrefixRef{Resource: "configmaps", Namespace: "default", Prefix: "build-"}, Names: 3000, Attempts: 8, Room: 1_359_494}
	most := []v1alpha1.AuditMostCreated{
		{PrefixRef: v1alpha1.PrefixRef{Resource: "configmaps", Namespace: "pay", Prefix: "session-$(x)-"}, Last10m: 1502, Creator: &v1alpha1.Creator{Manager: "leaky"}},
		{PrefixRef: v1alpha1.PrefixRef{Resource: "pods", Namespace: "batch"}, OwnerKind: "Job", Last10m: 404, Creator: &v1alpha1.Creator{Manager: "kube-controller-manager"}},
		{PrefixRef: v1alpha1.PrefixRef{Resource: "clusterroles", Group: "rbac.authorization.k8s.io", Prefix: "evil\x1b-"}, Last10m: 100},
	}
	one := fine
	one.Attempts, one.Room = 1, 160
	soon, now := one, one
	soon.FailsInDays, now.NextCreate = new(12.0), 0.25
	day := []v1alpha1.AuditMostCreated{{PrefixRef: fine.PrefixRef, Names: 1500, Last24h: 1500, Creator: &v1alpha1.Creator{Manager: "leaky"}}}
	gated := func(v v1alpha1.AuditVerdict, prefixes int64) *v1alpha1.AuditReport {
		report := withVerdict(v)
		report.Gate = &v1alpha1.AuditGate{FailAboveCount: new(int64(5)), ExceededCount: prefixes, Exceeded: []v1alpha1.AuditExceeded{
			{Resource: "configmaps", Namespace: "default", Prefix: "build-", Names: 3000},
		}}
		return report
	}
	partly := withVerdict(v1alpha1.AuditVerdict{})
	partly.Scope.Resources = []string{"a", "b"}
	for name, test := range map[string]struct {
		report *v1alpha1.AuditReport
		want   []string
	}{
		"nothing": {withVerdict(v1alpha1.AuditVerdict{}), []string{"No create is close to failing."}},
		"a watch": {&v1alpha1.AuditReport{}, nil},
		"a part":  {partly, []string{"Only 1 of 2 types could be read.", "No create is close to failing."}},
		"other attempts": {withVerdict(v1alpha1.AuditVerdict{Closest: &one, AttemptsUnknown: []string{"widgets.example.dev"}}), []string{
			"No create is close to failing. " +
				"This assumes one attempt for 1 resource type with unknown attempts.",
		}},
		"several": {withVerdict(v1alpha1.AuditVerdict{Closest: &now, CloseToFailing: 2}), []string{
			"2 prefixes are close to failing. The closest is configmaps/build- in default (3,000 names, 1 attempt, the next create fails with a chance of 25%).",
			"  kubectl genname audit configmaps/build- -n default",
		}},
		"created": {withVerdict(v1alpha1.AuditVerdict{Closest: &fine, MostCreated: most, MostCreatedCount: 5}), []string{
			"Most created: 1,502 configmaps/session-$(x)- in pay by leaky (last 10 minutes); 404 pods of Jobs in batch by kube-controller-manager (last 10 minutes); " +
				`100 clusterroles.rbac.authorization.k8s.io/evil\u001b- (last 10 minutes); and 2 other rows.`,
			"  kubectl genname audit 'configmaps/session-$(x)-' -n pay --watch",
		}},
		"a day": {withVerdict(v1alpha1.AuditVerdict{Closest: &one, MostCreated: day, MostCreatedCount: 1}), []string{
			"Most created: 1,500 configmaps/build- in default by leaky (last 24 hours).",
			"  kubectl genname audit configmaps/build- -n default",
		}},
		"a gate": {gated(v1alpha1.AuditVerdict{Closest: &fine}, 1), []string{
			"Above the gate: configmaps/build- in default (3,000 names).",
		}},
		"a gate, growth, and a failure": {gated(v1alpha1.AuditVerdict{Closest: &now, CloseToFailing: 1, MostCreated: day, MostCreatedCount: 1}, 3), []string{
			"Above the gate: 3 prefixes. The worst is configmaps/build- in default (3,000 names).",
			"Most created: 1,500 configmaps/build- in default by leaky (last 24 hours).",
			"  kubectl genname audit configmaps/build- -n default",
			"1 prefix is close to failing: configmaps/build- in default (3,000 names, 1 attempt, the next create fails with a chance of 25%).",
			"  kubectl genname audit configmaps/build- -n default",
		}},
	} {
		if diff := cmp.Diff(test.want, verdictLines(test.report)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// recorded returns a record of an item of a report.
func recorded(t *testing.T, report *v1alpha1.AuditReport, change func(*v1alpha1.AuditItem)) string {
	t.Helper()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: at.Add(-d)} }
	eight := 8
	item := v1alpha1.AuditItem{
		PrefixRef: v1alpha1.PrefixRef{Resource: "configmaps", Namespace: "pay", Prefix: "session-"}, Names: 1240, Generated: 1240, RawPrefixes: 1,
		Last10m: new(int64(502)), Last24h: new(int64(1240)), Oldest: ago(26 * time.Hour), Newest: ago(3 * time.Second),
		Creators: []v1alpha1.Creator{{Manager: "leaky"}}, CreatorCount: 1,
		Retries: v1alpha1.Retries{Attempts: &eight}, Room: v1alpha1.AuditRoom{ServerRetry: new(int64(1_359_494)), NoRetry: new(int64(3))},
	}
	change(&item)
	report.Metadata.CreationTimestamp, report.Items = metav1.Time{Time: at}, []v1alpha1.AuditItem{item}
	var out bytes.Buffer
	if err := printRecord(&out, report, terminal.NewStderr(nil)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// prune is suggested only where it deletes something.
func TestNextSteps(t *testing.T) {
	closest := &v1alpha1.AuditClosest{FailsInDays: new(12.0)}
	for name, test := range map[string]struct {
		verdict v1alpha1.AuditVerdict
		change  func(*v1alpha1.AuditItem)
		want    []string // in this order
		not     string
	}{
		"old ones": {
			v1alpha1.AuditVerdict{},
			func(i *v1alpha1.AuditItem) { i.Last24h = new(int64(3)) },
			[]string{"No problem: no create is close to failing.", "--watch", "prune configmaps/session- -n pay --older-than 24h"},
			"kubectl get",
		},
		"a controller": {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) {
			i.Group, i.Resource, i.Creators = "batch", "jobs", []v1alpha1.Creator{{Group: "batch", Kind: "CronJob", Name: "nightly"}}
		}, []string{"Creator:   CronJob/nightly", "if its Jobs hang. Otherwise objects pile up again after prune.", "kubectl get cronjob.batch/nightly -n pay"}, "genname prune"},
		"truncated": {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) {
			i.RawPrefixes, i.Notes = 2, []string{"truncated: shared by …a-, …b-", "strains etcd"}
		}, []string{"Note:      truncated: shared by …a-, …b-\nNote:      strains etcd"}, "prune"},
		"a Service": {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.Resource = "services" }, []string{"--watch"}, "prune"},
		"running":   {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.Group, i.Resource = "kubeflow.org", "tfjobs" }, []string{"prune tfjobs.kubeflow.org/"}, ""},
		"clients":   {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.ClientGenerated = true }, nil, "prune"},
		"fixed":     {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.Naming, i.Generated = v1alpha1.NamingNone, 0 }, nil, "Attempts"},
		"unknown":   {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.Attempts = nil }, []string{"unknown, so the room and the verdict assume 1 per create"}, "(this server"},
		"one":       {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.Attempts = new(1) }, []string{"1 per create (the client, or --server-attempts)"}, "(this server"},
		"close":     {v1alpha1.AuditVerdict{CloseToFailing: 1, Closest: closest}, func(*v1alpha1.AuditItem) {}, []string{"Close to failing: expected in about 12d at the pace of the last 24 hours."}, ""},
		"failing":   {v1alpha1.AuditVerdict{CloseToFailing: 1, Closest: &v1alpha1.AuditClosest{NextCreate: 0.5}}, func(*v1alpha1.AuditItem) {}, []string{"Close to failing: the next create fails with a chance of 50%."}, ""},
		"no longer": {v1alpha1.AuditVerdict{}, func(i *v1alpha1.AuditItem) { i.Oldest, i.Newest = nil, nil }, []string{"oldest ? ago"}, ""},
	} {
		rest := recorded(t, withVerdict(test.verdict), test.change)
		if test.not != "" && strings.Contains(rest, test.not) {
			t.Errorf("%s: %s in\n%s", name, test.not, rest)
		}
		for _, want := range test.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s: no %q in\n%s", name, want, rest)
			}
			rest = after
		}
	}
}
