package audit

import (
	"math"
	"slices"

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

// givingWayInWatch are the columns of a watch that give way on a narrow terminal, before any name is shortened.
var givingWayInWatch = []string{notesColumn, creatorColumn, deletedColumn}

// watchColumns returns the columns of the table of a watch. All rates have the unit of the fastest row.
func watchColumns(rows []row, namespaces bool) []column {
	unit := unitOf(rows)
	columns := append(placeColumns(namespaces),
		column{rateColumn, true, unit.text},
		column{"CREATED", true, func(r *row) string {
			return sinceText(r, func(m *v1alpha1.Measured) int64 { return m.Creates })
		}},
		column{deletedColumn, true, func(r *row) string {
			return sinceText(r, func(m *v1alpha1.Measured) int64 { return m.Deletes })
		}},
		column{"NAMES", true, func(r *row) string { return humanize.Grouped(r.Names) }},
		column{creatorColumn, false, creatorText})
	return append(columns, column{notesColumn, false, func(r *row) string { return notesText(r, false) }})
}

// unknownLines explain the question marks of some rows of a watch.
func unknownLines(rows []row) (lines []string) {
	if slices.ContainsFunc(rows, func(r row) bool { return r.Measured != nil && r.Measured.RatePerDay == nil }) {
		lines = append(lines, "RATE is ? until a prefix has been watched for 10 seconds.")
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.Measured == nil }) {
		lines = append(lines, "RATE, CREATED and DELETED are ? for types that aren't watched.")
	}
	return lines
}
