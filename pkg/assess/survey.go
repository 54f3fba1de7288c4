package assess

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/census"
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

// kept is what is kept of the spaces seen.
type kept struct {
	items    []v1alpha1.AuditItem
	exceeded []v1alpha1.AuditExceeded
	hidden   v1alpha1.AuditHidden
	prefixes int64
	err      error
}

// Begin makes the batch of one list, for census.Scanner.
func (s *Survey) Begin() census.Batch { return &batch{survey: s} }

type batch struct {
	survey *Survey
	kept
}

// Add implements census.Batch.
func (b *batch) Add(space census.Space) {
	if space.Names == 0 || len(b.survey.Prefixes) > 0 && !slices.Contains(b.survey.Prefixes, space.Prefix) {
		return
	}
	retries, note := b.survey.RetriesOf(space.Resource.GroupVersion())
	item, err := b.survey.Lens.Item(space, retries, note)
	if err != nil {
		b.err = err
		return
	}
	b.prefixes++
	if b.survey.exceeds(item) {
		b.exceeded = append(b.exceeded, v1alpha1.AuditExceeded{
			Resource:  schema.GroupResource{Group: item.Group, Resource: item.Resource}.String(),
			Namespace: item.Namespace, Prefix: item.Prefix, Names: item.Names, NextCreate: Risk(item),
		})
	}
	if item.Names < b.survey.MinCount {
		b.hide(item)
		return
	}
	b.items = append(b.items, item)
	if top := b.survey.Top; top > 0 && len(b.items) >= 2*top {
		b.trim(b.survey)
	}
}

// Commit implements census.Batch.
func (b *batch) Commit() {
	all := &b.survey.kept
	all.items = append(all.items, b.items...)
	all.exceeded = append(all.exceeded, b.exceeded...)
	all.hidden.Prefixes += b.hidden.Prefixes
	all.hidden.Objects += b.hidden.Objects
	all.prefixes += b.prefixes
	if all.err == nil {
		all.err = b.err
	}
	all.trim(b.survey)
}

// trim sorts the items and hides those below the top.
func (k *kept) trim(s *Survey) {
	slices.SortFunc(k.items, s.Order)
	if s.Top == 0 || len(k.items) <= s.Top {
		return
	}
	for _, item := range k.items[s.Top:] {
		k.hide(item)
	}
	k.items = k.items[:s.Top]
}

func (k *kept) hide(item v1alpha1.AuditItem) {
	k.hidden.Prefixes++
	k.hidden.Objects += item.Names
}

func (s *Survey) exceeds(item v1alpha1.AuditItem) bool {
	return s.FailAbove != nil && Risk(item) > *s.FailAbove ||
		s.FailAboveCount != nil && item.Names > *s.FailAboveCount
}

// Fill puts what was found into the report.
func (s *Survey) Fill(report *v1alpha1.AuditReport) error {
	report.Items = append([]v1alpha1.AuditItem{}, s.items...)
	report.Hidden = s.hidden
	report.Summary.Prefixes = s.prefixes
	if s.FailAbove != nil || s.FailAboveCount != nil {
		report.Gate = &v1alpha1.AuditGate{
			FailAbove: s.FailAbove, FailAboveCount: s.FailAboveCount,
			Exceeded: append([]v1alpha1.AuditExceeded{}, s.exceeded...),
		}
	}
	return s.err
}
