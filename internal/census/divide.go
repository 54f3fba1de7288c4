package census

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

const (
	// divideAbove is the number of objects above which a list may be read namespace by namespace.
	divideAbove = 20_000
	// passedPerRequest is the number of objects that a server passes over in the time of one more request.
	// It was measured with kube-apiserver 1.36: 3 ms per request and 0.14 µs per object.
	passedPerRequest = 20_000
)

var namespaceResource = Resource{
	GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
	Kind:                 "Namespace",
}

// divide counts a big resource namespace by namespace, or as one list if that is better or the
// only way.
func (s *scan) divide(ctx context.Context, r Resource, big *tooBig) (listCount, error) {
	namespaces, err := s.namespaces(ctx)
	if err == nil && s.pays(big.objects, int64(len(namespaces))) {
		count, failed, err := s.countEach(ctx, r, namespaces, big)
		switch {
		case err != nil && !mustCountAgain(err):
			return listCount{}, err
		case err == nil && len(failed) > 0:
			for namespace, err := range failed {
				s.ledger.skip(ctx, r, namespace, err)
			}
			return count, nil
		case err == nil && count.Objects == big.objects:
			count.at = big.at
			return count, nil
		}
	}
	whole := s.newList(r, "")
	whole.size = big.size
	return whole.count(ctx, s.ledger.newBatch)
}

// pays reports whether reading by namespace is faster. For each page of one list, the server passes
// over all remaining objects, on average half of the list. Each namespace costs one more request.
func (s *scan) pays(objects, namespaces int64) bool {
	size := cmp.Or(s.chunkSize, s.limits.objects)
	return objects/2*(objects/size) > namespaces*passedPerRequest
}

// countEach counts r in each namespace at the resourceVersion of big. It uses one batch for all
// namespaces, which keeps no more than the batch of one namespace. failed has the namespaces that
// could not be read. err is an error that concerns all of them.
func (s *scan) countEach(ctx context.Context, r Resource, namespaces []string, big *tooBig) (
	total listCount, failed map[string]error, err error,
) {
	var mu sync.Mutex
	total.batch, failed = s.ledger.newBatch(), map[string]error{}
	begin := func() Batch {
		mu.Lock()
		defer mu.Unlock()
		return total.batch.Begin()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(s.server.slots))
	for _, namespace := range namespaces {
		group.Go(func() error {
			l := s.newList(r, namespace)
			l.size, l.at, l.pinned = big.size, big.at, true
			count, err := l.count(ctx, begin)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				total.add(count)
			case ctx.Err() != nil, s.server.givenUp() != nil, mustCountAgain(err):
				return err
			default:
				failed[namespace] = err
			}
			return nil
		})
	}
	return total, failed, group.Wait()
}

// add adds the count of a namespace, and commits its batch.
func (c *listCount) add(namespace listCount) {
	namespace.batch.Commit()
	c.inconsistent = c.inconsistent || namespace.inconsistent
	c.Objects += namespace.Objects
	c.Prefixed += namespace.Prefixed
	c.Uncounted += namespace.Uncounted
}

func (s *scan) namespaces(ctx context.Context) ([]string, error) {
	var found []string
	err := s.newList(namespaceResource, "").walk(ctx, (*nameList)(&found))
	return found, err
}

// nameList collects the names of objects.
type nameList []string

func (n *nameList) Add(o *decode.Object) error {
	*n = append(*n, o.Name)
	return nil
}
