package follow

import (
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// Event is a report of Run: LogsBegin, Progress, Suspended, Deleting, Retry, Ended or Explained.
type Event interface{ event() }

// LogsBegin comes before the first line of the logs.
type LogsBegin struct {
	// Several reports that several containers can run.
	Several bool
	// Others are the first objects whose logs are not read, because their type is neither Job nor Pod.
	Others []wait.Object
}

// Progress comes every second, and before the last lines of the logs. Report is true every 30 seconds, for output
// without a terminal.
type Progress struct{ Report bool }

// Suspended reports that an unfinished object is suspended.
type Suspended struct{ Object wait.Object }

// Deleting reports that an unfinished object is being deleted.
type Deleting struct{ Object wait.Object }

// Retry reports that an object can't be read.
type Retry wait.Retry

// Ended is the result of the wait for one object.
type Ended wait.Ended

// Explained adds the reason to the end of an object that was no success. It comes after the last line of the logs. At
// most MaxExplained objects get it.
type Explained struct {
	wait.Ended
	// PodsRemain reports whether a Job or Pod that has failed has logs. Container is the init container that failed, or
	// empty. The other containers then have no logs.
	PodsRemain bool
	Container  string
	// Reason is the last known reason why a Pod of the object didn't run, or nil.
	Reason *pods.Reason
}

func (LogsBegin) event() {}
func (Progress) event()  {}
func (Suspended) event() {}
func (Deleting) event()  {}
func (Retry) event()     {}
func (Ended) event()     {}
func (Explained) event() {}

// State has the objects, and the ends that are known so far.
type State struct {
	// Objects are the objects to wait for.
	Objects []wait.Object
	// Began is zero if nothing was waited for.
	Began time.Time
	// Ended counts the objects whose wait has ended, and Suspended the others that are suspended.
	Ended     map[wait.Result]int
	Suspended int
	// Unsuccessful counts the objects that ended without success by themselves.
	Unsuccessful int
	// Running are the objects that had not ended when the wait ended.
	Running []wait.Ended
	// Reasons are why the Pods of unfinished objects don't run, or don't end.
	Reasons []pods.Reason
	// Facts is the number of unfinished objects that have a fact, and Fact is the first of them.
	Facts int
	Fact  wait.Change
	// Failures are objects that have failed, and whose Explained was not handled. Failed is true also after that.
	Failures []wait.Ended
	Failed   bool
	// Unread are the owners of logs that an interrupt has ended, although all objects have ended.
	Unread []pods.Owner
}

// Left is the number of objects that have not ended.
func (s State) Left() int {
	left := len(s.Objects) + s.Unfinished()
	for _, n := range s.Ended {
		left -= n
	}
	return left
}

// Unfinished is the number of objects that were still running at the end of the wait.
func (s State) Unfinished() int { return s.Ended[wait.OutOfTime] + s.Ended[wait.Interrupted] }

// Succeeded reports whether all objects have.
func (s State) Succeeded() bool { return s.Ended[wait.Succeeded] == len(s.Objects) }

// conclude records the end of an object that was unfinished at the end of the wait, because it was deleted or has
// finished since.
func (s *State) conclude(end wait.Ended) {
	uid := end.Object.UID
	s.Failed = s.Failed || end.Result == wait.Failed
	s.Running = slices.DeleteFunc(s.Running, func(e wait.Ended) bool {
		if e.Object.UID != uid {
			return false
		}
		s.Ended[e.Result]--
		s.Ended[end.Result]++
		if e.Status.Suspended {
			s.Suspended--
		}
		return true
	})
	s.Reasons = slices.DeleteFunc(slices.Clone(s.Reasons), func(r pods.Reason) bool { return r.Owner.UID == uid })
}
