package finished

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Progress explains why an object has not finished.
type Progress struct {
	// Reason and Message are the newest fact. Both texts come from the cluster, and can be empty. They are empty for a
	// Pod, because package pods finds more precise reasons.
	Reason, Message string
	// Decision is the controller's decided result, or zero. Parts of the object can still run.
	Decision Status
	// Deleting is true if the object is being deleted. Stopped is true if its controller then no longer changes it.
	Deleting, Stopped bool
}

// ProgressOf returns the progress of an object that has not finished. The object can be of any kind.
func ProgressOf(object *unstructured.Unstructured) (p Progress) {
	kind := object.GroupVersionKind().GroupKind()
	k := table[kind]
	p.Deleting = object.GetDeletionTimestamp() != nil
	p.Stopped = p.Deleting && k.stops != nil && k.stops(object.Object)
	if kind == podKind {
		return p
	}
	var condition map[string]any
	if condition, p.Decision = k.decision(object); condition == nil {
		condition = newest(object, k.decided != "")
	}
	beside := k.beside(object.Object)
	switch {
	case p.Deleting && p.Decision.State == "":
		p.Reason = "being deleted"
		if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
			p.Message = "held by the finalizer " + strings.Join(finalizers, ", ")
		}
	case beside.Message != "":
		p.Reason, p.Message = beside.Reason, beside.Message
	case condition != nil:
		p.Reason, p.Message = text(condition, "reason"), text(condition, "message")
		if of := text(condition, "type"); text(condition, "status") == "True" && p.Reason != of {
			p.Reason = strings.TrimSuffix(fmt.Sprintf("%s (%s)", of, p.Reason), " ()")
		}
	}
	return p
}

// decision returns the condition that shows the result before the object has ended, and this result.
func (k kind) decision(object *unstructured.Unstructured) (condition map[string]any, result Status) {
	for _, c := range conditions(object) {
		if k.decided != "" && text(c, "type") == k.decided && text(c, "status") == "True" {
			return c, Status{State: Failed, Word: k.decided, Reason: text(c, "reason"), Message: text(c, "message")}
		}
	}
	return nil, Status{}
}

// newest returns the condition with a reason or message that changed last. It returns nil if there is none.
func newest(object *unstructured.Unstructured, onlyTrue bool) (latest map[string]any) {
	var at time.Time
	for _, c := range conditions(object) {
		switch when := timeIn(c, "lastTransitionTime"); {
		case text(c, "reason")+text(c, "message") == "", text(c, "type") == "Suspended":
		case onlyTrue && text(c, "status") != "True":
		case latest == nil, !when.Before(at):
			latest, at = c, when
		}
	}
	return latest
}

// beside returns the reason and message from the fields next to the phase of a running object.
func (k kind) beside(object map[string]any) (s Status) {
	if k.phase == nil {
		return s
	}
	parent := k.phase[:len(k.phase)-1]
	s.Message = text(object, join(parent, cmp.Or(k.message, "message"))...)
	s.Reason = cmp.Or(text(object, join(parent, "reason")...), text(object, k.phase...))
	return s
}

// jobStops reports whether a Job that is being deleted never changes again. The controller creates no more Pods for the
// Job, so its result can only change if some of its Pods have not ended or are not counted yet.
func jobStops(job map[string]any) bool {
	for _, field := range []string{"active", "terminating"} {
		if n, _, _ := unstructured.NestedInt64(job, "status", field); n > 0 {
			return false
		}
	}
	for _, field := range []string{"succeeded", "failed"} {
		pods, _, _ := unstructured.NestedSlice(job, "status", "uncountedTerminatedPods", field)
		if len(pods) > 0 {
			return false
		}
	}
	for _, c := range conditions(&unstructured.Unstructured{Object: job}) {
		if of := text(c, "type"); of == "FailureTarget" || of == "SuccessCriteriaMet" {
			return false
		}
	}
	return true
}
