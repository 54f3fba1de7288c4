package logs

import (
	"slices"
	"sync"
	"time"
)

// waitersAfter is the time for which a container waits for a stream before the follower reports it.
const waitersAfter = time.Second

// slots limits the number of open streams. A sidecar runs as long as its Pod, so it gives its stream to a container
// that waits for a stream.
type slots struct {
	mu       sync.Mutex
	free     int
	waiting  []*turn // other containers before sidecars
	sidecars []*turn // that have a stream
}

// turn is a container that has a stream or waits for one.
type turn struct {
	sidecar bool
	begun   chan struct{} // closed when the container gets its stream
	yields  chan struct{} // closed when the container should give it back
}

func (s *slots) request(sidecar bool) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &turn{sidecar, make(chan struct{}), make(chan struct{})}
	first := slices.IndexFunc(s.waiting, func(other *turn) bool { return other.sidecar })
	if sidecar || first < 0 {
		first = len(s.waiting)
	}
	s.waiting = slices.Insert(s.waiting, first, t)
	s.next()
	if !sidecar && len(s.waiting) > 0 && len(s.sidecars) > 0 {
		close(s.sidecars[0].yields)
		s.sidecars = s.sidecars[1:]
	}
	return t
}

func (s *slots) release(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sidecars = slices.DeleteFunc(s.sidecars, func(other *turn) bool { return other == t })
	s.free++
	s.next()
}

// next gives free streams to the first containers in waiting. The caller holds the mutex.
func (s *slots) next() {
	for ; s.free > 0 && len(s.waiting) > 0; s.free-- {
		t := s.waiting[0]
		s.waiting = s.waiting[1:]
		if t.sidecar {
			s.sidecars = append(s.sidecars, t)
		}
		close(t.begun)
	}
}

// acquire waits for a stream. It returns false if the follower ends first.
func (f *Follower) acquire(c *container) bool {
	c.turn = f.slots.request(c.sidecar)
	select {
	case <-c.turn.begun:
		return true
	default:
	}
	name := c.Pod
	if c.sidecar {
		name += "/" + c.Name
	}
	f.mu.Lock()
	if len(f.waiting) == 0 {
		time.AfterFunc(waitersAfter, f.reportWaiters)
	}
	f.waiting = append(f.waiting, name)
	f.mu.Unlock()
	select {
	case <-c.turn.begun:
		f.mu.Lock()
		defer f.mu.Unlock()
		if i := slices.Index(f.waiting, name); i >= 0 {
			f.waiting = slices.Delete(f.waiting, i, i+1)
		}
		return true
	case <-f.ctx.Done():
		return false
	}
}

// reportWaiters reports the Pods that wait for a stream since the last report.
func (f *Follower) reportWaiters() {
	f.mu.Lock()
	pods := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	slices.Sort(pods)
	if pods = slices.Compact(pods); len(pods) > 0 && f.ctx.Err() == nil {
		f.config.Event(Waiters{pods})
	}
}
