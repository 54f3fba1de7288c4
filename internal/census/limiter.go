package census

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

const (
	defaultConcurrency = 4
	// bigAtOnce is the number of pages of big lists in flight. Since 1.34, such a page can take up to 15% of the seats
	// of a priority level, which users share. Earlier versions count up to ten seats for each page, and read whole
	// objects (k8s.io/apiserver/pkg/util/flowcontrol/request).
	bigAtOnce = 2
	// After each request, a polite scan pauses for politePauses times the duration of the request.
	politePauses = 9
)

// limiter limits the requests in flight, and records whether any of them has a response.
type limiter struct {
	slots   chan struct{} // one per request that can be in flight
	big     chan struct{} // one per page of a big list that can be in flight
	polite  bool
	resting func(pause time.Duration) // can be nil
	outage  outage

	pausing sync.Mutex
	rested  time.Time // earliest start of the next request of a polite scan; guarded by pausing
}

// ShareLimits makes all scans of the scanner and its copies share the limits Concurrency and Polite. Together
// they report only once that the server is unreachable.
func (s *Scanner) ShareLimits() { s.limiter = newLimiter(s) }

func newLimiter(s *Scanner) *limiter {
	concurrency, big := cmp.Or(s.Concurrency, defaultConcurrency), cmp.Or(s.Concurrency, bigAtOnce)
	if s.Polite {
		concurrency, big = 1, 1
	}
	return &limiter{
		polite: s.Polite, resting: s.Resting, outage: outage{report: s.Unreachable},
		slots: make(chan struct{}, concurrency), big: make(chan struct{}, big),
	}
}

// A polite scan reports each pause that is longer than reportedPause. Pages take about a third of a second, so only a
// server that hung causes such a pause.
const reportedPause = 30 * time.Second

// slot is the permission to send one request.
type slot struct {
	of    *limiter
	big   bool
	began time.Time
}

// acquire waits until another request can be sent. big is true for a page of a big list. The caller must
// call release after the request.
func (l *limiter) acquire(ctx context.Context, big bool) (*slot, error) {
	if big {
		select {
		case l.big <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s := &slot{of: l, big: big}
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		s.releaseBig()
		return nil, ctx.Err()
	}
	if err := l.rest(ctx); err != nil {
		s.release()
		return nil, err
	}
	s.began = time.Now()
	return s, nil
}

// release allows the next request.
func (s *slot) release() {
	if l := s.of; l.polite && !s.began.IsZero() {
		l.pausing.Lock()
		l.rested = time.Now().Add(politePauses * time.Since(s.began))
		l.pausing.Unlock()
	}
	<-s.of.slots
	s.releaseBig()
}

func (s *slot) releaseBig() {
	if s.big {
		<-s.of.big
	}
}

// rest waits until a polite scan can send the next request.
func (l *limiter) rest(ctx context.Context) error {
	l.pausing.Lock()
	pause := time.Until(l.rested)
	l.pausing.Unlock()
	if pause <= 0 {
		return nil
	}
	if pause > reportedPause && l.resting != nil {
		l.resting(pause)
	}
	return apistatus.Sleep(ctx, pause)
}
