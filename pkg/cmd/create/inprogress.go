package create

import (
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
)

// inProgress knows the objects that were sent and whose results were not printed yet,
// and the counts of those that were. An interrupt prints them, also while everything
// else hangs. Its zero value is ready for use.
type inProgress struct {
	mu      sync.Mutex
	objects map[sent]int // how many
	stored  map[sent]int // how many of them certainly exist
	counts  totals
}

// sent is an object under the name that was sent last.
type sent struct {
	document *create.Document
	name     string
}

// begin notes an object that is sent.
func (p *inProgress) begin(object sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.objects == nil {
		p.objects, p.stored = map[sent]int{}, map[sent]int{}
	}
	p.objects[object]++
}

// rename notes that an object is sent under another name.
func (p *inProgress) rename(object, to sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.objects[object] > 0 {
		decrease(p.objects, object)
		p.objects[to]++
	}
}

// store notes that an object exists.
func (p *inProgress) store(object sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.objects[object] > 0 {
		p.stored[object]++
	}
}

// end notes that the result of an object was printed, or that there is none.
func (p *inProgress) end(object sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	decrease(p.objects, object)
	decrease(p.stored, object)
}

func decrease(counts map[sent]int, object sent) {
	if counts[object] > 1 {
		counts[object]--
	} else {
		delete(counts, object)
	}
}

// count records the totals.
func (p *inProgress) count(t totals) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts = t
}

// left returns the unknown objects, and the existing objects that were not printed, as arguments of
// kubectl. It also returns the counts.
func (p *inProgress) left() (unknown, stored []string, counts totals) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for object := range maps.Keys(p.objects) {
		text := object.document.Argument(object.name)
		if p.stored[object] == p.objects[object] {
			stored = append(stored, text)
		} else {
			unknown = append(unknown, text)
		}
	}
	slices.Sort(unknown)
	slices.Sort(stored)
	return unknown, stored, p.counts
}
