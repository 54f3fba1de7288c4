package live

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// shared are the fields that the engine and all reflectors share.
type shared struct {
	source   source
	types    roster
	policy   *Policy
	interval time.Duration  // between the counts of a type that can't be watched
	running  sync.WaitGroup // goroutines

	reporting sync.Mutex
	notify    func(Notice) // nil for none
}

func (s *shared) report(n Notice) {
	if s.notify == nil {
		return
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.notify(n)
}

// newReflector returns the reflector of a type that has not been listed.
func (s *shared) newReflector(resource census.Resource) *reflector {
	store := newStore(resource, s.policy, s.source.selects(), &s.source.clock)
	return &reflector{shared: s, resource: resource, store: store}
}

// roster has a reflector for each resource type that is counted.
type roster struct{ reflectors sync.Map }

func (r *roster) list() (all []*reflector) {
	for _, one := range r.reflectors.Range {
		all = append(all, one.(*reflector))
	}
	return all
}

// of returns the reflector of a type, or nil.
func (r *roster) of(resource schema.GroupResource) *reflector {
	found, _ := r.reflectors.Load(resource)
	one, _ := found.(*reflector)
	return one
}

func (r *roster) add(one *reflector) { r.reflectors.Store(one.resource.GroupResource(), one) }

// replace puts another reflector in the place of one. It reports whether the old one had a
// place.
func (r *roster) replace(old, other *reflector) bool {
	return r.reflectors.CompareAndSwap(old.resource.GroupResource(), old, other)
}

// remove reports whether the reflector had a place.
func (r *roster) remove(one *reflector) bool {
	return r.reflectors.CompareAndDelete(one.resource.GroupResource(), one)
}
