package audit

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// The columns that identify rows, or that a narrow terminal omits.
const (
	namespaceColumn = "NAMESPACE"
	resourceColumn  = "RESOURCE"
	prefixColumn    = "PREFIX"
	creatorColumn   = "CREATOR"
	notesColumn     = "NOTES"
	last10mColumn   = "LAST-10M"
	last24hColumn   = "LAST-24H"
	rateColumn      = "RATE"
	deletedColumn   = "DELETED"
)

// row is a row of the table: a prefix, or the fold of several.
type row struct {
	v1alpha1.AuditItem
	fold *v1alpha1.AuditFolded // nil for a prefix
	at   time.Time             // of the counts
}

// rowsOf returns the rows of a report. The folds are among the prefixes, in an order.
func rowsOf(report *v1alpha1.AuditReport, order audit.Order) []row {
	var rows []row
	at := report.Metadata.CreationTimestamp.Time
	for i := range report.Folded {
		f := &report.Folded[i]
		rows = append(rows, row{fold: f, at: at, AuditItem: v1alpha1.AuditItem{
			PrefixRef: v1alpha1.PrefixRef{Group: f.Group, Resource: f.Resource, Namespace: f.Namespace}, Names: f.Names,
			Last10m: f.Last10m, Last24h: f.Last24h, Measured: f.Measured,
			Creators: f.Creators, CreatorCount: len(f.Creators), Orphaned: f.Orphaned, Deleting: f.Deleting,
		}})
	}
	folds := len(rows)
	for _, item := range report.Items {
		rows = append(rows, row{AuditItem: item, at: at})
	}
	if folds > 0 {
		slices.SortStableFunc(rows, compareRows(order))
	}
	if top := report.Scope.Top; top > 0 {
		rows = rows[:min(len(rows), top)]
	}
	return rows
}

// compareRows returns the order of rows. By prefix, folds come first.
func compareRows(order audit.Order) func(a, b row) int {
	if order == audit.ByPrefix {
		return func(a, b row) int { return cmp.Compare(a.Prefix, b.Prefix) }
	}
	first := func(r row) float64 { return order.Of(r.Names, r.Last10m, r.Last24h, r.Measured) }
	return func(a, b row) int { return cmp.Or(cmp.Compare(first(b), first(a)), cmp.Compare(b.Names, a.Names)) }
}

// column is one column of a table.
type column struct {
	name  string
	right bool // numbers
	cell  func(*row) string
}

// layout decides how a command prints its tables.
type layout struct {
	out        io.Writer
	order      audit.Order
	namespaces bool // rows have their namespace
	headers    bool
	wide       bool // all columns, and whole cells
	limited    bool // a terminal has rowsOnTerminal rows at most
}

func (o *options) layout() layout {
	return layout{
		out: o.Out, order: o.config.Order, namespaces: o.scope.AllNamespaces, headers: !o.printFlags.NoHeaders,
		wide: o.wide, limited: !o.topGiven,
	}
}

// rowsOnTerminal is the largest number of rows on a terminal without --top.
const rowsOnTerminal = 20

// table returns the table of rows, and the number of rows that it leaves out. On a terminal, rows fit the width.
func (l layout) table(columns []column, rows []row, giving []string) (t *table.Table, below int) {
	onTerminal := terminal.IsTerminal(l.out)
	if onTerminal && l.limited {
		below = max(len(rows)-rowsOnTerminal, 0)
		rows = rows[:len(rows)-below]
	}
	t = tableOf(columns, rows)
	if onTerminal && !l.wide {
		t = fit(t, terminal.Width(l.out), giving)
	}
	return t, below
}

