package create

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// condition is the status of a Job with a condition.
func condition(kind string) map[string]any {
	return map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True"}}}}
}

// The wait for an object begins at the version of the object, unless the object was found with a state that no watch
// from that version on would report.
func TestAwait(t *testing.T) {
	for name, test := range map[string]struct {
		found map[string]any
		want  string
	}{
		"it runs": {condition("SuccessCriteriaMet"), "7"}, "it is suspended": {map[string]any{"spec": map[string]any{"suspend": true}}, ""},
		"it has succeeded": {condition("Complete"), ""}, "it has failed": {condition("Failed"), ""},
	} {
		r, _ := waitingFor()
		r.waiting.checks = newWaitChecks(nil, &r.flags)
		d := demo()
		d.Mapping = aJob("a").Mapping
		object := &unstructured.Unstructured{Object: test.found}
		object.SetGroupVersionKind(d.Mapping.GroupVersionKind)
		object.SetResourceVersion("7")
		r.await(create.Outcome{Document: d, Result: exactlyonce.Result{Object: object}})
		if got := r.waiting.objects; len(got) != 1 || got[0].Version != test.want {
			t.Errorf("%s: %+v, want the version %q", name, got, test.want)
		}
	}
}

// If a type has no status subresource, the server stores the status of the input. A status of a finished object would
// then be the result of the wait.
func TestFinishedInput(t *testing.T) {
	d := demo()
	d.Mapping = aJob("a").Mapping
	d.Object.SetGroupVersionKind(d.Mapping.GroupVersionKind)
	for _, subresource := range []bool{true, false} {
		for _, ended := range []bool{true, false} {
			checks := newWaitChecks(nil, &ownCreateFlags{})
			checks.status[d.Mapping.Resource] = subresource
			for _, verb := range []string{"list", "watch"} {
				checks.allowed[request{verb, d.Mapping.Resource, d.Namespace}] = true
			}
			delete(d.Object.Object, "status")
			if ended {
				d.Object.Object["status"] = condition("Complete")["status"]
			}
			if err := checks.check(t.Context(), d); (err != nil) != (ended && !subresource) {
				t.Errorf("with a subresource %t, with the end %t: %v", subresource, ended, err)
			}
		}
	}
}
