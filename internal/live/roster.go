package live

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
