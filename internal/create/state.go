package create

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
)

const (
	// MaxStates is the number of objects whose states are read.
	MaxStates = 20
	// statePatience is the time to read one state.
	statePatience = 5 * time.Second
)

// The states of objects that have not finished.
const (
	running   = "Running"
	suspended = "Suspended"
)

// takesState reports whether to read the state of the job's object: the object exists, its type has
// states, and fewer than MaxStates were read.
func (s *Session) takesState(j job) bool {
	kind := j.document.Object.GroupVersionKind().GroupKind()
	if !s.config.States || s.states == MaxStates || !finished.Knows(kind) || j.existing == nil {
		return false
	}
	s.states++
	return true
}

// stateOf returns the state of an object.
func stateOf(object *unstructured.Unstructured) string {
	switch status, _ := finished.Of(object); {
	case status.Done():
		return status.Word
	case status.Suspended:
		return suspended
	}
	return running
}
