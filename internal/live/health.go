package live

import (
	"errors"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// state is the way in which the counts of a type are kept up to date.
type state int

const (
	uncounted state = iota // never listed, or skipped
	quiet                  // without prefixes: each round requests its number of objects
	watched
	unwatched // can't be watched, and is listed at each interval
	gone      // the server no longer has it; each round requests its number of objects
)

// behindAfter is the time after which a type with a broken watch is reported as not up to date.
const behindAfter = 5 * time.Second

// health has the state of a type, and the reason why it is not up to date.
type health struct {
	state   state
	rests   time.Time        // before this time, no number of objects causes a list
	skipped []census.Skipped // parts of the type that could not be read: the whole type, or namespaces
	behind  time.Time        // time since which the type is not watched, or zero
	cause   error            // reason why it is not watched
	// restarts is the number of watches that failed.
	restarts int64
	// unverified is the reason why Verify could not verify the type.
	unverified *census.Skipped
}

// isSkipped reports whether a type was skipped for one of these reasons.
func (s *health) isSkipped(reasons ...census.Reason) bool {
	return slices.ContainsFunc(s.skipped, func(s census.Skipped) bool { return slices.Contains(reasons, s.Reason) })
}

// isBehind reports whether a type is not up to date. A quiet type is behind after one request without a
// response, because the engine rarely requests its number of objects.
func (s *health) isBehind() bool {
	switch s.state {
	case watched:
		return s.cause != nil && time.Since(s.behind) > behindAfter
	case quiet:
		return s.cause != nil
	default:
		return false
	}
}

// isLost reports whether the server has lost the type since the last call of leaveIfGone.
func (s *health) isLost() bool { return s.state != gone && s.isSkipped(census.NotFound) }

// fallBehind records that a watch failed with err. fallBehind does nothing if err is nil.
func (s *health) fallBehind(err error) {
	if err == nil {
		return
	}
	s.restarts++
	s.cause = err // the latest cause, because a permission might be gone after the server is back
	if s.behind.IsZero() {
		s.behind = time.Now()
	}
}

// catchUp records that a watch is open.
func (s *health) catchUp() { s.behind, s.cause = time.Time{}, nil }

// fail records that a list failed, and its duration.
func (s *health) fail(skipped []census.Skipped, took time.Duration) {
	s.skipped, s.rests = skipped, time.Now().Add(listPauses*took)
}

// rest prevents that a number of objects causes a list, at least for the pause.
func (s *health) rest(pause time.Duration) {
	if rests := time.Now().Add(pause); s.rests.Before(rests) {
		s.rests = rests
	}
}

// leaveOut records that the first count could not read a part of the type, unless the type has been listed again
// since then.
func (c *counts) leaveOut(part census.Skipped) {
	if c.listed.took == 0 && c.health.state != gone {
		c.health.skipped = append(c.health.skipped, part)
	}
}

// isResting reports whether this round doesn't request the type's number of objects.
func (s *health) isResting() bool {
	return s.state == unwatched || s.skipped != nil && time.Now().Before(s.rests)
}

// fails reports whether the last list or watch of the type failed.
func (s *health) fails() bool { return s.skipped != nil || !s.behind.IsZero() }

// notRead is the error of a request whose failure a scanner has reported.
type notRead struct{ census.Skipped }

func (n notRead) Error() string { return n.Message }

func reasonOf(err error) census.Reason {
	if failure, is := errors.AsType[notRead](err); is {
		return failure.Reason
	}
	return census.ReasonFor(err)
}

// noteFailure records that the request for the number of objects failed. The request was sent at since. noteFailure
// reports whether the server doesn't have the type.
func (s *health) noteFailure(skipped census.Skipped, since time.Time) (notFound bool) {
	notFound = skipped.Reason == census.NotFound
	switch {
	case s.state == watched, s.state == unwatched:
		return false // its list or its watch shows that, too
	case s.state == gone, s.state == uncounted && s.skipped == nil, notFound:
		s.skipped = []census.Skipped{skipped}
	case s.isSkipped(census.Forbidden, census.NotListable):
		s.rests = time.Now().Add(tryAgain) // permissions can change
	case s.state == quiet:
		s.cause = notRead{skipped} // the latest cause, as in fallBehind
		if s.behind.IsZero() {
			s.behind = since
		}
	}
	return notFound
}
