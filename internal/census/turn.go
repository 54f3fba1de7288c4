package census

import (
	"context"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// politePauses is how many times as long as a request took a polite scan waits
// after it.
const politePauses = 9

// toldPause is the pause of a polite scan from which on it is told: pages aim at a
// third of a second, so that this is one after a server that hung.
const toldPause = 30 * time.Second

// turn is that of a request.
type turn struct {
	server *server
	big    bool
	buffer []byte // for the answer
	began  time.Time
}

// turn waits until another request may be made, for a page of a big list or for
// any other. It lasts until its end.
func (s *server) turn(ctx context.Context, big bool) (*turn, error) {
	if big {
		select {
		case s.big <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	t := &turn{server: s, big: big}
	select {
	case t.buffer = <-s.buffers:
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

// end lets another request be made.
func (t *turn) end() {
	if s := t.server; s.polite && !t.began.IsZero() {
		s.mu.Lock()
		s.rested = time.Now().Add(politePauses * time.Since(t.began))
		s.mu.Unlock()
	}
	t.server.buffers <- t.buffer
	t.leave()
}

func (t *turn) leave() {
	if t.big {
		<-t.server.big
	}
}

// rest waits until a polite scan may make the next request.
func (s *server) rest(ctx context.Context) error {
	s.mu.Lock()
	pause := time.Until(s.rested)
	s.mu.Unlock()
	if pause <= 0 {
		return nil
	}
	if pause > toldPause && s.resting != nil {
		s.resting(pause)
	}
	return apistatus.Sleep(ctx, pause)
}
