// Package finished decides from an object's status whether the object has finished. The package has a table of the
// statuses that controllers write, by group and kind. The package sends no requests and keeps no objects.
package finished

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is the progress of an object.
type State string

// Running is the only state that isn't final. The controllers in the table never change an object in another state.
const (
	Running   State = "running" // also not started yet, or suspended
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Ended     State = "ended" // the status doesn't show with which result
)

// Status is the progress of an object, and the reason for its end.
type Status struct {
	State State
	// Word is the word that the controller uses for the end, such as Complete, Succeeded or Error. Word is empty for a
	// running object.
	Word string
	// Reason and Message are the texts of the condition or phase that shows the end. Both texts come from the cluster,
	// and can be empty.
	Reason, Message string
	// Ended is the time when the object finished. Ended is zero if the object doesn't show this time.
	Ended time.Time
	// Suspended is true if a running object waits until a user resumes it.
	Suspended bool
}

// Done reports whether the object has finished.
func (s Status) Done() bool { return s.State != "" && s.State != Running }

// Class describes whether objects of a resource type run, and whether their status shows the end.
type Class int

// The classes.
const (
	Unknown  Class = iota // objects of the type can run, but their status doesn't show the end
	Finishes              // the status shows whether an object has finished
	Inert                 // objects of the type don't run
)

// ClassOfResource returns the class of a resource, such as jobs.batch. It needs no discovery, because all kinds in the
// table have a regular plural.
func ClassOfResource(resource schema.GroupResource) Class { return classes[resource] }

// outlasting are inert types whose objects can become useless. Objects of other inert types have an effect, or hold
// data, as long as they exist, such as RoleBindings and PersistentVolumeClaims.
var outlasting = []string{"certificatesigningrequests.certificates.k8s.io", "configmaps", "secrets", "serviceaccounts"}

// Outlives reports whether objects of a resource can stay after their use, so that a user deletes old objects.
func Outlives(resource schema.GroupResource) bool {
	return ClassOfResource(resource) == Finishes || slices.Contains(outlasting, resource.String())
}

var classes = func() map[schema.GroupResource]Class {
	all := map[schema.GroupResource]Class{}
	for kind := range table {
		all[resourceOf(kind)] = Finishes
	}
	for kind := range inert {
		all[resourceOf(kind)] = Inert
	}
	return all
}()

func resourceOf(kind schema.GroupKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind.WithVersion(""))
	return plural.GroupResource()
}

// Knows reports whether the table has a kind.
func Knows(kind schema.GroupKind) bool {
	_, known := table[kind]
	return known
}

// Kinds returns the sorted kinds of the table as kubectl names them, such as TaskRun.tekton.dev.
func Kinds() []string {
	var all []string
	for kind := range table {
		all = append(all, kind.String())
	}
	slices.Sort(all)
	return all
}

// ShowsResult reports whether the status of a finished object shows success or failure.
func ShowsResult(kind schema.GroupKind) bool {
	of := table[kind]
	return slices.Contains(slices.Collect(maps.Values(of.phases)), Succeeded) || len(of.conditions) > 0
}

// SuspendField returns the path of the field that suspends objects of a kind. The result is nil if there is none.
func SuspendField(kind schema.GroupKind) []string { return table[kind].suspend }

// Of returns the status of an object. The second result reports whether the table has the object's kind.
func Of(object *unstructured.Unstructured) (Status, bool) {
	kind, known := table[object.GroupVersionKind().GroupKind()]
	if !known {
		return Status{}, false
	}
	if kind.phases != nil {
		return kind.byPhase(object), true
	}
	return kind.byCondition(object), true
}

// byPhase returns the status from the phase, and from the reason and message next to the phase.
func (k kind) byPhase(object *unstructured.Unstructured) Status {
	phase, parent := text(object.Object, k.phase...), k.phase[:len(k.phase)-1]
	detail := text(object.Object, "status", k.detail)
	state, ended := k.phases[phase+" "+detail]
	if ended {
		phase = cmp.Or(detail, phase)
	} else {
		state, ended = k.phases[phase]
	}
	if !ended {
		s := k.running(object)
		s.Suspended = s.Suspended || k.suspended != "" && phase == k.suspended
		return s
	}
	beside := func(field string) string { return text(object.Object, join(parent, field)...) }
	return Status{
		State: state, Word: phase, Reason: beside("reason"), Message: beside(cmp.Or(k.message, "message")),
		Ended: k.ended(object.Object),
	}
}

