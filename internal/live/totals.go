package live

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
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

type totals struct {
	objects        int64
	names, creates int64 // under prefixes
	gaps           int
	// idle are the events that changed no count.
	events, idle int64
}

// change adds to the number of objects, whose names may be under a prefix.
func (t *totals) change(by int64, isName bool) {
	t.objects += by
	if isName {
		t.names = max(t.names+by, 0)
		t.creates += max(by, 0)
	}
}

// isName reports whether the name of an object is under a prefix: its own generateName
// has the prefix, or that of another name in the name pool has. The next list corrects the
// number of client-generated names without a counter.
func (s *store) isName(o *decode.Object, in, declared namepools.ID) bool {
	if _, long := namepools.Long(o); long {
		return true
	}
	return in.Prefix != "" &&
		(declared == in || s.pools.counters[in] != nil || s.pools.few.of(hashOf(in)).generated > 0)
}

func (s *store) count() ResourceCount {
	c := ResourceCount{
		Resource: s.resource, Counted: !s.listedAt.IsZero(), Names: s.totals.names, Creates: s.totals.creates,
		Restarts: s.standing.restarts, Events: s.totals.events, Gaps: s.totals.gaps,
	}
	if s.standing.state == watched && s.standing.cause != nil {
		c.Behind = time.Since(s.standing.behind)
	}
	return c
}
