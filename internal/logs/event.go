package logs

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/pods"
)

// Container is a container of a Pod.
type Container struct{ Namespace, Pod, Name string }

func (c Container) String() string { return fmt.Sprintf("pod/%s/%s", c.Pod, c.Name) }

// Event is a report of a follower: Gap, Restart, Waiters, LongLine, Failure, NoPods or Unlisted.
type Event interface{ event() }

// Gap reports that lines of a container might be missing. The missing lines were written after From. If To is not
// zero, they were written before To, and otherwise before the end of the container.
type Gap struct {
	Container Container
	From, To  time.Time
	Reason    string
}

// Restart reports that a container was restarted, and why it had ended.
type Restart struct {
	Container Container
	Ended     *corev1.ContainerStateTerminated // nil if unknown
}

// Waiters reports Pods whose logs have to wait for the end of other streams. A sidecar has the name of its Pod before
// it.
type Waiters struct{ Pods []string }

// LongLine reports that a line is passed on in parts.
type LongLine struct{ Container Container }

// NoPods reports Jobs that have ended and have no Pods, so their logs are not there.
type NoPods struct{ Jobs []pods.Owner }

// Unlisted reports that the Pods of a namespace could not be listed at the end. So some Pods might be missing.
type Unlisted struct {
	Namespace string
	Err       error
}

// Failure reports that a Pod has failed, with the last lines of its containers. Long lines are truncated.
type Failure struct {
	Pod  *corev1.Pod
	Tail map[string][]string // by container
}

func (Gap) event()      {}
func (Restart) event()  {}
func (Waiters) event()  {}
func (LongLine) event() {}
func (NoPods) event()   {}
func (Unlisted) event() {}
func (Failure) event()  {}
