package live

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// ResourceCount has the totals of one resource type, over all of its prefixes. Creates,
// Restarts, Events and Gaps never decrease while the type exists.
type ResourceCount struct {
	Resource census.Resource
	// Counted is whether the type has been listed. If not, its numbers are unknown.
	Counted bool
	// Names are the names under prefixes. Creates is how many of them were created since
	// the first list. A gap makes it a lower bound.
	Names, Creates int64
	// Restarts is how often a watch failed. Gaps is how often the type was counted again.
	// Events is how many events were read.
	Restarts, Events int64
	Gaps             int
	// Behind is how long the type has not been followed, because its watch failed.
	Behind time.Duration
}

// typeTally counts what ResourceCount reports.
type typeTally struct{ names, creates, restarts int64 }

// change counts an event of an object whose name is under a prefix.
func (t *typeTally) change(event decode.EventType) {
	switch event {
	case decode.Added:
		t.names++
		t.creates++
	case decode.Deleted:
		t.names = max(t.names-1, 0)
	}
}

// left returns the tally of a type that the server does not have any more.
func (t typeTally) left() typeTally {
	t.names = 0
	return t
}

// isName reports whether the name of an object is under a prefix: its own generateName
// has the prefix, or the prefix is counted already. The next list corrects the number of
// names that a client generated under a prefix that is not counted.
func (k *kind) isName(o *decode.Object, in, said spaces.ID) bool {
	if _, long := spaces.Long(o); long {
		return true
	}
	return in.Prefix != "" && (said == in || k.counters[in] != nil)
}

// totals returns the totals of the type.
func (k *kind) totals() ResourceCount {
	c := ResourceCount{
		Resource: k.resource, Counted: !k.listed.IsZero(), Names: k.tally.names, Creates: k.tally.creates,
		Restarts: k.tally.restarts, Events: k.events, Gaps: k.gaps,
	}
	if k.state == watched && k.cause != nil {
		c.Behind = time.Since(k.behind)
	}
	return c
}
