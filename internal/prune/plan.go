package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// maxFirst limits the objects that a plan names.
	maxFirst = 5
	// maxSimilar limits Plan.Similar.
	maxSimilar = 20
)

// Ages are the upper limits of the ages that Pool.ByAge counts, in ascending order. The last count of
// Pool.ByAge covers all older objects.
var Ages = [3]time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

// Pool is the plan for one name pool.
type Pool struct {
	Resource          census.Resource
	Namespace, Prefix string

	Chosen         int64 // objects to delete
	ByAge          [len(Ages) + 1]int64
	Oldest, Newest time.Time // creation times of the objects to delete
	Left           map[Reason]int64
}

// Plan lists the objects to delete, as of one time.
type Plan struct {
	Time  time.Time // reference time of the ages
	Pools []Pool    // pools with objects, by resource type, namespace and prefix
	First []Object  // first objects to delete, in the order of the lists
	// Chosen counts the objects to delete in all pools. Left counts the other objects by reason.
	Chosen int64
	Left   map[Reason]int64

	// Similar has the generateNames that share a truncated prefix with a named one, and were not named.
	Similar map[census.Resource][]string

	at map[census.Resource]string // the resourceVersion of each list
}

// Plan reads the objects of the targets and returns the plan of the deletions. It passes the number of
// objects chosen so far to progress.
func (p *Pruner) Plan(ctx context.Context, targets []Target, now time.Time, progress func(found int64)) (*Plan, error) {
	plan := &Plan{
		Time: now, Left: map[Reason]int64{}, at: map[census.Resource]string{},
		Similar: map[census.Resource][]string{},
	}
	reader, err := p.reader()
	if err != nil {
		return nil, err
	}
	for _, target := range targets {
		if err := p.planTarget(ctx, reader, plan, target, progress); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// reader returns the reader of all lists.
func (p *Pruner) reader() (*census.Reader, error) {
	scanner := &census.Scanner{
		Config: p.Lists, Version: p.Version, RetryTimeout: p.RetryTimeout, Absent: p.Absent,
	}
	return scanner.Reader()
}

// planTarget adds one resource type to a plan.
func (p *Pruner) planTarget(
	ctx context.Context, reader *census.Reader, plan *Plan, target Target, progress func(int64),
) error {
	t := &tally{target: target, now: plan.Time, progress: progress, before: plan.Chosen}
	t.chooser = newChooser(target, p.Criteria, plan.Time, t)
	at, err := p.walk(ctx, reader, target.Resource, "", t)
	if err != nil {
		return err
	}
	t.end()
	plan.Similar[target.Resource] = slices.Sorted(maps.Keys(t.similar))
	plan.at[target.Resource] = at
	plan.add(t)
	return nil
}

// walk reads the objects of one resource type.
func (p *Pruner) walk(
	ctx context.Context, reader *census.Reader, r census.Resource, at string, to visitor,
) (string, error) {
	namespace := p.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	at, err := reader.Walk(ctx, census.Pages{
		Resource: r, Namespace: namespace, Selector: p.Criteria.Selector, At: at, Asked: to.asked(),
	}, to)
	var stop *stopped
	if err != nil && !errors.As(err, &stop) {
		err = fmt.Errorf("list %s: %w", r.GroupResource(), err)
	}
	return at, err
}

// visitor receives the objects of a walk.
type visitor interface {
	census.PageVisitor
	asked() decode.Asked
}

// add adds the results of one resource type.
func (p *Plan) add(t *tally) {
	p.First = append(p.First, t.first...)
	p.First = p.First[:min(len(p.First), maxFirst)]
	for _, found := range t.pools {
		p.Pools = append(p.Pools, *found)
		p.Chosen += found.Chosen
		for reason, n := range found.Left {
			p.Left[reason] += n
		}
	}
	slices.SortFunc(p.Pools, func(a, b Pool) int {
		return cmp.Or(
			strings.Compare(a.Resource.GroupResource().String(), b.Resource.GroupResource().String()),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Prefix, b.Prefix),
		)
	})
}

// tally counts the decisions of a chooser. It implements sink and visitor.
type tally struct {
	*chooser
	target   Target
	now      time.Time
	progress func(int64)
	before   int64 // objects chosen in earlier resource types

	pools   map[pool]*Pool
	first   []Object
	chose   int64
	similar map[string]bool // for Plan.Similar
}

// Begin implements census.PageVisitor.
func (t *tally) Begin(sorted bool) {
	t.pools, t.similar, t.first, t.chose = map[pool]*Pool{}, map[string]bool{}, nil, 0
	t.begin(sorted)
}

// Visit implements census.PageVisitor.
func (t *tally) Visit(o *decode.Object) {
	t.see(o.GenerateName)
	t.visit(o)
}

// EndPage implements census.PageVisitor.
func (t *tally) EndPage(context.Context) error {
	if t.progress != nil {
		t.progress(t.before + t.chose)
	}
	return nil
}

// see records a generateName that shares a truncated prefix.
func (t *tally) see(generateName string) {
	prefix := names.EffectivePrefix(generateName)
	if len(prefix) >= names.MaxPrefixLength && t.prefixes[prefix] && !t.named[generateName] && len(t.similar) < maxSimilar {
		t.similar[generateName] = true
	}
}

func (t *tally) chosen(o Object) {
	of := t.pool(pool{o.Namespace, o.Prefix})
	of.Chosen++
	if of.Oldest.IsZero() || o.Created.Before(of.Oldest) {
		of.Oldest = o.Created
	}
	if o.Created.After(of.Newest) {
		of.Newest = o.Created
	}
	of.ByAge[ageOf(t.now.Sub(o.Created))]++
	if len(t.first) < maxFirst {
		t.first = append(t.first, o)
	}
	t.chose++
}

// ageOf returns the index of an age in Pool.ByAge.
func ageOf(age time.Duration) int {
	i := 0
	for i < len(Ages) && age >= Ages[i] {
		i++
	}
	return i
}

func (t *tally) left(of pool, reason Reason, objects int64) { t.pool(of).Left[reason] += objects }

// pool returns the counts of a name pool, and creates them if needed.
func (t *tally) pool(of pool) *Pool {
	found := t.pools[of]
	if found == nil {
		found = &Pool{
			Resource: t.target.Resource, Namespace: of.namespace, Prefix: of.prefix, Left: map[Reason]int64{},
		}
		t.pools[of] = found
	}
	return found
}
