package duplicates

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
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

// detail is the data that the second pass keeps of a candidate, 32 bytes.
type detail struct {
	content uint64
	uid     uid
	failed  uint32 // Unix seconds; 0 if it has not failed
	manager uint32 // index in comparison.managers; 0 without managedFields
}

// uid is a binary UID. It is zero if the text is not a UID.
type uid [16]byte

func parseUID(text string) (u uid) {
	if raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err == nil && len(raw) == len(u) {
		copy(u[:], raw)
	}
	return u
}

func (u uid) String() string {
	if u == (uid{}) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// byKin sorts candidates by kin, content and time, so that the members of a group are adjacent.
type byKin struct{ *candidates }

func (c byKin) Len() int { return len(c.records) }

func (c byKin) Swap(i, j int) {
	c.records[i], c.records[j] = c.records[j], c.records[i]
	c.details[i], c.details[j] = c.details[j], c.details[i]
}

func (c byKin) Less(i, j int) bool {
	a, b, x, y := c.records[i], c.records[j], c.details[i], c.details[j]
	content := cmp.Compare(x.content, y.content)
	if a.kin&hasID != 0 { // objects with one creation ID are a group, whatever their content is now
		content = 0
	}
	return cmp.Or(cmp.Compare(a.kin, b.kin), content, cmp.Compare(a.created, b.created), cmp.Compare(a.end, b.end)) < 0
}

// comparison reads and compares candidates.
type comparison struct {
	reader *census.Reader
	seed   maphash.Seed
	report func(done int64) // may be nil

	mu       sync.Mutex
	done     int64
	managers []string // the first is empty
	skipped  []census.Skipped
	unequal  incomparable
}

// all fills in the details of all candidates. It skips lists that can't be read.
func (c *comparison) all(ctx context.Context, all *found) {
	lists := map[listKey][]*candidates{}
	for _, these := range all.candidates {
		key := listKey{these.resource, these.namespace}
		lists[key] = append(lists[key], these)
	}
	var group errgroup.Group
	group.SetLimit(getsAtOnce)
	for key, these := range lists {
		group.Go(func() error {
			if err := c.list(ctx, key, these, all.objects[key]); err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.skipped = append(c.skipped, census.SkippedBy(ctx, key.resource, key.namespace, err))
			}
			return nil
		})
	}
	_ = group.Wait()
	slices.SortFunc(c.skipped, func(a, b census.Skipped) int { return strings.Compare(a.Message, b.Message) })
}

// list fills in the details of the candidates of one list. objects is the size of the list.
func (c *comparison) list(ctx context.Context, key listKey, these []*candidates, objects int64) error {
	wanted := 0
	for _, at := range these {
		wanted += len(at.records)
		at.details = make([]detail, len(at.records))
		slices.SortFunc(at.records, func(a, b record) int { return cmp.Compare(a.end, b.end) })
	}
	if int64(wanted)*listedFrom < objects {
		return c.each(ctx, key, these)
	}
	asked := decode.Asked{Whole: true}
	return c.reader.List(ctx, key.resource, key.namespace, asked, func() census.Visitor {
		return &listed{c, key.resource, places(these)}
	})
}

// places returns candidates by their prefix.
func places(these []*candidates) map[string]*candidates {
	at := map[string]*candidates{}
	for _, c := range these {
		at[c.prefix] = c
	}
	return at
}

// each reads the candidates by their names.
func (c *comparison) each(ctx context.Context, key listKey, these []*candidates) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(getsAtOnce)
	visitor := &listed{c, key.resource, places(these)}
	for _, at := range these {
		for _, r := range at.records {
			group.Go(func() error {
				asked := decode.Asked{Whole: true}
				return c.reader.Get(ctx, key.resource, key.namespace, at.prefix+r.end.String(), asked, visitor.Visit)
			})
		}
	}
	return group.Wait()
}

// listed is the visitor of the second pass.
type listed struct {
	*comparison
	resource census.Resource
	at       map[string]*candidates
}

// Visit fills in the details of an object that is a candidate. It is safe for concurrent use because
// each call gets another object.
func (l *listed) Visit(o *decode.Object) error {
	base, end, ok := split(o)
	these := l.at[base]
	if !ok || these == nil || o.Deleting {
		return nil
	}
	byEnd := func(r record, end suffix) int { return cmp.Compare(r.end, end) }
	at, is := slices.BinarySearchFunc(these.records, end, byEnd)
	if !is || these.records[at].created != uint32(o.Created) {
		return nil
	}
	object, err := parse(l.resource, o.Raw)
	if err != nil {
		return err
	}
	content, err := contentOf(l.seed, object)
	if err != nil {
		l.unequal.add(listKey{l.resource, o.Namespace}, o.Name)
		return nil
	}
	these.details[at] = detail{
		content: max(content.hash, 1), // 0 stands for an object that is gone
		uid:     parseUID(o.UID),
		failed:  failedAt(object),
		manager: l.numberOf(content.manager),
	}
	return nil
}

func (*listed) Commit() {}

// numberOf returns the index of a manager, and reports another compared candidate.
func (c *comparison) numberOf(manager string) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done++; c.report != nil {
		c.report(c.done)
	}
	at := slices.Index(c.managers, manager)
	if at < 0 {
		at = len(c.managers)
		c.managers = append(c.managers, manager)
	}
	return uint32(at)
}

// Incomparable is the reason for objects whose managedFields are invalid.
const Incomparable census.Reason = "incomparable"

// incomparable are the names of objects that can't be compared. It is safe for concurrent use.
type incomparable struct {
	mu    sync.Mutex
	names map[listKey]map[string]bool
}

func (i *incomparable) add(key listKey, name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.names == nil {
		i.names = map[listKey]map[string]bool{}
	}
	if i.names[key] == nil {
		i.names[key] = map[string]bool{}
	}
	i.names[key][name] = true
}

func (i *incomparable) skipped() (skipped []census.Skipped) {
	for key, names := range i.names {
		skipped = append(skipped, census.Skipped{
			Group: key.resource.Group, Resource: key.resource.Resource, Namespace: key.namespace, Reason: Incomparable,
			Message: "managedFields are invalid in " + humanize.Few(slices.Sorted(maps.Keys(names))),
		})
	}
	return skipped
}

// parse reads an object and sets its type, because items of a list may lack it.
func parse(of census.Resource, raw []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		return nil, decode.Malformed(fmt.Sprintf("an object: %v", err))
	}
	object.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind))
	return object, nil
}

// sorted sorts the records and details of candidates in the order of groups. It drops objects that are
// gone.
func (c *candidates) sorted() {
	kept := 0
	for i := range c.records {
		if c.details[i].content != 0 {
			c.records[kept], c.details[kept] = c.records[i], c.details[i]
			kept++
		}
	}
	c.records, c.details = c.records[:kept], c.details[:kept]
	sort.Sort(byKin{c})
}
