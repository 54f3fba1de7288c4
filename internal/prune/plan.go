package prune

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/internal/stem"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// maxSimilar limits the number of generateNames per type in NotFound.Similar.
	maxSimilar = 20
	// maxCreators limits Pool.Creators. If there are more creators, the last element stands for the rest.
	maxCreators = 20
)

// Pool is the plan for one generateName in one namespace.
type Pool struct {
	Resource          census.Resource
	Namespace, Prefix string

	Objects  []Object // to delete, the oldest first
	Left     map[v1alpha1.PruneReason]int64
	Creators []v1alpha1.PruneCreator // creators of the objects to delete, in the order of the list
	Tied     int64                   // objects to delete that were created in the same second as one that Keep keeps
	Job      string                  // a Job that is the controller of an object that is left, or ""

	rules    *rules
	helm     bool  // its objects are revisions of a release of Helm
	deployed bool  // one of them is deployed
	newest   int64 // when the newest object with this generateName was created, in Unix seconds
}

// Plan lists the objects to delete.
type Plan struct {
	Pools    []*Pool    // by resource type, namespace and prefix
	NotFound []NotFound // in the order of the targets
	// Skipped are the types that prune can't list. Their objects might use objects of the plan.
	Skipped []v1alpha1.Skipped

	uses   *uses
	reader *census.Reader // lists the users of objects
}

// NotFound is a prefix that the user named, but that no object has.
type NotFound struct {
	Resource census.Resource
	Prefix   string
	Nearest  pools.Near // the generateName most like it
	IsStem   bool       // it is the stem of objects without a generateName
	Similar  []string   // generateNames that are equal after truncation, and were not named
}

// Newest returns the creation time of the newest object in all pools, in Unix seconds, or 0.
func (p *Plan) Newest() (newest int64) {
	for _, pool := range p.Pools {
		newest = max(newest, pool.newest)
	}
	return newest
}

