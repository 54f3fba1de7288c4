package duplicates

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const (
	// listedFrom decides between one list and a request per candidate. The engine reads the whole list if
	// at least one in listedFrom objects is a candidate. A request costs a server about as much as sending
	// listedFrom more objects.
	listedFrom = 20
	// getsAtOnce is the number of candidates that are requested concurrently. The scanner limits the
	// requests in flight.
	getsAtOnce = 8
)

// candidate is an object that might belong to a group.
type candidate struct {
	listKey
	group   groupKey
	created uint32 // Unix seconds
	name    string
	*content
}

// secondPass reads the content of candidates.
type secondPass struct {
	reader  *census.Reader
	seed    maphash.Seed
	skipped *skipped
	report  func(done int64) // can be nil

	mu   sync.Mutex
	done int64
}

// read reads the content of all candidates. objects has the size of each list. read skips lists that can't be read.
func (p *secondPass) read(ctx context.Context, candidates []*candidate, objects map[listKey]int64) {
	lists := map[listKey]map[string]*candidate{}
	for _, one := range candidates {
		if lists[one.listKey] == nil {
			lists[one.listKey] = map[string]*candidate{}
		}
		lists[one.listKey][one.name] = one
	}
	var group errgroup.Group
	group.SetLimit(getsAtOnce)
	for key, these := range lists {
		group.Go(func() error {
			p.skipped.by(ctx, key.resource, key.namespace, p.list(ctx, key, these, objects[key]))
			return nil
		})
	}
	_ = group.Wait()
}

// list reads the candidates of a list that has the given number of objects. list reads the whole list, or the
// candidates by their names.
func (p *secondPass) list(ctx context.Context, key listKey, these map[string]*candidate, objects int64) error {
	options := decode.Options{Raw: true}
	visit := func(o *object.Object) error { return p.take(these[o.Name], o) }
	if int64(len(these))*listedFrom >= objects {
		return p.reader.List(ctx, key.resource, key.namespace, options, func() census.Visitor {
			return census.VisitFunc(visit)
		})
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(getsAtOnce)
	for name := range these {
		group.Go(func() error { return p.reader.Get(ctx, key.resource, key.namespace, name, options, visit) })
	}
	return group.Wait()
}

// take reads the content of a candidate. one is nil if the object is no candidate. It is safe for
// concurrent use because each call gets another object.
func (p *secondPass) take(one *candidate, o *object.Object) error {
	if one == nil || o.Deleting || one.created != uint32(o.Created) {
		return nil
	}
	object, err := parse(one.resource, o.Raw)
	if err != nil {
		return err
	}
	if one.content, err = contentOf(p.seed, object); err != nil {
		p.skipped.incomparable(one.listKey, o.Name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done++; p.report != nil {
		p.report(p.done)
	}
	return nil
}

// parse decodes an object, and sets its type, because items of a list can lack it.
func parse(of census.Resource, raw []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		return nil, decode.Malformed(fmt.Sprintf("an object: %v", err))
	}
	object.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind))
	return object, nil
}

// group is a group of equal objects, the oldest first.
type group struct {
	v1alpha1.DuplicateItem
	members []*candidate
	// olderNamed means that the spec of an owner names the oldest member. youngerNamed means that any text of an owner
	// contains the name of the next member.
	olderNamed, youngerNamed bool
}

// groupsOf returns the groups of candidates. A candidate without content was deleted.
func groupsOf(candidates []*candidate, within time.Duration) (groups []*group) {
	candidates = slices.DeleteFunc(candidates, func(c *candidate) bool { return c.content == nil })
	slices.SortFunc(candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.hash, b.hash),
			cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
	})
	begin := 0
	for i := range candidates {
		if i+1 < len(candidates) && together(candidates[i], candidates[i+1], within) {
			continue
		}
		if i > begin {
			groups = append(groups, groupOf(candidates[begin:i+1]))
		}
		begin = i + 1
	}
	return groups
}

// together reports whether two consecutive candidates belong to one group. They must have equal content, and the same
// creation ID or close creation times. If an object without an ID was created after the previous object had failed,
// it is an intended retry, and together returns false.
func together(last, next *candidate, within time.Duration) bool {
	if last.group != next.group || last.hash != next.hash {
		return false
	}
	retried := last.failed != 0 && last.failed <= next.created
	return next.group&hasID != 0 || isWithin(last.created, next.created, within) && !retried
}

func groupOf(members []*candidate) *group {
	first := members[0]
	g := &group{members: members, DuplicateItem: v1alpha1.DuplicateItem{
		PrefixRef: v1alpha1.PrefixRef{
			Group: first.resource.Group, Resource: first.resource.Resource,
			Namespace: first.namespace, Prefix: first.prefix,
		},
		Owners: []string{}, Fields: first.fields, Compared: first.of,
	}}
	for _, owner := range first.owners {
		g.Owners = append(g.Owners, nameOf(owner))
	}
	differ := sets.Set[string]{}
	for _, m := range members {
		for field := range sets.KeySet(m.status).Union(sets.KeySet(first.status)) {
			if m.status[field] != first.status[field] {
				differ.Insert(field)
			}
		}
		g.Objects = append(g.Objects, v1alpha1.DuplicateObject{
			Name: m.name, UID: m.uid, Created: metav1.NewTime(time.Unix(int64(m.created), 0).UTC()),
			Creator: m.manager, State: m.state, ReferredBy: []v1alpha1.DuplicateReference{},
		})
	}
	g.StatusDiffers = sets.List(differ)
	return g
}

// skipped are the types and objects that were skipped. skipped is safe for concurrent use.
type skipped struct {
	mu      sync.Mutex
	all     []census.Skipped
	objects map[listKey][]string // names of objects that can't be compared
}

// by records that a scope could not be read because of an error. It does nothing if err is nil.
func (s *skipped) by(ctx context.Context, r census.Resource, namespace string, err error) {
	if err != nil {
		s.add(census.SkippedBy(ctx, r, namespace, err))
	}
}

func (s *skipped) has(r census.Resource, namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(k census.Skipped) bool {
		return k.Group == r.Group && k.Resource == r.Resource && (k.Namespace == "" || k.Namespace == namespace)
	})
}

func (s *skipped) add(one census.Skipped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.all, one) {
		s.all = append(s.all, one)
	}
}

func (s *skipped) incomparable(key listKey, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[listKey][]string{}
	}
	s.objects[key] = append(s.objects[key], name)
}

func (s *skipped) list() []census.Skipped {
	for key, names := range s.objects {
		slices.Sort(names)
		s.all = append(s.all, census.Skipped{
			Group: key.resource.Group, Resource: key.resource.Resource, Namespace: key.namespace,
			Reason:  census.Incomparable,
			Message: "managedFields are invalid in " + humanize.Few(slices.Compact(names)),
		})
	}
	slices.SortStableFunc(s.all, func(a, b census.Skipped) int {
		return cmp.Or(strings.Compare(a.Message, b.Message), strings.Compare(a.Namespace, b.Namespace))
	})
	return s.all
}
