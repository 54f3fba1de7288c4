package assess

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Survey takes the spaces of a census as they come and keeps what a report
// shows: its memory grows with that, not with the number of prefixes.
type Survey struct {
	Lens Lens
	// RetriesOf tells the tries of an API, and what else is known of them.
	RetriesOf func(schema.GroupVersion) (v1alpha1.Retries, string)
	// MinCount hides prefixes with fewer names. Top, if not 0, keeps only so
	// many items, the first by Order.
	MinCount int64
	Top      int
	Order    Order
	// Prefixes, if any, are the only effective prefixes that are taken.
	Prefixes []string
	// FailAbove and FailAboveCount are the gates, nil for none.
	FailAbove      *float64
	FailAboveCount *int64

	kept
}

// MaxExceeded is how many of the spaces that exceed a gate a report names.
const MaxExceeded = 1000

// kept is what is kept of the spaces seen.
type kept struct {
	rows          []*row
	exceeded      []v1alpha1.AuditExceeded
	exceededCount int64
	hidden        map[place]v1alpha1.AuditHidden
	prefixes      int64
	found         map[string]bool // of Survey.Prefixes
	err           error
}

// row is a space that the report may show.
type row struct {
	census.Space
	risk float64 // of the next create; trim sets it
}

// place is a resource in a namespace.
type place struct {
	resource  schema.GroupResource
	namespace string
}

// Begin makes the batch of one list, for census.Scanner.
func (s *Survey) Begin() census.Batch { return &batch{survey: s} }

type batch struct {
	survey *Survey
	kept
}

// Add implements census.Batch. There may be a million spaces, so items are made
// only of those that the report shows, at the end; nor does a list wait for
// RetriesOf, unless there is a gate or a Top.
func (b *batch) Add(space census.Space) {
	s := b.survey
	if space.Names == 0 || len(s.Prefixes) > 0 && !slices.Contains(s.Prefixes, space.Prefix) {
		return
	}
	b.prefixes++
	if len(s.Prefixes) > 0 {
		b.find(space.Prefix)
	}
	b.fail(b.judge(space))
	if space.Names < s.MinCount {
		b.hide(place{space.Resource.GroupResource(), space.Namespace}, 1, space.Names)
		return
	}
	b.rows = append(b.rows, &row{Space: space})
	if s.Top > 0 && len(b.rows)/2 >= s.Top {
		b.trim(s)
	}
}

// judge remembers the space if it exceeds a gate.
func (b *batch) judge(space census.Space) error {
	s := b.survey
	tooMany := s.FailAboveCount != nil && space.Names > *s.FailAboveCount
	if !tooMany && s.FailAbove == nil {
		return nil
	}
	risk, err := s.riskOf(space)
	if err != nil || !tooMany && risk <= *s.FailAbove {
		return err
	}
	b.exceededCount++
	b.exceeded = append(b.exceeded, v1alpha1.AuditExceeded{
		Resource:  space.Resource.GroupResource().String(),
		Namespace: space.Namespace, Prefix: space.Prefix, Names: space.Names, NextCreate: risk,
	})
	if len(b.exceeded) >= 2*MaxExceeded {
		b.trimExceeded()
	}
	return nil
}

// Commit implements census.Batch.
func (b *batch) Commit() {
	all := &b.survey.kept
	all.rows = append(all.rows, b.rows...)
	all.exceeded = append(all.exceeded, b.exceeded...)
	all.exceededCount += b.exceededCount
	for at, hidden := range b.hidden {
		all.hide(at, hidden.Prefixes, hidden.Objects)
	}
	all.prefixes += b.prefixes
	for prefix := range b.found {
		all.find(prefix)
	}
	all.fail(b.err)
	if b.survey.Top > 0 {
		all.trim(b.survey)
	}
	all.trimExceeded()
}

