package follow

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// JobKind and PodKind are the kinds for which a run follows Pods.
var (
	JobKind = schema.GroupKind{Group: "batch", Kind: "Job"}
	PodKind = schema.GroupKind{Kind: "Pod"}
)

func hasPods(kind schema.GroupKind) bool { return kind == JobKind || kind == PodKind }

func isJob(o wait.Object) bool { return o.Mapping.GroupVersionKind.GroupKind() == JobKind }

// owned has the Pods of a run's objects.
type owned struct {
	owners  []pods.Owner
	several bool          // several containers can run
	others  []wait.Object // the first objects of other kinds
}

// add adds an object. The input shows how many containers the object can have.
func (p *owned) add(o wait.Object, input *unstructured.Unstructured) {
	if !hasPods(o.Mapping.GroupVersionKind.GroupKind()) {
		if len(p.others) < MaxExplained {
			p.others = append(p.others, o)
		}
		return
	}
	owner := pods.Owner{Namespace: o.Namespace, Name: o.Name, UID: o.UID, Job: isJob(o)}
	spec := []string{"spec"}
	if owner.Job {
		spec = []string{"spec", "template", "spec"}
		for _, field := range []string{"parallelism", "completions"} {
			n, _, _ := unstructured.NestedInt64(input.Object, "spec", field)
			p.several = p.several || n > 1
		}
		owner.Selector = manualSelector(input)
	}
	containers, _, _ := unstructured.NestedSlice(input.Object, append(spec, "containers")...)
	inits, _, _ := unstructured.NestedSlice(input.Object, append(spec, "initContainers")...)
	p.owners = append(p.owners, owner)
	p.several = p.several || len(p.owners) > 1 || len(containers)+len(inits) > 1
}

func (p *owned) owner(uid apitypes.UID) (owner pods.Owner) {
	for _, o := range p.owners {
		if o.UID == uid {
			return o
		}
	}
	return owner
}

// manualSelector returns the selector of a Job that sets its own. The Pods of such a Job don't have the Job's label.
func manualSelector(object *unstructured.Unstructured) string {
	if manual, _, _ := unstructured.NestedBool(object.Object, "spec", "manualSelector"); !manual {
		return ""
	}
	var job batchv1.Job
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &job)
	if err != nil {
		return ""
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return ""
	}
	return selector.String()
}
