package create

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// The wait for an object begins at the version of the object, unless the object was found with a state that no watch
// from that version on would report.
func TestAwait(t *testing.T) {
	condition := func(kind string) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True"}}}}
	}
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