// byCondition returns the status from status.conditions.
func (k kind) byCondition(object *unstructured.Unstructured) Status {
	for _, condition := range conditions(object) {
		i := slices.IndexFunc(k.conditions, func(e end) bool { return e.shows(condition) })
		at := k.ended(object.Object)
		if i >= 0 && (!k.conditions[i].timed || !at.IsZero()) {
			return Status{
				State: k.conditions[i].state, Word: cmp.Or(k.conditions[i].word, text(condition, "type")),
				Reason: text(condition, "reason"), Message: text(condition, "message"),
				Ended: cmp.Or(at, timeIn(condition, "lastTransitionTime")),
			}
		}
	}
	return k.running(object)
}

func (e end) shows(condition map[string]any) bool {
	return e.condition == text(condition, "type") && e.status == text(condition, "status") &&
		(e.reason == "" || e.reason == text(condition, "reason")) &&
		(e.message == "" || e.message == text(condition, "message"))
}

// ended returns the time when an object finished, if the kind has a field for this time.
func (k kind) ended(object map[string]any) time.Time {
	if k.end == nil {
		return time.Time{}
	}
	return k.end(object)
}

// running returns the status of an object that has not finished.
func (k kind) running(object *unstructured.Unstructured) Status {
	s := Status{State: Running}
	if k.suspend != nil {
		s.Suspended, _, _ = unstructured.NestedBool(object.Object, k.suspend...)
	}
	return s
}

// endOfPod returns when a Pod finished, but never a time before its creation, because a node's clock can be wrong.
func endOfPod(pod map[string]any) time.Time {
	last := lastTermination(pod)
	if last.IsZero() {
		return last
	}
	return later(last, timeIn(pod, "metadata", "creationTimestamp"))
}

// lastTermination returns the time when the last container of a Pod terminated. The time is zero if one of the
// containers has none, because it never started, or its node was lost.
func lastTermination(pod map[string]any) (last time.Time) {
	for _, status := range entries(pod, "containerStatuses") {
		at := timeIn(status, "state", "terminated", "finishedAt")
		if at.IsZero() {
			return initFailure(pod)
		}
		last = later(last, at)
	}
	return last
}

// initFailure returns the time when an init container failed, if no container could start because of this failure.
func initFailure(pod map[string]any) (last time.Time) {
	for _, status := range entries(pod, "containerStatuses") {
		if text(status, "state", "waiting", "reason") != "PodInitializing" {
			return time.Time{}
		}
	}
	for _, status := range entries(pod, "initContainerStatuses") {
		code, _, _ := unstructured.NestedInt64(status, "state", "terminated", "exitCode")
		if code != 0 {
			last = later(last, timeIn(status, "state", "terminated", "finishedAt"))
		}
	}
	return last
}

func conditions(object *unstructured.Unstructured) []map[string]any {
	return entries(object.Object, "conditions")
}

// entries returns the items of a list in the status.
func entries(object map[string]any, field string) (all []map[string]any) {
	list, _, _ := unstructured.NestedSlice(object, "status", field)
	for _, raw := range list {
		entry, _ := raw.(map[string]any)
		all = append(all, entry)
	}
	return all
}

func join(parent []string, field string) []string { return append(slices.Clone(parent), field) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func timeAt(path ...string) func(map[string]any) time.Time {
	return func(object map[string]any) time.Time { return timeIn(object, path...) }
}

// timeIn returns the time of a field, or the zero time if there is none.
func timeIn(object map[string]any, path ...string) time.Time {
	at, err := time.Parse(time.RFC3339, text(object, path...))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

func text(object map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedString(object, path...)
	return value
}
