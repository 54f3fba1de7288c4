package follow

import (
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

// Progress comes every second. Report is true every 30 seconds, for output without a terminal.
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
	// PodsRemain reports whether a Job that has failed has Pods with logs.
	PodsRemain bool
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
