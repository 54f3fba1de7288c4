package census

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Size is the number of objects of one type.
type Size struct {
	Resource Resource
	// Objects is the number of objects. If Known is false, the server doesn't report the number, and Objects is 0
	// or 1.
	Objects int64
	Known   bool
	// ResourceVersion is the current version of the server.
	ResourceVersion string
}

// Sizes requests the first object of each type, because the response has the number of remaining objects. Sizes are in
// the order of the types. Sizes skips a type that can't be read.
func (s *Scanner) Sizes(ctx context.Context, resources []Resource, namespace string) ([]Size, []Skipped, error) {
	run, err := s.newScan(decode.Options{}, nil)
	if err != nil {
		return nil, nil, err
	}
	sizes := make([]Size, len(resources))
	var group errgroup.Group
	for i, r := range resources {
		group.Go(func() error {
			at := namespace
			if !r.Namespaced {
				at = ""
			}
			size, err := run.size(ctx, r, at)
			if err != nil {
				run.ledger.skip(ctx, r, at, err)
			}
			sizes[i] = size
			return nil
		})
	}
	_ = group.Wait()
	sizes = slices.DeleteFunc(sizes, func(s Size) bool { return s == Size{} })
	return sizes, run.summary().Skipped, nil
}

// Numbers requests the number of objects of each type. It leaves out a type if the server doesn't report the number.
func (s *Scanner) Numbers(ctx context.Context, resources []Resource, namespace string) []v1alpha1.TypeObjects {
	numbered := *s
	numbered.Progress, numbered.RetryTimeout = nil, time.Nanosecond // these numbers aren't worth a wait
	sizes, _, err := numbered.Sizes(ctx, resources, namespace)
	if err != nil {
		return nil
	}
	var counts []v1alpha1.TypeObjects
	for _, size := range sizes {
		if r := size.Resource; size.Known {
			counts = append(counts, v1alpha1.TypeObjects{Group: r.Group, Resource: r.Resource, Objects: size.Objects})
		}
	}
	return counts
}

// size requests one object, with retries.
func (s *scan) size(ctx context.Context, r Resource, namespace string) (Size, error) {
	l := s.newList(r, namespace)
	l.size = newPageSize(1, pageLimits{})
	for retrier := s.server.newRetrier(); ; {
		p, err := l.get(ctx, pageRequest{limit: 1}, decode.Options{}, func(*object.Object) error { return nil })
		if err == nil {
			known := p.Continue == "" || p.Remaining > 0
			return Size{l.resource, p.Objects + p.Remaining, known, p.ResourceVersion}, nil
		}
		if !transient(ctx, err) {
			return Size{}, err
		}
		if err := s.server.wait(ctx, retrier, err); err != nil {
			return Size{}, err
		}
	}
}
