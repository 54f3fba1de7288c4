package census

import (
	"sync"
	"time"
)

const (
	// firstPage is the number of objects asked for at first. Most types have
	// fewer; of others the first page says how many there are.
	firstPage = 1_000
	// largestPage is what pages grow to, while they come quickly.
	largestPage = 25_000
	// smallestPage is what pages shrink to, when they fail.
	smallestPage = 100
	// defaultQuick is how long a page may take after which larger ones are asked
	// for.
	defaultQuick = 2 * time.Second
)

// pageSize is the number of objects of one resource to ask for in a request.
// Large pages are fast: for each one the server passes over what remains of the
// list. But a server that does not have the list in its cache reads and decodes
// whole objects for it, of which it answers only the metadata. So a list begins
// with few, pages grow while they come quickly, and shrink when they fail.
type pageSize struct {
	mu     sync.Mutex
	limit  int64
	fixed  bool // as the user said
	quick  time.Duration
	failed bool // a page did
}

// newPageSize is that of the user, or if it is 0 one that adapts.
func newPageSize(chunkSize int64, quick time.Duration) *pageSize {
	if chunkSize > 0 {
		return &pageSize{limit: chunkSize, fixed: true}
	}
	return &pageSize{limit: firstPage, quick: quick}
}

// current is how many objects to ask for.
func (p *pageSize) current() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// succeeded notes that a page of limit objects came. Until one has failed pages
// grow fast, and then slowly.
func (p *pageSize) succeeded(limit int64, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fixed || limit < p.limit || took > p.quick {
		return
	}
	larger := 5 * limit
	if p.failed {
		larger = limit + limit/4
	}
	p.limit = max(p.limit, min(larger, largestPage))
}

// shrink notes that a page of limit objects did not come, and reports whether
// the next one will be smaller.
func (p *pageSize) shrink(limit int64) (smaller bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	if !p.fixed {
		p.limit = min(p.limit, max(limit/2, smallestPage))
	}
	return p.limit < limit
}
