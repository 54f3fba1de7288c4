package live

import (
	"errors"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// state is how a type is kept.
type state int

const (
	uncounted state = iota // never listed, or skipped
	quiet                  // has no prefix, and is asked for its number
	watched
	unwatched // is counted again and again
	gone      // the server doesn't have it any more, and is asked for it
)

// behindAfter is how long a watch may be broken before its type is not up to date.
const behindAfter = 5 * time.Second

// standing is how a type is kept, and why it is not up to date.
type standing struct {
	state   state
	rests   time.Time        // the type is not to be listed for its number before
	skipped []census.Skipped // the parts that are not read: all, or namespaces
	behind  time.Time        // since when the type is not followed, or zero
	cause   error            // why it is not
	// restarts is how often a watch failed.
	restarts int64
	// unverified is why the counts could not be compared with the server at the end.
	unverified *census.Skipped
}

// isSkipped reports whether a type was skipped for one of these reasons.
func (s *standing) isSkipped(reasons ...census.Reason) bool {
	return slices.ContainsFunc(s.skipped, func(s census.Skipped) bool { return slices.Contains(reasons, s.Reason) })
}

// isBehind reports whether a type is not up to date. A type that is only asked for its
// number is not from its first request without a response, which comes late.
func (s *standing) isBehind() bool {
	switch s.state {
	case watched:
		return s.cause != nil && time.Since(s.behind) > behindAfter
	case quiet:
		return s.cause != nil
	default:
		return false
	}
}

// isLost reports whether the server has just lost the type.
func (s *standing) isLost() bool { return s.state != gone && s.isSkipped(census.NotFound) }

// fallBehind notes that a watch failed with err, if it is an error.
func (s *standing) fallBehind(err error) {
	if err == nil {
		return
	}
	s.restarts++
	s.cause = err // the latest, because a permission may be gone when the server is back
	if s.behind.IsZero() {
		s.behind = time.Now()
	}
}

// catchUp notes that a watch is open.
func (s *standing) catchUp() { s.behind, s.cause = time.Time{}, nil }

// fail notes that a list failed, which took so long.
func (s *standing) fail(skipped []census.Skipped, took time.Duration) {
	s.skipped, s.rests = skipped, time.Now().Add(listPauses*took)
}

// rest keeps the type from being listed for its number for so long at least.
func (s *standing) rest(pause time.Duration) {
	if rests := time.Now().Add(pause); s.rests.Before(rests) {
		s.rests = rests
	}
}

// leaveOut notes that the first count has not read a part of the type, unless the type has
// been listed again since.
func (s *store) leaveOut(part census.Skipped) {
	s.do(func() {
		if s.listed.took == 0 && s.standing.state != gone {
			s.standing.skipped = append(s.standing.skipped, part)
		}
	})
}

// isResting reports whether the type is not asked for its number now.
func (s *standing) isResting() bool {
	return s.state == unwatched || s.skipped != nil && time.Now().Before(s.rests)
}

// fails reports whether the last list or watch of the type failed.
func (s *standing) fails() bool { return s.skipped != nil || !s.behind.IsZero() }

// noteFailure notes that the type was asked for its number in vain, since when. It reports
// whether the type was not found.
func (s *standing) noteFailure(skipped census.Skipped, since time.Time) (notFound bool) {
	notFound = skipped.Reason == census.NotFound
	switch {
	case s.state == watched, s.state == unwatched:
		return false // its list or its watch shows that, too
	case s.state == gone, s.state == uncounted && s.skipped == nil, notFound:
		s.skipped = []census.Skipped{skipped}
	case s.isSkipped(census.Forbidden, census.NotListable):
		s.rests = time.Now().Add(tryAgain) // permissions may change
	case s.state == quiet && s.behind.IsZero():
		s.behind, s.cause = since, errors.New(skipped.Message)
	}
	return notFound
}
