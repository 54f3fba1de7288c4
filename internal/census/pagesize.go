package census

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
)

const (
	// firstPage is the size of the first page. Most types have fewer objects. For others, the first page
	// reports the number of objects.
	firstPage = 1_000
	// largestPage is the largest page size, which only fast servers get. largestFromEtcd is the largest page size for
	// servers that read pages from etcd.
	largestPage     = 25_000
	largestFromEtcd = 2_000
	// pagesFromEtcd is the least number of pages of a list for servers that read pages from etcd. Such servers decode
	// whole objects, whose size no response has. etcd supports up to 8 GiB, so a list has at most 8 GiB, and a page
	// at most 16 MiB on average. No page has fewer objects than slowestPage,
	// because smaller pages saved no memory, and cost requests.
	pagesFromEtcd = 512
	// slowestPage and slowestDivisor limit the reduction of the page size after a slow page. The size stays at least
	// slowestPage, which is kubectl's page size, and at least a fortieth of the remaining objects. For each page, the
	// server passes over all remaining objects. That takes about as long as reading a fortieth of them.
	slowestPage    = 500
	slowestDivisor = 40
	// smallestPage is the smallest page size after failed pages.
	smallestPage = 100
	// largestBody limits the bytes of metadata of a page. largestBodyFromEtcd is a lower limit for servers that read
	// whole objects, because a whole object is several times larger than its metadata.
	largestBody         = 32 << 20
	largestBodyFromEtcd = 4 << 20
	// The scan stops reading a page after largestRead bytes, and requests it again with fewer objects. A page of
	// smallestPage objects always has fewer bytes.
	largestRead = 1 << 30
	// pageTime is the time that a server should need for one page.
	pageTime = time.Second / 3
	// step is the largest factor between the sizes of two consecutive pages.
	step = 5
)

// fromCache is the first version that serves all pages from its cache (ListFromCacheSnapshot). Earlier
// versions read all pages, or all but the first, from etcd as whole objects.
var fromCache = version.MustParseGeneric("1.34.0")

// pageLimits limit the size of pages, and of lists that are read as a whole.
type pageLimits struct {
	objects, bytes int64
	pages          int64 // that a list is divided into at least, or 0
	time           time.Duration
	read           int64 // bytes, as largestRead
	undivided      int64 // objects, as divideAbove
}

// limitsFor returns the limits for a server version.
func limitsFor(serverVersion string) pageLimits {
	v, err := version.ParseGeneric(serverVersion)
	if err != nil || v.LessThan(fromCache) {
		return pageLimits{largestFromEtcd, largestBodyFromEtcd, pagesFromEtcd, pageTime, largestRead, divideAbove}
	}
	return pageLimits{largestPage, largestBody, 0, pageTime, largestRead, divideAbove}
}

// largest returns the largest size of the pages after the first one. If the list has a selector, the server doesn't
// report the number of remaining objects.
func (l pageLimits) largest(first pageCost) int64 {
	if l.pages == 0 || first.remaining == 0 {
		return l.objects
	}
	return min(max((first.objects+first.remaining)/l.pages, slowestPage), l.objects)
}

// pageSize chooses the number of objects per request for one resource type. For each page, the server passes over the
// remaining list, so a list with larger pages is faster. But the server holds a whole page in memory, and even whole
// objects if the page is not in its cache. So a list begins with a small page. Later pages have the size that the
// server can serve in pageTime.
type pageSize struct {
	limits pageLimits
	fixed  bool // set by the user

	mu     sync.Mutex
	limit  int64
	most   int64 // the largest size; 0 before the first page
	failed bool  // a page has failed
}

// newPageSize returns the fixed size chunkSize. If chunkSize is 0, it returns a size that adapts.
func newPageSize(chunkSize int64, limits pageLimits) *pageSize {
	if chunkSize > 0 {
		return &pageSize{limit: chunkSize, fixed: true}
	}
	return &pageSize{limit: firstPage, limits: limits}
}

// current returns the number of objects to request.
func (p *pageSize) current() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// pageCost is the cost of a page of limit objects at most.
type pageCost struct {
	limit, objects, bytes, remaining int64

	took time.Duration // time until the response began, when the server has completed it
}

// succeeded records the cost of a page. The next page gets the size that would have taken pageTime,
// limited by the factor step. After a page has failed, sizes grow slowly.
func (p *pageSize) succeeded(c pageCost) {
	if p.fixed || c.objects == 0 {
		return
	}
	byBytes := p.limits.bytes * c.objects / max(c.bytes, 1)
	byTime := int64(float64(c.objects) * float64(p.limits.time) / float64(max(c.took, 1)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most == 0 {
		p.most = p.limits.largest(c)
		p.limit = min(p.limit, p.most)
	}
	if c.bytes > p.limits.bytes {
		p.limit = min(p.limit, max(byBytes, smallestPage))
	}
	if c.took > p.limits.time {
		p.limit = min(p.limit, max(byTime, c.limit/step, slowestPage, c.remaining/slowestDivisor))
	}
	if full := c.objects >= c.limit; full && c.limit == p.limit { // a partial page shows nothing about larger ones
		larger := step * c.limit
		if p.failed {
			larger = c.limit + c.limit/4
		}
		p.limit = max(p.limit, min(byBytes, byTime, larger, p.most))
	}
}

// shrink records that a page of limit objects failed. shrink reports whether the next page will be smaller.
func (p *pageSize) shrink(limit int64) (smaller bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	if !p.fixed {
		p.limit = min(p.limit, max(limit/2, smallestPage))
	}
	return p.limit < limit
}
