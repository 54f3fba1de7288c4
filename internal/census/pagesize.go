package census

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
)

const (
	// firstPage is the number of objects asked for at first. Most types have
	// fewer; of others the first page says how many there are.
	firstPage = 1_000
	// largestPage is what pages grow to, while they come quickly, and
	// largestFromEtcd where the server reads them from etcd as whole objects.
	largestPage     = 25_000
	largestFromEtcd = 2_000
	// slowestPage is what pages shrink to because they are slow, kubectl's; but
	// no further than to a fortieth of what lies behind them, because the server
	// passes over all that for each page, which takes it as long as such a page.
	slowestPage    = 500
	slowestDivisor = 40
	// smallestPage is what pages shrink to, when they fail.
	smallestPage = 100
	// largestBody is the number of bytes of metadata that a page is to have at
	// most, and largestBodyFromEtcd where whole objects are read for it, which
	// have some times as many.
	largestBody         = 32 << 20
	largestBodyFromEtcd = 4 << 20
	// pageTime is the time of the server that pages aim at.
	pageTime = time.Second / 3
	// step is the most by which one page is larger or smaller than the last.
	step = 5
)

// fromCache is the first version whose pages all come from its cache
// (ListFromCacheSnapshot). Before it, all or all but the first of a list are
// read from etcd, where an object is as large as what it carries.
var fromCache = version.MustParseGeneric("1.34.0")

// pageLimits are how large pages may become.
type pageLimits struct {
	objects, bytes int64
	time           time.Duration
}

// limitsFor returns those for a server of a version.
func limitsFor(serverVersion string) pageLimits {
	v, err := version.ParseGeneric(serverVersion)
	if err != nil || v.LessThan(fromCache) {
		return pageLimits{largestFromEtcd, largestBodyFromEtcd, pageTime}
	}
	return pageLimits{largestPage, largestBody, pageTime}
}

// pageSize is the number of objects of one resource to ask for in a request. For
// each page the server passes over what remains of the list, so large ones are
// fast; but it holds a whole page in its memory, and one that has fallen out of
// its cache as whole objects. So a list begins with few, and from then on pages
// are as large as what the server makes in pageTime.
type pageSize struct {
	limits pageLimits
	fixed  bool // as the user said

	mu     sync.Mutex
	limit  int64
	failed bool // a page did
}

// newPageSize is that of the user, or if it is 0 one that adapts.
func newPageSize(chunkSize int64, limits pageLimits) *pageSize {
	if chunkSize > 0 {
		return &pageSize{limit: chunkSize, fixed: true}
	}
	return &pageSize{limit: firstPage, limits: limits}
}

// current is how many objects to ask for.
func (p *pageSize) current() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// pageCost is the cost of a page of limit objects at most.
type pageCost struct {
	limit, objects, bytes, remaining int64

	took time.Duration // until the answer began, which is when it is complete at the server
}

// succeeded notes that a page came. The next one is of the size that would have
// taken pageTime, but no more than some times as large or small; once a page has
// failed they grow slowly.
func (p *pageSize) succeeded(c pageCost) {
	if p.fixed || c.objects == 0 {
		return
	}
	byBytes := p.limits.bytes * c.objects / max(c.bytes, 1)
	byTime := int64(float64(c.objects) * float64(p.limits.time) / float64(max(c.took, 1)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.bytes > p.limits.bytes {
		p.limit = min(p.limit, max(byBytes, smallestPage))
	}
	if c.took > p.limits.time {
		p.limit = min(p.limit, max(byTime, c.limit/step, slowestPage, c.remaining/slowestDivisor))
	}
	if full := c.objects >= c.limit; full && c.limit == p.limit { // less than a page says nothing of larger ones
		larger := step * c.limit
		if p.failed {
			larger = c.limit + c.limit/4
		}
		p.limit = max(p.limit, min(byBytes, byTime, larger, p.limits.objects))
	}
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
