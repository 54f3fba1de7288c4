package prune

import "container/heap"

// newest holds the newest objects of one pool, at most `most` of them.
type newest struct {
	most int
	heap ages
}

// add adds an object. If that exceeds most, add returns the oldest object. At least `most` objects are
// newer than that object, so it can be deleted before the end of the list.
func (n *newest) add(o Object) (tooMany Object, is bool) {
	if n.most == 0 {
		return o, true
	}
	if n.heap.Len() < n.most {
		heap.Push(&n.heap, o)
		return Object{}, false
	}
	if o.olderThan(n.heap[0]) {
		return o, true
	}
	tooMany, n.heap[0] = n.heap[0], o
	heap.Fix(&n.heap, 0)
	return tooMany, true
}

// ages is a heap of objects, the oldest first. It implements heap.Interface.
type ages []Object

func (a ages) Len() int           { return len(a) }
func (a ages) Less(i, j int) bool { return a[i].olderThan(a[j]) }
func (a ages) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *ages) Push(o any)        { *a = append(*a, o.(Object)) }

func (a *ages) Pop() any {
	last := len(*a) - 1
	o := (*a)[last]
	*a = (*a)[:last]
	return o
}
