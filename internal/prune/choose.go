package prune

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// pool is a name pool within one resource type.
type pool struct{ namespace, prefix string }

// sink receives the decisions of a chooser.
type sink interface {
	chosen(o Object)
	left(of pool, reason Reason, objects int64)
}

// chooser decides for each object of a list whether to delete it.
type chooser struct {
	resource census.Resource
	criteria Criteria
	until    time.Time       // newer objects are left, and Criteria.Keep ignores them
	prefixes map[string]bool // effective prefixes
	named    map[string]bool // whole generateNames
	to       sink
	sorted   bool
	newest   map[pool]*newest // for Criteria.Keep
}

// newChooser returns the chooser of a target. until is the time of the plan.
func newChooser(target Target, criteria Criteria, until time.Time, to sink) *chooser {
	c := &chooser{
		resource: target.Resource, criteria: criteria, until: until,
		prefixes: map[string]bool{}, named: map[string]bool{}, to: to,
	}
	for _, prefix := range target.Prefixes {
		c.prefixes[names.EffectivePrefix(prefix)], c.named[prefix] = true, true
	}
	return c
}

// asked returns the fields that the decoder must read of each object.
func (c *chooser) asked() decode.Asked {
	return decode.Asked{Whole: c.criteria.Finished}
}

// begin prepares the chooser to read a list from its beginning.
func (c *chooser) begin(sorted bool) { c.sorted, c.newest = sorted, map[pool]*newest{} }

// visit decides whether to delete an object.
func (c *chooser) visit(o *decode.Object) {
	c.leavePools(o.Namespace, o.Name)
	of, generated, concerned := c.poolOf(o)
	if !concerned {
		return
	}
	if reason := c.leaves(o, generated); reason != "" {
		c.to.left(of, reason, 1)
		return
	}
	found := Object{
		Resource: c.resource, Namespace: of.namespace, Name: o.Name, UID: o.UID,
		Prefix: of.prefix, Created: time.Unix(o.Created, 0).UTC(),
	}
	if c.criteria.Keep != nil {
		var more bool
		if found, more = c.keep(of, found); !more {
			return
		}
	}
	if before := c.criteria.Before; !before.IsZero() && !found.Created.Before(before) {
		c.to.left(of, TooYoung, 1)
		return
	}
	c.to.chosen(found)
}

// poolOf returns the name pool of an object. concerned reports whether its prefix is one of the
// target's. generated reports whether the object's name was generated in the pool by the rule of the
// census. Then its generateName has the prefix, and its name is the prefix and a suffix.
func (c *chooser) poolOf(o *decode.Object) (of pool, generated, concerned bool) {
	in, declared := namepools.Of(o)
	if c.prefixes[declared.Prefix] {
		generated = names.GeneratedFrom(o.Name, o.GenerateName) && c.named[o.GenerateName]
		return pool{o.Namespace, declared.Prefix}, generated, true
	}
	return pool{o.Namespace, in.Prefix}, false, c.prefixes[in.Prefix]
}

// leaves returns the reason to leave an object, or "".
func (c *chooser) leaves(o *decode.Object, generated bool) Reason {
	switch {
	case !generated || o.UID == "":
		return NotGenerated
	case o.Deleting:
		return BeingDeleted
	case !c.criteria.Owned && controlled(o):
		return Controlled
	case o.Created == 0:
		return UnknownAge
	case o.Created > c.until.Unix():
		return TooYoung
	case c.criteria.Finished && !hasFinished(c.resource, o.Raw):
		return NotFinished
	}
	return ""
}

// controlled reports whether an object has a controller.
func controlled(o *decode.Object) bool {
	for _, owner := range o.Owners {
		if owner.Controller {
			return true
		}
	}
	return false
}

// hasFinished reports whether an object has finished. It sets the kind from the resource type because
// not all items of a list have one.
func hasFinished(resource census.Resource, raw []byte) bool {
	var read struct {
		Status map[string]any `json:"status"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return false
	}
	object := &unstructured.Unstructured{Object: map[string]any{"status": read.Status}}
	object.SetGroupVersionKind(resource.GroupVersion().WithKind(resource.Kind))
	status, _ := finished.Of(object)
	return status.Done()
}

// Finishes reports whether the objects of a resource type can be chosen by
// Criteria.Finished.
func Finishes(r census.Resource) bool {
	return finished.Knows(schema.GroupKind{Group: r.Group, Kind: r.Kind})
}

// keep adds a candidate to the newest objects of its pool. It returns the object that this pushes out,
// if any.
func (c *chooser) keep(of pool, found Object) (Object, bool) {
	held := c.newest[of]
	if held == nil {
		held = &newest{most: *c.criteria.Keep}
		c.newest[of] = held
	}
	return held.add(found)
}

// leavePools drops the state of the pools that a sorted list has passed when it reaches a name.
func (c *chooser) leavePools(namespace, name string) {
	if !c.sorted {
		return
	}
	for of := range c.newest {
		if of.namespace != namespace || !strings.HasPrefix(name, of.prefix) {
			c.leavePool(of)
		}
	}
}

// end reports the kept objects of the remaining pools at the end of the list.
func (c *chooser) end() {
	for of := range c.newest {
		c.leavePool(of)
	}
}

func (c *chooser) leavePool(of pool) {
	if kept := c.newest[of].heap.Len(); kept > 0 {
		c.to.left(of, Newest, int64(kept))
	}
	delete(c.newest, of)
}

// olderThan orders objects by creation time, then by name.
func (o Object) olderThan(other Object) bool {
	return cmp.Or(o.Created.Compare(other.Created), strings.Compare(o.Name, other.Name)) < 0
}