// fail remembers the first error.
func (k *kept) fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// trim sorts the rows and hides those below the top.
func (k *kept) trim(s *Survey) {
	for _, r := range k.rows {
		var err error
		r.risk, err = s.riskOf(r.Space)
		k.fail(err)
	}
	slices.SortFunc(k.rows, s.Order)
	if s.Top == 0 || len(k.rows) <= s.Top {
		return
	}
	for _, r := range k.rows[s.Top:] {
		k.hide(place{r.Resource.GroupResource(), r.Namespace}, 1, r.Names)
	}
	clear(k.rows[s.Top:])
	k.rows = k.rows[:s.Top]
}

// trimExceeded sorts what exceeds a gate and forgets all but the worst.
func (k *kept) trimExceeded() {
	slices.SortFunc(k.exceeded, func(a, b v1alpha1.AuditExceeded) int {
		return cmp.Or(
			cmp.Compare(b.NextCreate, a.NextCreate), cmp.Compare(b.Names, a.Names),
			cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Resource, b.Resource))
	})
	k.exceeded = k.exceeded[:min(len(k.exceeded), MaxExceeded)]
}

func (k *kept) hide(at place, prefixes, names int64) {
	if k.hidden == nil {
		k.hidden = map[place]v1alpha1.AuditHidden{}
	}
	before := k.hidden[at]
	k.hidden[at] = v1alpha1.AuditHidden{Prefixes: before.Prefixes + prefixes, Objects: before.Objects + names}
}

func (k *kept) find(prefix string) {
	if k.found == nil {
		k.found = map[string]bool{}
	}
	k.found[prefix] = true
}

// NotFound are those of Prefixes that no name has.
func (s *Survey) NotFound() (prefixes []string) {
	for _, prefix := range s.Prefixes {
		if !s.found[prefix] {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// Hidden is how many names of one resource in one namespace a report does not
// show.
type Hidden struct {
	Resource  schema.GroupResource
	Namespace string
	Names     int64
}

// MostHidden is where the most names are hidden; of equals, the first by
// resource and namespace.
func (s *Survey) MostHidden() (most Hidden) {
	for at, hidden := range s.hidden {
		h := Hidden{at.resource, at.namespace, hidden.Objects}
		if cmp.Or(cmp.Compare(h.Names, most.Names), cmp.Compare(most.Resource.String(), h.Resource.String()), cmp.Compare(most.Namespace, h.Namespace)) > 0 {
			most = h
		}
	}
	return most
}

func (s *Survey) gated() bool { return s.FailAbove != nil || s.FailAboveCount != nil }

// riskOf is the chance that the next create in a space conflicts with the
// attempts in force; unknown attempts count as one.
func (s *Survey) riskOf(space census.Space) (float64, error) {
	tries := 1
	if retries, _ := s.RetriesOf(space.Resource.GroupVersion()); retries.Attempts != nil {
		tries = *retries.Attempts
	}
	model, err := modelOf(tries)
	return model.NextFails(space.Names), err
}

// Fill puts what was found into the report.
func (s *Survey) Fill(report *v1alpha1.AuditReport) error {
	s.trim(s)
	report.Items = make([]v1alpha1.AuditItem, len(s.rows))
	for i, r := range s.rows {
		retries, note := s.RetriesOf(r.Resource.GroupVersion())
		var err error
		report.Items[i], err = s.Lens.Item(r.Space, retries, note)
		s.fail(err)
	}
	for _, hidden := range s.hidden {
		report.Hidden.Prefixes += hidden.Prefixes
		report.Hidden.Objects += hidden.Objects
	}
	report.Summary.Prefixes = s.prefixes
	if s.gated() {
		report.Gate = &v1alpha1.AuditGate{
			FailAbove: s.FailAbove, FailAboveCount: s.FailAboveCount, ExceededCount: s.exceededCount,
			Exceeded: append([]v1alpha1.AuditExceeded{}, s.exceeded...),
		}
	}
	return s.err
}
