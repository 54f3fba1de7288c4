package keyed

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Contents chooses the IDs of the objects that a program creates. Threads can change their order, so the
// content identifies an object, and equal contents are numbered. Several goroutines can use it.
type Contents struct {
	run *Run

	mu      sync.Mutex // guards all below, and the groups
	groups  map[groupKey]*group
	running int           // creates that have not ended
	changed chan struct{} // closed when a create begins or ends
}

type groupKey struct {
	place        idempotency.Place
	generateName string
}

// A group has the creates of a resource type, a namespace and a generateName.
type group struct {
	list      sync.Mutex // held while the objects of the key are listed
	listed    bool
	unmatched int                 // number of listed objects that no create has claimed
	numbers   map[string]*numbers // by digest
}

// numbers are the numbers of equal contents.
type numbers struct {
	listed []int        // of listed objects that no create has claimed, sorted
	taken  map[int]bool // of creates; false if the create failed
	free   int          // all lower numbers are taken
}

// NewContents returns the Contents of a run. Don't call At of the run then.
func NewContents(r *Run) *Contents {
	return &Contents{run: r, groups: map[groupKey]*group{}, changed: make(chan struct{})}
}

// A Claim assigns an object to one create. No other create of the run gets this object.
type Claim struct {
	ID exactlyonce.ID
	// Listed is the object if an earlier run with the key created it, or nil.
	Listed *idempotency.Existing

	contents *Contents
	numbers  *numbers
	number   int
	ended    bool
}

const (
	// A create with new content waits until no other create has begun or ended for quietTime. A thread of
	// the program can create a new object before other threads repeat the objects of an earlier run.
	quietTime = 5 * time.Second
	// longestWait limits this wait.
	longestWait = time.Minute
)

// ErrNoDigest means that an object can't be identified by its content.
var ErrNoDigest = errors.New("the content has no digest")

// UnmatchedError reports an object of the key that the program hasn't created again. New content is refused.
type UnmatchedError struct{ Object *Object }

func (e *UnmatchedError) Error() string { return e.Object.Argument() + " was not created again" }

// A Canonical returns the content of an object, or false if the content has no digest.
type Canonical func(derive.Secret, derive.Object) (content string, ok bool)

// Claim reserves a listed object of the key, or a new ID, for a create. Before the first create with this place and
// generateName, Claim lists the key's objects. The errors are ErrNoDigest, an *UnmatchedError, a *SecretsError, and
// those of the list and of ctx.
func (c *Contents) Claim(ctx context.Context, place Place, generateName string, of Canonical) (*Claim, error) {
	place.GenerateNames = map[string]bool{generateName: true}
	o := derive.Object{
		Group: place.Kind.Group, Kind: place.Kind.Kind, Namespace: place.Namespace, GenerateName: generateName,
	}
	g, err := c.group(ctx, place, o)
	if err == nil {
		err = c.run.Conflict()
	}
	if err != nil {
		return nil, err
	}
	secret := c.run.chosen()
	content, ok := of(secret, o)
	digest := secret.DigestOfKey(string(c.run.key), o, content)
	if !ok || digest == "" {
		return nil, ErrNoDigest
	}
	over := time.After(longestWait)
	for {
		claim, changed, waits := c.take(g, place, o, digest)
		if claim != nil {
			return claim, nil
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over:
		case <-time.After(quietTime):
			if waits {
				continue
			}
		}
		for _, left := range c.unmatched(place, generateName) {
			return nil, &UnmatchedError{left}
		}
	}
}

// unmatched returns the listed objects that have the place and the generateName, and that no create has claimed.
func (c *Contents) unmatched(place Place, generateName string) []*Object {
	return slices.DeleteFunc(c.run.Unmatched(), func(o *Object) bool {
		return o.Place.key() != place.key() || o.Identity.GenerateName != generateName
	})
}

// group returns the group of an object, after its objects were listed.
func (c *Contents) group(ctx context.Context, place Place, o derive.Object) (*group, error) {
	c.mu.Lock()
	key := groupKey{place.key(), o.GenerateName}
	g := c.groups[key]
	if g == nil {
		g = &group{numbers: map[string]*numbers{}}
		c.groups[key] = g
	}
	c.mu.Unlock()
	g.list.Lock()
	defer g.list.Unlock()
	if g.listed {
		return g, nil
	}
	if err := c.run.At(ctx, place); err != nil {
		return nil, err
	}
	g.listed = true
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, found := range c.unmatched(place, o.GenerateName) {
		if g.unmatched++; found.ByContent {
			n := g.of(found.Digest)
			n.listed = append(n.listed, found.Identity.Copy)
		}
	}
	for _, n := range g.numbers {
		slices.Sort(n.listed)
	}
	return g, nil
}

func (g *group) of(digest string) *numbers {
	n := g.numbers[digest]
	if n == nil {
		n = &numbers{taken: map[int]bool{}}
		g.numbers[digest] = n
	}
	return n
}

// take returns a claim, or nil if the content is new although no create has claimed some listed object. In that
// case, changed is closed when a retry can succeed, and waits reports whether other creates are in progress.
func (c *Contents) take(g *group, place Place, o derive.Object, digest string) (
	claim *Claim, changed <-chan struct{}, waits bool,
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := g.of(digest)
	for n.taken[n.free] {
		n.free++
	}
	_, again := n.taken[n.free]
	switch {
	case len(n.listed) > 0:
		o.Copy, n.listed = n.listed[0], n.listed[1:]
		g.unmatched--
	case g.unmatched > 0 && !again:
		return nil, c.changed, c.running > 0
	default:
		o.Copy = n.free
	}
	n.taken[o.Copy] = true
	claim = &Claim{ID: c.run.idOfContent(o, digest), contents: c, numbers: n, number: o.Copy}
	claim.Listed = c.run.Existing(place, claim.ID)
	c.running++
	c.change()
	return claim, nil, false
}

func (c *Contents) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// End records the end of the create. kept means that the object exists or might exist. Otherwise another
// create can get its number. End can be called again if the create is repeated.
func (l *Claim) End(kept bool) {
	c := l.contents
	c.mu.Lock()
	defer c.mu.Unlock()
	if !l.ended {
		l.ended = true
		c.running--
	}
	if !kept {
		l.numbers.taken[l.number] = false
		l.numbers.free = min(l.numbers.free, l.number)
	}
	c.change()
}
