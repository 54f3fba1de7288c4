package live

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// shared are the fields that the poller and all reflectors share.
type shared struct {
	source   source
	types    roster
	policy   *Policy
	interval time.Duration  // between the counts of a type that can't be watched
	running  sync.WaitGroup // goroutines

	telling sync.Mutex
	notify  func(Notice) // nil for none
}

// tell reports a notice to the user.
func (s *shared) tell(n Notice) {
	if s.notify == nil {
		return
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	s.notify(n)
}

// newReflector returns the reflector of a type that has not been listed.
func (s *shared) newReflector(resource census.Resource) *reflector {
	store := newStore(resource, s.policy, s.source.selects(), &s.source.clock)
	return &reflector{shared: s, resource: resource, store: store}
}

// roster has the resource types that are counted.
type roster struct {
	mu  sync.Mutex
	all []*reflector
}

// list returns all types that there are now.
func (r *roster) list() []*reflector {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// of returns the reflector of a type, or nil.
func (r *roster) of(resource schema.GroupResource) *reflector {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.all, func(r *reflector) bool { return r.resource.GroupResource() == resource })
	if at < 0 {
		return nil
	}
	return r.all[at]
}

func (r *roster) add(one *reflector) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

// replace puts another reflector in the place of one, or none if it is nil. It reports
// whether the old one had a place.
func (r *roster) replace(old, other *reflector) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.all, old)
	switch {
	case at < 0:
		return false
	case other == nil:
		r.all = slices.Delete(r.all, at, at+1)
	default:
		r.all[at] = other
	}
	return true
}
