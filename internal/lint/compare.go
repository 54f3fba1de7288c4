package lint

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// compare adds the findings between objects. Their positions need the files again.
func (r *Result) compare(in *rules.Input, config Config, order map[string]int) {
	var late []*Finding
	for _, rule := range rules.All {
		if slices.Contains(config.Disabled, rule.Name) {
			continue
		}
		for _, found := range rule.Compare(in) {
			f := &Finding{Finding: found}
			for _, related := range found.Related {
				f.Related = append(f.Related, Related{Related: related})
			}
			late = append(late, f)
		}
	}
	locate(late, order)
	for _, f := range late {
		r.Findings = append(r.Findings, *f)
	}
}

// wanted is a position that is needed, and how it is found.
type wanted struct {
	object rules.Object
	find   func() manifest.Position
	at     *manifest.Position
}

// locate finds the positions of findings. It reads each file once.
func locate(late []*Finding, order map[string]int) {
	var all []wanted
	for _, f := range late {
		all = append(all, wanted{f.Object, f.Finding.Position, &f.Position})
		for i := range f.Related {
			related := &f.Related[i]
			all = append(all, wanted{related.Object, related.Related.Position, &related.Position})
		}
	}
	slices.SortStableFunc(all, func(a, b wanted) int {
		return cmp.Compare(order[a.object.File], order[b.object.File])
	})
	for i, w := range all {
		*w.at = w.find()
		if last := i == len(all)-1; last || all[i+1].object.Document.File() != w.object.Document.File() {
			w.object.Document.File().Release()
		}
	}
}