// auditColumns returns the columns of an audit's table.
func (l layout) auditColumns(report *v1alpha1.AuditReport) []column {
	columns := append(placeColumns(l.namespaces),
		column{"NAMES", true, func(r *row) string { return humanize.Grouped(r.Names) }},
		column{last10mColumn, true, func(r *row) string { return countText(r.Last10m) }},
		column{last24hColumn, true, func(r *row) string { return countText(r.Last24h) }})
	if report.Scope.ComparedWith != nil {
		columns = append(columns, column{"GROWTH/DAY", true, func(r *row) string { return growthText(r.Growth) }})
	}
	columns = append(columns, column{creatorColumn, false, creatorText})
	if l.wide {
		columns = append(columns,
			column{"ATTEMPTS", true, ofPrefix(attemptsText)},
			column{"ROOM", true, ofPrefix(roomText)},
			column{"OLDEST", true, ofPrefix(func(r *row) string { return ageText(r.Oldest, r.at) })},
			column{"NEWEST", true, ofPrefix(func(r *row) string { return ageText(r.Newest, r.at) })})
	}
	gated := report.Gate != nil && (report.Gate.FailAbove != nil || report.Gate.FailAboveCount != nil)
	return append(columns, column{notesColumn, false, func(r *row) string { return notesText(r, gated) }})
}

// ofPrefix returns the text of a column that is empty for folds: it is about single prefixes.
func ofPrefix(text func(*row) string) func(*row) string {
	return func(r *row) string {
		if r.fold != nil {
			return ""
		}
		return text(r)
	}
}

// placeColumns returns the columns that identify the prefix of a row.
func placeColumns(namespaces bool) []column {
	columns := []column{
		{resourceColumn, false, func(r *row) string { return humanize.Type(r.Group, r.Resource) }},
		{prefixColumn, false, prefixText},
	}
	if namespaces {
		columns = slices.Insert(columns, 0, column{namespaceColumn, false, func(r *row) string { return r.Namespace }})
	}
	return columns
}

// tableOf returns the text of rows.
func tableOf(columns []column, rows []row) *table.Table {
	t := &table.Table{}
	for _, c := range columns {
		t.Columns = append(t.Columns, table.Column{Name: c.name, Right: c.right, CutEnd: c.name == creatorColumn})
	}
	for i := range rows {
		cells := make([]string, len(columns))
		for at, c := range columns {
			cells[at] = c.cell(&rows[i])
		}
		t.Add(cells...)
	}
	return t
}

// givingWay returns the columns that an audit omits on a narrow terminal. The columns of the order and of the verdict
// stay.
func givingWay(order audit.Order, verdict *v1alpha1.AuditVerdict) []string {
	stays := ""
	if verdict != nil && len(verdict.MostCreated) > 0 {
		if stays = last24hColumn; audit.IsSudden(verdict.MostCreated[0]) {
			stays = last10mColumn
		}
	}
	return slices.DeleteFunc([]string{last24hColumn, notesColumn, last10mColumn}, func(name string) bool {
		return name == stays || strings.EqualFold(name, string(order))
	})
}

// fit returns the table so that rows fit into a width, if they can. It first omits API groups, and then the columns in
// giving. Notes move below their rows and are never shortened. Then it shortens namespaces, then types, creators and
// prefixes. Last, it omits creators.
func fit(t *table.Table, width int, giving []string) *table.Table {
	if t.Width() > width {
		t = withoutGroups(t)
	}
	for _, name := range giving {
		switch {
		case t.Width() <= width:
		case name == notesColumn:
			t = t.Below(name, width)
		default:
			t = t.Without(name)
		}
	}
	fitted := t.Fit(width)
	if fitted.Width() > width {
		fitted = t.Without(creatorColumn).Fit(width)
	}
	return fitted
}

// withoutGroups returns the table with jobs instead of jobs.batch, unless two types would have one name.
func withoutGroups(t *table.Table) *table.Table {
	at := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == resourceColumn })
	short := &table.Table{Columns: t.Columns}
	types := map[string]string{}
	for _, cells := range t.Rows {
		cells = slices.Clone(cells)
		whole := cells[at]
		cells[at], _, _ = strings.Cut(whole, ".")
		if other, known := types[cells[at]]; known && other != whole {
			return t
		}
		types[cells[at]] = whole
		short.Rows = append(short.Rows, cells)
	}
	return short
}
