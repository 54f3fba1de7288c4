package follow

import (
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// Event is an event of Run: LogsBegin, Progress, Suspended, Deleting, Retry, Ended or Explained.
type Event interface{ event() }

// LogsBegin precedes the first line of the logs.
type LogsBegin struct {
	// Several is true if several containers can run.
	Several bool
	// Others are the first objects whose logs Run doesn't read, because they are neither Jobs nor Pods.
	Others []wait.Object
}

// Progress is yielded by Run every second, and before the last lines of the logs. Report is true every 30 seconds, for
// output without a terminal.
type Progress struct{ Report bool }

// Suspended reports that an unfinished object is suspended.
type Suspended struct{ Object wait.Object }

// Deleting reports that an unfinished object is being deleted.
type Deleting struct{ Object wait.Object }

// Retry reports that Run can't read an object.
type Retry wait.Retry

// Ended is the result of the wait for one object.
type Ended wait.Ended

// Explained is the event wait.Ended of an object that didn't succeed, and the reason. Run yields it after the last line
// of the object's logs, for at most MaxExplained objects.
type Explained struct {
	wait.Ended
	// PodsRemain reports whether a failed Job or Pod still has logs. Container is the init container that failed, or
	// empty. If it is set, the other containers have no logs.
	PodsRemain bool
	Container  string
	// Reason is the last known reason why a Pod of the object didn't run, or nil if unknown.
	Reason *pods.Reason
}

func (LogsBegin) event() {}
func (Progress) event()  {}
func (Suspended) event() {}
func (Deleting) event()  {}
func (Retry) event()     {}
func (Ended) event()     {}
func (Explained) event() {}

// State has the objects of a run and the results that are known so far.
type State struct {
	// Objects are the objects to wait for.
	Objects []wait.Object
	// Began is zero if Run waited for nothing.
	Began time.Time
	// Ended counts the objects whose wait has ended, by result. Suspended counts the suspended objects.
	Ended     map[wait.Result]int
	Suspended int
	// Unsuccessful counts the objects that ended by themselves, but didn't succeed.
	Unsuccessful int
	// Running has the objects that had not ended when the wait ended.
	Running []wait.Ended
	// Reasons has the reasons why Pods of unfinished objects don't run or don't end.
	Reasons []pods.Reason
	// Facts is the number of unfinished objects with a fact about their progress. Fact is the first of these facts.
	Facts int
	Fact  wait.Change
	// Failures are failed objects whose Explained the caller has not handled. Failed stays true after that.
	Failures []wait.Ended
	Failed   bool
	// Unread are the owners of logs that Run could not read to the end because of an interrupt, although all objects
	// had ended.
	Unread []pods.Owner
}

// Left returns the number of objects that have not ended.
func (s State) Left() int {
	left := len(s.Objects) + s.Unfinished()
	for _, n := range s.Ended {
		left -= n
	}
	return left
}

// Unfinished returns the number of objects that had not ended when the wait ended.
func (s State) Unfinished() int { return s.Ended[wait.OutOfTime] + s.Ended[wait.Interrupted] }

// Succeeded reports whether all objects have succeeded.
func (s State) Succeeded() bool { return s.Ended[wait.Succeeded] == len(s.Objects) }

// conclude records that an object which was unfinished when the wait ended was deleted or has finished since then.
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
