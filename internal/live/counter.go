package live

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// counter is one space that is counted exactly.
type counter struct {
	space census.Space
	// version is the state that a list has counted it at: events up to it are in
	// its names.
	version uint64
	since   time.Time // from when on its creates and deletes are counted

	creates, deletes int64
	gaps             int
	conflicts        float64
	rates            *rates // nil until something happens
	reuse            *reuse // nil unless it is one of the riskiest
	last             time.Time
	// young is whether it has never had MinCount names since it began.
	young bool
}

func idOf(s census.Space) spaces.ID {
	return spaces.ID{Namespace: s.Namespace, Prefix: s.Prefix, SuffixLength: s.SuffixLength}
}

// generates reports whether the name of o was generated for the space.
func (c *counter) generates(o *decode.Object) bool {
	return c.space.SuffixLength != names.SuffixLength || names.EffectivePrefix(o.GenerateName) == c.space.Prefix
}

// happened counts creates and deletes that came evenly from one time to another.
func (c *counter) happened(from, now time.Time, creates, deletes int64) {
	if c.rates == nil {
		c.rates = &rates{last: now.Round(0)}
	}
	c.creates += creates
	c.deletes += deletes
	c.rates.add(from, now, float64(creates), float64(deletes))
	c.last = now
}

// created counts a new object of the space, of which chance says how likely a
// create is to fail.
func (c *counter) created(o *decode.Object, now time.Time, chance func(census.Space) float64) {
	if c.generates(o) || c.space.NamedByClients {
		c.conflicts += chance(c.space)
	}
	c.add(o)
	c.happened(now, now, 1, 0)
	if c.reuse != nil {
		c.reuse.created(o.Name)
	}
}

// add adds the name of an object, which is new.
func (c *counter) add(o *decode.Object) {
	s := &c.space
	if c.generates(o) {
		s.Generated++
		s.NamedByClients = false
		s.RawPrefixes = max(s.RawPrefixes, 1)
	}
	s.Names++
	created := time.Unix(o.Created, 0).UTC()
	if o.Created == 0 || created.Before(s.Newest) {
		return
	}
	s.Newest = created
	if s.Oldest.IsZero() && s.Names == 1 {
		s.Oldest = created
	}
	m := o.Maker
	s.MadeBy = census.Maker{Kind: m.Kind, Name: m.Name, Manager: m.Manager, Certain: m.Certain, Marked: o.Marked}
	s.Makers = max(s.Makers, 1)
	s.ReplicaBounded = s.ReplicaBounded && spaces.BoundByReplicas(m)
}

// deleted counts that an object of the space has gone. It reports whether nobody may
// say the prefix any more.
func (c *counter) deleted(o *decode.Object, now time.Time) (unsaid bool) {
	s := &c.space
	s.Names--
	c.happened(now, now, 0, 1)
	if c.reuse != nil {
		c.reuse.removed(o.Name)
	}
	if o.Created == 0 || time.Unix(o.Created, 0).Equal(s.Oldest) {
		s.Oldest = time.Time{} // that of the next one is not known
	}
	if !c.generates(o) {
		return false
	}
	s.Generated-- // below 0 if an update has changed generateName, which servers allow
	return s.Generated <= 0 && s.Names > 0
}
