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
	// bigAtOnce is the number of pages of big lists in flight. From 1.34 on, each can take up to 15% of the seats
	// of the user's priority level, which other users share. Earlier versions count up to ten seats for each page,
	// and read whole objects (k8s.io/apiserver/pkg/util/flowcontrol/request).
	bigAtOnce = 2
	// politePauses is the factor between the duration of a request and the pause of a polite scan after
	// it.
	politePauses = 9
)

// turns limits the requests in flight, and records whether any of them has a response.
type turns struct {
	slots   chan struct{} // one per request that can be in flight
	big     chan struct{} // a slot for each of them that is a page of a big list
	polite  bool
	resting func(pause time.Duration) // can be nil
	absence absence

	pausing sync.Mutex
	rested  time.Time // earliest start of the next request of a polite scan; guarded by pausing
}

// ShareTurns makes all scans of the scanner and its copies share the limits Concurrency and Polite. Together
// they report only once that the server is unreachable.
func (s *Scanner) ShareTurns() { s.turns = newTurns(s) }

func newTurns(s *Scanner) *turns {
	concurrency, big := cmp.Or(s.Concurrency, defaultConcurrency), cmp.Or(s.Concurrency, bigAtOnce)
	if s.Polite {
		concurrency, big = 1, 1
	}
	return &turns{
		polite: s.Polite, resting: s.Resting, absence: absence{report: s.Absent},
		slots: make(chan struct{}, concurrency), big: make(chan struct{}, big),
	}
}

// reportedPause is the pause of a polite scan above which the scan reports it. Pages take about a third of a
// second, so such a pause follows only a server that hung.
const reportedPause = 30 * time.Second

// turn is the turn of one request.
type turn struct {
	of    *turns
	big   bool
	began time.Time
}

// turn waits until another request can be sent. big is true for a page of a big list. The caller must
// call end after the request.
func (s *turns) turn(ctx context.Context, big bool) (*turn, error) {
	if big {
		select {
		case s.big <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	t := &turn{of: s, big: big}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		t.leave()
		return nil, ctx.Err()
	}
	if err := s.rest(ctx); err != nil {
		t.end()
		return nil, err
	}
	t.began = time.Now()
	return t, nil
}

// end allows the next request.
func (t *turn) end() {
	if s := t.of; s.polite && !t.began.IsZero() {
		s.pausing.Lock()
		s.rested = time.Now().Add(politePauses * time.Since(t.began))
		s.pausing.Unlock()
	}
	<-t.of.slots
	t.leave()
}

func (t *turn) leave() {
	if t.big {
		<-t.of.big
	}
}

// rest waits until a polite scan can send the next request.
func (s *turns) rest(ctx context.Context) error {
	s.pausing.Lock()
	pause := time.Until(s.rested)
	s.pausing.Unlock()
	if pause <= 0 {
		return nil
	}
	if pause > reportedPause && s.resting != nil {
		s.resting(pause)
	}
	return apistatus.Sleep(ctx, pause)
}
