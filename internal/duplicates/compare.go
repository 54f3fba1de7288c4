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
	// listedFrom decides between one list and a request per candidate. The whole list is read if at least
	// one in listedFrom of its objects is a candidate. A request costs a server about as much as sending
	// listedFrom more objects.
	listedFrom = 20
	// getsAtOnce is the number of candidates that are requested concurrently. The scanner limits the
	// requests in flight.
	getsAtOnce = 8
)

// candidate is an object that might belong to a group.
type candidate struct {
	listKey
	kin     kin
	created uint32 // Unix seconds
	name    string
	*content
}

// comparison is the second pass, which reads the content of candidates.
type comparison struct {
	reader *census.Reader
	seed   maphash.Seed
	skips  *skips
	report func(done int64) // can be nil

	mu   sync.Mutex
	done int64
}

// read reads the content of all candidates. read skips lists that can't be read.
func (c *comparison) read(ctx context.Context, first *found) {
	lists := map[listKey]map[string]*candidate{}
	for _, one := range first.candidates {
		if lists[one.listKey] == nil {
			lists[one.listKey] = map[string]*candidate{}
		}
		lists[one.listKey][one.name] = one
	}
	var group errgroup.Group
	group.SetLimit(getsAtOnce)
	for key, these := range lists {
		group.Go(func() error {
			c.skips.by(ctx, key.resource, key.namespace, c.list(ctx, key, these, first.objects[key]))
			return nil
		})
	}
	_ = group.Wait()
}

// list reads the candidates of a list that has the given number of objects. list reads the whole list, or the
// candidates by their names.
func (c *comparison) list(ctx context.Context, key listKey, these map[string]*candidate, objects int64) error {
	asked := decode.Asked{Whole: true}
	visitor := &listed{c, these}
	if int64(len(these))*listedFrom >= objects {
		return c.reader.List(ctx, key.resource, key.namespace, asked, func() census.Visitor { return visitor })
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(getsAtOnce)
	for name := range these {
		group.Go(func() error { return c.reader.Get(ctx, key.resource, key.namespace, name, asked, visitor.Visit) })
	}
	return group.Wait()
}

// listed is the visitor of the second pass.
type listed struct {
	*comparison
	these map[string]*candidate // by name
}

// Visit reads the content of an object that is a candidate. It is safe for concurrent use because
// each call gets another object.
func (l *listed) Visit(o *object.Object) error {
	one := l.these[o.Name]
	if one == nil || o.Deleting || one.created != uint32(o.Created) {
		return nil
	}
	object, err := parse(one.resource, o.Raw)
	if err != nil {
		return err
	}
	if one.content, err = contentOf(l.seed, object); err != nil {
		l.skips.incomparable(one.listKey, o.Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done++; l.report != nil {
		l.report(l.done)
	}
	return nil
}

func (*listed) Commit() {}

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

// groups returns the groups of candidates. A candidate without content was deleted.
func (f *Finder) groups(candidates []*candidate) (groups []*group) {
	candidates = slices.DeleteFunc(candidates, func(c *candidate) bool { return c.content == nil })
	slices.SortFunc(candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.kin, b.kin), cmp.Compare(a.hash, b.hash),
			cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
	})
	begin := 0
	for i := range candidates {
		if i+1 < len(candidates) && f.together(candidates[begin:i+1], candidates[i+1]) {
			continue
		}
		if i > begin {
			groups = append(groups, groupOf(candidates[begin:i+1]))
		}
		begin = i + 1
	}
	return groups
}

// together reports whether the next candidate belongs to a group. The candidate and the group must have equal
// content, and the same creation ID or close creation times. If an object without an ID was created after the
// previous object had failed, it is an intended retry, and together returns false.
func (f *Finder) together(group []*candidate, next *candidate) bool {
	last := group[len(group)-1]
	if last.kin != next.kin || last.hash != next.hash {
		return false
	}
	retried := last.failed != 0 && last.failed <= next.created
	return next.kin&hasID != 0 || isWithin(last.created, next.created, f.Within) && !retried
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

// skips are the types and objects that were skipped. skips is safe for concurrent use.
type skips struct {
	mu      sync.Mutex
	all     []census.Skipped
	objects map[listKey][]string // names of objects that can't be compared
}

// by records that a scope could not be read because of an error. It does nothing if err is nil.
func (s *skips) by(ctx context.Context, r census.Resource, namespace string, err error) {
	if err != nil {
		s.add(census.SkippedBy(ctx, r, namespace, err))
	}
}

func (s *skips) has(r census.Resource, namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(k census.Skipped) bool {
		return k.Group == r.Group && k.Resource == r.Resource && (k.Namespace == "" || k.Namespace == namespace)
	})
}

func (s *skips) add(skipped census.Skipped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.all, skipped) {
		s.all = append(s.all, skipped)
	}
}

func (s *skips) incomparable(key listKey, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[listKey][]string{}
	}
	s.objects[key] = append(s.objects[key], name)
}

// list returns everything that was skipped, sorted.
func (s *skips) list() []census.Skipped {
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
