package create

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// lane is what documents in flight at the same time have in common; none for
// one that waits for those before it, and lets those after it wait.
type lane struct {
	resource  schema.GroupVersionResource
	namespace string
}

var alone lane

// create starts to create the copies of a document, and waits for them unless
// the next document may overlap. The error is of what has ended.
func (c *creation) create(d *document) error {
	var ended error
	next := c.laneOf(d)
	if next == alone || next != c.lane {
		ended = c.wait()
	}
	c.lane = next
	for i := range d.copies {
		if c.hopeless(d) {
			c.count(func(a *account) { a.notAttempted += d.copies - i })
			break
		}
		if next == alone && d.copies == 1 { // not worth another goroutine
			c.collect(d, c.createCopy(d, i))
			break
		}
		c.inFlight.Go(func() error {
			if c.hopeless(d) { // by now
				c.count(func(a *account) { a.notAttempted++ })
				return nil
			}
			c.collect(d, c.createCopy(d, i))
			return nil
		})
	}
	if next == alone {
		return utilerrors.NewAggregate(errorsOf(ended, c.wait()))
	}
	return ended
}

// laneOf tells which other documents may be in flight with d.
func (c *creation) laneOf(d *document) lane {
	if !d.generated || !c.flags.set.Changed("concurrency") || c.DryRunStrategy != cmdutil.DryRunNone {
		return alone
	}
	return lane{d.Mapping.Resource, d.Namespace}
}

// hopeless tells whether another copy shall not be tried: one before it was
// refused, something changes the names of its type, nobody answers, or the
// user has had enough.
func (c *creation) hopeless(d *document) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx.Err() != nil || c.unreachable.Load() || d.refused || c.renamed[d.Mapping.Resource]
}

// wait waits for what is in flight.
func (c *creation) wait() error {
	_ = c.inFlight.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := c.failures
	c.failures = nil
	return utilerrors.NewAggregate(errs)
}

// collect keeps the first error of the document's copies: those of the others
// differ in their names only.
func (c *creation) collect(d *document, err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.said {
		c.unsaid = true
		return
	}
	d.said = true
	c.failures = append(c.failures, err)
}
