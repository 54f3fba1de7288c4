package live

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// others has the creates and deletes of the objects of a type that are in no name pool that counts: fixed names, small
// stems, and stems above the limit of prefixes. For a watched type, they come from events. For a quiet type, they are
// the changes of its number of objects, so they are lower bounds.
type others struct {
	activity
	asked time.Time // time of the last number of objects of a quiet type
}

// event counts an event of an object that is in no name pool that counts.
func (o *others) event(by changed) {
	switch by.what {
	case decode.Added:
		o.happened(by.since, by.at, 1, 0)
	case decode.Deleted:
		o.happened(by.since, by.at, 0, 1)
	default:
	}
}

// lose removes the events of a name pool that counts from now on.
func (o *others) lose(pool *activity) {
	o.creates -= min(pool.creates, o.creates)
	o.deletes -= min(pool.deletes, o.deletes)
	o.rates.decay(pool.rates.last)
	for i, lost := range pool.rates.at(o.rates.last) {
		own := &o.rates.weighed[i]
		own.Creates = max(own.Creates-lost.Creates, 0)
		own.Deletes = max(own.Deletes-lost.Deletes, 0)
	}
}

// rise counts the difference between two numbers of objects. at is the time of the second number.
func (o *others) rise(since, at time.Time, by int64) {
	o.happened(since, at, max(by, 0), max(-by, 0))
}

// unpooled returns the number of objects in no name pool that counts.
func (c *counts) unpooled() int64 {
	names, _ := c.set.Prefixed(c.appeared())
	return c.totals.objects - names
}

// countOthers counts the changes of a quiet type up to a list or a number of objects. If the list has
// changed the state of the type, counting begins again.
func (c *counts) countOthers(objects int64, at time.Time, isQuiet bool) {
	if isQuiet && c.health.state == quiet {
		c.others.rise(c.others.asked, at, objects-c.totals.objects)
	} else {
		c.others = others{activity: activity{since: at, gaps: c.totals.gaps, rates: rates{last: at}}}
	}
	c.others.asked = at
}

// othersIn returns the objects of the type that are in no name pool that counts, as one row without a prefix.
func (c *counts) othersIn(namespace string, names int64, now time.Time) pools.Row {
	row := pools.Row{Pool: pools.Pool{Names: c.totals.objects - names}, At: now}
	row.Pool.Key = pools.Key{GroupResource: c.resource.GroupResource(), Naming: object.Fixed}
	if c.resource.Namespaced {
		row.Pool.Namespace = namespace
	}
	isQuiet := c.health.state == quiet
	if row.Followed = isQuiet || c.health.state == watched; !row.Followed {
		return row
	}
	o := &c.others
	row.Since, row.Began, row.Gaps, row.Weighed = o.since, o.since, c.totals.gaps-o.gaps, o.rates.at(now)
	row.Creates, row.Deletes = o.creates, o.deletes
	if isQuiet {
		row.Gaps++ // an object that was deleted between two numbers is not counted
	}
	return row
}
