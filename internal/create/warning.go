package create

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Warning is an event that the user should know about, although nothing failed. A warning can repeat.
type Warning struct{ Text string }

func warning(format string, args ...any) Warning { return Warning{fmt.Sprintf(format, args...)} }

func (s *Session) warn(format string, args ...any) { s.emit(warning(format, args...)) }

func (w *worker) warn(format string, args ...any) { w.reports <- warning(format, args...) }

// textLostResponse is the end of several warnings.
const textLostResponse = "If a response is lost, the plugin can't find out whether the object was created."

// NoClientNamingError reports that a document can't be created with a key, and the reason as a part of a sentence.
type NoClientNamingError struct {
	Resource       schema.GroupResource
	Reason, Source string
}

func (e *NoClientNamingError) Error() string {
	return fmt.Sprintf("the plugin can't pick names of %s, because %s", e.Resource, e.Reason)
}

// reviewTimeout is how long a finished run waits for permission reviews.
const reviewTimeout = time.Second

// permission is the state of the permission review at one place.
type permission struct {
	asked      bool
	unreadable bool // the user can't get objects
	taken      bool // an object was not refused, so the permission to get objects matters
}

// review checks whether the user can get objects, once for each place and in parallel to the first create. Without
// this check, the user would learn of a missing permission only after a lost response. A failed review is not
// reported. Objects that are not sent or never read need no review.
func (s *Session) review(j job) {
	at := j.task.place
	if at.permission.asked || s.config.DryRun != NoDryRun || j.id.String() == "" || j.existing != nil {
		return
	}
	at.permission.asked = true
	s.reviews++
	go func() {
		s.scheduler.reports <- reviewed{at, s.client.May(s.ctx, "get", at.in.Resource, at.Namespace)}
	}()
}

// notRefused records that the server does not refuse all objects of the place.
func (s *Session) notRefused(at *place) {
	at.permission.taken = true
	s.warnOfNoGet(at)
}

// warnOfNoGet warns, once, of a place where the user can create objects but can't get them.
func (s *Session) warnOfNoGet(at *place) {
	if p := &at.permission; p.taken && p.unreadable {
		p.unreadable = false
		s.warn("no permission to get %s. "+textLostResponse, at.Place)
	}
}

// endReviews waits for the reviews in progress. After reviewTimeout it cancels them.
func (s *Session) endReviews() {
	over := time.After(reviewTimeout)
	for s.reviews > 0 {
		select {
		case t := <-s.scheduler.reports:
			s.take(t)
		case <-over:
			s.stop()
		}
	}
}
