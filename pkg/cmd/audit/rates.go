package audit

import (
	"math"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// rateUnit is the unit of all rates on a screen.
type rateUnit struct {
	name   string
	perDay float64
}

// rateUnits are the units, the shortest first.
var rateUnits = []rateUnit{{"/s", 24 * 60 * 60}, {"/min", 24 * 60}, {"/h", 24}}

// unitOf returns the shortest unit in which the fastest of some rows changes at least once.
func unitOf(rows []row) rateUnit {
	fastest := 0.0
	for _, r := range rows {
		if m := r.Measured; m != nil && m.RatePerDay != nil {
			fastest = max(fastest, math.Abs(*m.RatePerDay))
		}
	}
	for _, unit := range rateUnits {
		if fastest >= unit.perDay {
			return unit
		}
	}
	return rateUnits[len(rateUnits)-1]
}

// text returns how fast a row grows. The rate is unknown in the first ten seconds.
func (u rateUnit) text(r *row) string {
	m := r.Measured
	if m == nil || m.RatePerDay == nil {
		return humanize.Unknown
	}
	return signed(*m.RatePerDay/u.perDay) + u.name
}

// sinceText returns the number of creates or deletes since the start. After a gap, it is a lower bound.
func sinceText(r *row, count func(*v1alpha1.Measured) int64) string {
	m := r.Measured
	if m == nil {
		return humanize.Unknown
	}
	text := humanize.Grouped(count(m))
	if m.Gaps > 0 {
		return "≥" + text
	}
	return text
}

// watchColumns returns the columns of the table of a watch. All rates have the unit of the fastest row.
func (o *options) watchColumns(rows []row) []column {
	unit := unitOf(rows)
	columns := append(o.placeColumns(),
		column{"RATE", true, unit.text},
		column{"CREATED", true, func(r *row) string {
			return sinceText(r, func(m *v1alpha1.Measured) int64 { return m.Creates })
		}},
		column{"DELETED", true, func(r *row) string {
			return sinceText(r, func(m *v1alpha1.Measured) int64 { return m.Deletes })
		}},
		column{"NAMES", true, func(r *row) string { return humanize.Grouped(r.Names) }},
		column{creatorColumn, false, creatorText})
	return append(columns, column{notesColumn, false, func(r *row) string { return notesText(r, false) }})
}

// quiet counts prefixes without a create or delete since the start.
type quiet struct{ prefixes, names int64 }

// split returns the rows of a report in an order, and the quiet prefixes. Prefixes that can't be watched
// are rows.
func split(report *v1alpha1.AuditReport, order audit.Order) (rows []row, still quiet) {
	for _, r := range rowsOf(report, order) {
		if m := r.Measured; m != nil && m.Creates == 0 && m.Deletes == 0 {
			still.names += r.Names
			still.prefixes++
			if r.fold != nil {
				still.prefixes += r.fold.Prefixes - 1
			}
			continue
		}
		rows = append(rows, r)
	}
	return rows, still
}
