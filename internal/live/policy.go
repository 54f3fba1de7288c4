package live

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// Policy says which name pools have a counter, and how likely creates are to fail in them.
type Policy struct {
	// MinCount is the number of names from which on a name pool has a counter; 1 at least.
	MinCount int64
	// Takes reports whether a prefix is of interest; nil takes all.
	Takes func(resource schema.GroupResource, prefix string) bool
	// Chance is the probability that the next create in a name pool fails; nil is 0.
	// Several goroutines call it at once. It must not call the engine.
	Chance func(census.NamePool) float64
}

func (p *Policy) takes(resource schema.GroupResource, prefix string) bool {
	return p.Takes == nil || p.Takes(resource, prefix)
}

func (p *Policy) chance(pool census.NamePool) float64 {
	if p.Chance == nil {
		return 0
	}
	return p.Chance(pool)
}
