package prune

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// labelsOf returns the labels of a Pod that a Job created.
func labelsOf(name, uid string) string {
	return fmt.Sprintf(`{"job-name":%q,"controller-uid":%q}`, name, uid)
}

func listOf(items ...string) string {
	return `{"kind":"List","metadata":{"resourceVersion":"7"},"items":[` + strings.Join(items, ",") + `]}`
}

// The plan contains the Pods that have no controller and whose Job doesn't exist. A new Job with the same name has
// another UID.
func TestOrphanedPods(t *testing.T) {
	pod := func(name, labels, more string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":%q,"creationTimestamp":"2026-11-01T00:00:00Z",`+
			`"labels":%s%s},"status":{"phase":"Succeeded"}}`, name, name, labels, more)
	}
	owned := `,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"gone","uid":"u","controller":true}]`
	pods := []string{
		pod("gone-bbbbb", labelsOf("gone", "u1"), ""),
		pod("again-bbbbb", labelsOf("again", "old"), ""),
		pod("held-bbbbb", labelsOf("gone", "u1"), `,"deletionTimestamp":"2026-11-02T00:00:00Z"`),
		pod("there-bbbbb", labelsOf("there", "u2"), ""),
		pod("owned-bbbbb", labelsOf("gone", "u1"), owned),
		pod("alone-bbbbb", `{"app":"x"}`, ""),
		pod("half-bbbbb", `{"job-name":"gone"}`, ""),
	}
	lists := map[string]string{
		"/api/v1/pods": listOf(pods...),
		"/apis/batch/v1/jobs": listOf(`{"metadata":{"name":"there","namespace":"ns","uid":"u2"}}`,
			`{"metadata":{"name":"again","namespace":"ns","uid":"new"}}`),
	}
	p := using(t, lists, Criteria{Orphaned: true})
	plan, err := p.Plan(t.Context(), []Target{{Resource: census.Pods}}, nil)
	if err != nil || len(plan.Pools) != 1 {
		t.Fatalf("%+v, want 1 pool: %v", plan, err)
	}
	var got []string
	for o := range plan.Objects() {
		got = append(got, o.Name)
	}
	if diff := cmp.Diff([]string{"again-bbbbb", "gone-bbbbb"}, got); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
	want := map[v1alpha1.PruneReason]int64{v1alpha1.PruneNotOrphaned: 1, v1alpha1.PruneBeingDeleted: 1}
	if diff := cmp.Diff(want, plan.Pools[0].Left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	lists["/apis/batch/v1/jobs"] = "Forbidden"
	if _, err := using(t, lists, Criteria{Orphaned: true}).Plan(t.Context(), []Target{{Resource: census.Pods}}, nil); err == nil {
		t.Error("a plan without a list of Jobs, want an error")
	}
}

// Before each DELETE of an orphaned Pod, prune sends a GET of its Job.
func TestDeleteOfAnOrphan(t *testing.T) {
	noJob := status(404, "NotFound", `"name":"j"`)
	job := func(uid string) func(http.ResponseWriter) {
		return respond(200, `{"kind":"Job","metadata":{"name":"j","uid":"`+uid+`"}}`)
	}
	pod := func(labels, more string) func(http.ResponseWriter) {
		return respond(200, `{"kind":"Pod","metadata":{"name":"run-bbbbb","uid":"u1","resourceVersion":"8",`+
			`"creationTimestamp":"2026-11-22T10:00:00Z","labels":`+labels+more+`}}`)
	}
	adopted := `,"ownerReferences":[{"kind":"Job","name":"j","uid":"j1","controller":true}]`
	rules, err := newRules(Target{Resource: census.Pods}, Criteria{Orphaned: true, Running: true})
	if err != nil {
		t.Fatal(err)
	}
	orphan := Object{
		Pool: &Pool{Resource: census.Pods, Namespace: "ns", rules: rules}, Name: "run-bbbbb", UID: "u1", ResourceVersion: "7",
		job: &object.JobRef{Name: "j", UID: "j1"}, Running: true,
	}
	for name, test := range map[string]exchange{
		"no Job":                {handlers{success}, handlers{noJob}, Deleted, "", "GET DELETE"},
		"another Job":           {handlers{success}, handlers{job("j2")}, Deleted, "", "GET DELETE"},
		"the Job exists":        {nil, handlers{job("j1")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET"},
		"no permission":         {nil, handlers{status(403, "Forbidden", `"name":"j"`)}, Failed, "", "GET"},
		"a 404 of a proxy":      {handlers{success}, handlers{respond(404, "not here"), noJob}, Deleted, "", "GET GET DELETE"},
		"adopted after a 409":   {handlers{conflict}, handlers{noJob, pod(labelsOf("j", "j1"), adopted)}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET"},
		"a Job after a 409":     {handlers{conflict}, handlers{noJob, pod(labelsOf("j", "j1"), ""), job("j1")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET GET"},
		"a lost response":       {handlers{nil, success}, handlers{noJob, pod(labelsOf("j", "j1"), ""), noJob}, Deleted, "", "GET DELETE GET GET DELETE"},
		"other labels by now":   {handlers{conflict}, handlers{noJob, pod(`{}`, "")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET"},
		"another Job in labels": {handlers{conflict}, handlers{noJob, pod(labelsOf("j", "j2"), ""), job("j2")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET GET"},
	} {
		t.Run(name, func(t *testing.T) { test.run(t, orphan) })
	}
}