// Objects returns the objects to delete, in the order of Pools.
func (p *Plan) Objects() iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for _, pool := range p.Pools {
			for _, o := range pool.Objects {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Plan lists the objects of the targets once, and plans their deletion. Plan calls progress with the number of
// candidates found so far.
func (p *Pruner) Plan(ctx context.Context, targets []Target, progress func(found int64)) (*Plan, error) {
	var l *listing
	scanner := &census.Scanner{
		Config: p.Lists, Version: p.Version, RetryTimeout: p.RetryTimeout, Unreachable: p.Unreachable,
	}
	if progress != nil {
		scanner.Progress = func(census.Progress) { progress(l.found) }
	}
	reader, err := scanner.Reader()
	if err != nil {
		return nil, err
	}
	reader.Selector = p.Criteria.Selector
	plan := &Plan{}
	var listings []*listing
	for _, target := range targets {
		rules, err := newRules(target, p.Criteria)
		if err != nil {
			return nil, err
		}
		namespace := ""
		if target.Resource.Namespaced {
			namespace = p.Namespace
		}
		newVisitor := func() census.Visitor {
			l = newListing(rules)
			return census.VisitFunc(l.visit)
		}
		options := decode.Options{Raw: rules.needsRaw(), Job: p.Criteria.Orphaned}
		if err := reader.List(ctx, target.Resource, namespace, options, newVisitor); err != nil {
			return nil, fmt.Errorf("list %s: %w", target.Resource.GroupResource(), err)
		}
		listings = append(listings, l)
	}
	// An object is created before other objects use it. So Plan lists the users and the Jobs of Pods last. The selector
	// doesn't apply to these lists.
	reader.Selector, plan.reader = "", reader
	var listed []*Pool
	for _, l := range listings {
		listed = slices.AppendSeq(listed, maps.Values(l.pools))
	}
	if plan.uses, err = p.usesOf(ctx, reader, listed); err == nil && p.Criteria.Orphaned {
		err = p.keepOfJobs(ctx, reader, listed)
	}
	if err != nil {
		return nil, err
	}
	for _, pool := range listed {
		pool.leave(v1alpha1.PruneInUse, plan.uses.has)
	}
	for i, l := range listings {
		plan.add(l, targets[i].Prefixes)
	}
	if slices.ContainsFunc(plan.Pools, func(p *Pool) bool { return isUsable(p) && len(p.Objects) > 0 }) {
		plan.Skipped = plan.uses.skipped
	}
	slices.SortStableFunc(plan.Pools, func(a, b *Pool) int {
		return cmp.Or(
			strings.Compare(a.Resource.GroupResource().String(), b.Resource.GroupResource().String()),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Prefix, b.Prefix),
		)
	})
	return plan, nil
}

// add decides about the objects of one resource type. named are the prefixes that the user named.
func (p *Plan) add(l *listing, named []string) {
	for _, pool := range l.pools {
		listed, last := pool.Objects, pool.lastRevision()
		pool.Objects = listed[:0] // decide has read an object before it yields it
		for d := range decide(listed, l.rules.criteria) {
			if d.Object.UID == last {
				d.Reason = v1alpha1.PruneActive
			}
			if d.Reason != "" {
				pool.Left[d.Reason]++
				pool.Creators[d.Object.creator].Left++
				continue
			}
			if d.Tied {
				pool.Tied++
			}
			pool.Objects = append(pool.Objects, d.Object)
			pool.Creators[d.Object.creator].Chosen++
		}
		slices.SortStableFunc(pool.Objects, l.rules.criteria.byAge) // an interrupt leaves the newest
		p.Pools = append(p.Pools, pool)
	}
	for _, prefix := range named {
		if !l.exists(prefix) {
			similar := slices.DeleteFunc(slices.Sorted(maps.Keys(l.similar)), func(other string) bool {
				return names.EffectivePrefix(other) != names.EffectivePrefix(prefix)
			})
			missing := NotFound{l.rules.resource, prefix, *l.nearest[prefix], l.stems[prefix], similar}
			p.NotFound = append(p.NotFound, missing)
		}
	}
}

// listing has the objects of one resource type.
type listing struct {
	rules   *rules
	pools   map[[2]string]*Pool    // by namespace and prefix
	similar map[string]bool        // unnamed generateNames that are equal to a named one after truncation
	nearest map[string]*pools.Near // by named prefix
	stems   map[string]bool        // named prefixes that are stems of objects without a generateName
	other   string                 // the last generateName that no named one is like
	found   int64
}

func newListing(rules *rules) *listing {
	l := &listing{
		rules: rules, pools: map[[2]string]*Pool{}, similar: map[string]bool{}, nearest: map[string]*pools.Near{},
		stems: map[string]bool{},
	}
	for named := range rules.named {
		l.nearest[named] = &pools.Near{}
	}
	return l
}

func (l *listing) visit(o *object.Object) error {
	prefix, ok := l.rules.prefixOf(o)
	if !ok {
		l.compare(l.rules.other(o))
		if stem := stem.Of(o.Name).Prefix; l.rules.named[stem] && o.GenerateName == "" {
			l.stems[stem] = true
		}
		return nil
	}
	if shared := names.EffectivePrefix(o.GenerateName); len(shared) >= names.MaxPrefixLength &&
		!l.rules.named[o.GenerateName] && l.rules.prefixes[shared] != "" && len(l.similar) < maxSimilar {
		l.similar[o.GenerateName] = true
	}
	pool := l.pool(o.Namespace, prefix)
	reason, status := l.rules.leftReason(o)
	if reason != v1alpha1.PruneNotGenerated {
		pool.newest = max(pool.newest, o.Created, 1)
	}
	if reason != "" {
		pool.Left[reason]++
		pool.deployed = pool.deployed || reason == v1alpha1.PruneActive && o.Labels["status"] == "deployed"
		if c := o.Creator; reason == v1alpha1.PruneControlled && c.Kind == "Job" && c.APIVersion == "batch/v1" {
			pool.Job = c.Name
		}
		return nil
	}
	pool.add(o, status)
	l.found++
	return nil
}

// compare offers the prefix of an unnamed object as the nearest prefix. It skips a prefix that equals the one before.
func (l *listing) compare(other string) {
	if other == "" || other == l.other {
		return
	}
	l.other = other
	for named, near := range l.nearest {
		near.Offer(named, other, 1)
	}
}

// exists reports whether an object has the prefix as its generateName, or as its stem with Criteria.Stem.
func (l *listing) exists(prefix string) bool {
	for at, pool := range l.pools {
		if at[1] == prefix && pool.newest > 0 {
			return true
		}
	}
	return false
}

func (l *listing) pool(namespace, prefix string) *Pool {
	key := [2]string{namespace, prefix}
	if l.pools[key] == nil {
		l.pools[key] = &Pool{
			Resource: l.rules.resource, Namespace: namespace, Prefix: prefix,
			Left: map[v1alpha1.PruneReason]int64{}, rules: l.rules,
		}
	}
	return l.pools[key]
}

// add adds an object. All texts of an object share one allocation, because a plan can have a million objects.
func (p *Pool) add(o *object.Object, status finished.Status) {
	text := o.Name + o.UID + o.ResourceVersion
	uid, version := len(o.Name), len(o.Name)+len(o.UID)
	added := Object{
		Pool: p, Name: text[:uid], UID: text[uid:version], ResourceVersion: text[version:], Created: o.Created,
		creator: p.creator(o.Creator), failed: status.State == finished.Failed,
		Running: status.State == finished.Running, ended: status.Ended.Unix(),
	}
	p.helm = p.helm || isOfHelm(o)
	if p.rules.criteria.Orphaned {
		added.job = &object.JobRef{Name: o.Job.Name, UID: o.Job.UID}
	}
	p.Objects = append(p.Objects, added)
}

// leave removes the objects for which is returns true from Objects, and counts them in Left.
func (p *Pool) leave(reason v1alpha1.PruneReason, is func(Object) bool) {
	listed := len(p.Objects)
	p.Objects = slices.DeleteFunc(p.Objects, is)
	if left := listed - len(p.Objects); left > 0 {
		p.Left[reason] += int64(left)
	}
}

// lastRevision returns the UID of the newest revision of a Helm release, or "" if a revision is deployed. Helm can't
// find a release without revisions. If an upgrade was killed, this revision can be the only one for a rollback.
func (p *Pool) lastRevision() string {
	if !p.rules.criteria.Stem || !p.helm || p.deployed || len(p.Objects) == 0 {
		return ""
	}
	return slices.MinFunc(p.Objects, compareStems).UID
}

func (p *Pool) creator(c object.Creator) int8 {
	name := cmp.Or(c.Manager, "unknown")
	if c.Kind != "" {
		name = c.Kind + "/" + c.Name
	}
	at := slices.IndexFunc(p.Creators, func(known v1alpha1.PruneCreator) bool { return known.Creator == name })
	if at >= 0 {
		return int8(at)
	}
	if len(p.Creators) == maxCreators {
		p.Creators[maxCreators-1].Creator = "others"
		return maxCreators - 1
	}
	p.Creators = append(p.Creators, v1alpha1.PruneCreator{Creator: name})
	return int8(len(p.Creators) - 1)
}
