package audit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// watchPrinter prints a watch.
type watchPrinter interface {
	show(*v1alpha1.AuditReport, live.Snapshot) error
	notice(text string)
	hint(text string) // shows a notice until there are rows
	// last returns the end of a watch, and the number of rows that it leaves out.
	last(report *v1alpha1.AuditReport) (v scan.View, below int)
}

// newWatchPrinter returns the printer for stdout: reports for programs, a screen, or rows in a
// pipe. A screen must be ended before its last report.
func (r *run) newWatchPrinter() (watchPrinter, *screenPrinter, error) {
	if r.session.Prints.ForMachines() {
		return &reportPrinter{r.session.Prints, r.session.IOStreams.Out, r.session.Stderr.Line}, nil, nil
	}
	screen, err := terminal.StartScreen(r.session.IOStreams.In, r.session.IOStreams.Out)
	if err != nil {
		return nil, nil, err
	}
	if screen != nil {
		p := &screenPrinter{layout: r.layout, duration: r.duration, line: r.session.Stderr.Line, screen: screen}
		return p, p, nil
	}
	return &rowPrinter{layout: r.layout, line: r.session.Stderr.Line}, nil, nil
}

// reportPrinter prints a report at each interval.
type reportPrinter struct {
	prints *output.Flags
	out    io.Writer
	line   func(text string) // prints a line on stderr
}

func (p *reportPrinter) show(r *v1alpha1.AuditReport, _ live.Snapshot) error {
	return p.prints.Print(r, p.out)
}
func (p *reportPrinter) last(*v1alpha1.AuditReport) (v scan.View, below int) { return v, 0 }
func (p *reportPrinter) notice(text string)                                  { p.line(text) }
func (p *reportPrinter) hint(text string)                                    { p.line(text) }

// rowPrinter prints all rows, and later those that have changed, as kubectl get --watch does. Columns
// keep the greatest width that they have had.
type rowPrinter struct {
	layout    layout
	line      func(text string)
	seen      changes
	explained bool  // the question marks
	widths    []int // nil before the header
}

func (p *rowPrinter) show(r *v1alpha1.AuditReport, _ live.Snapshot) error {
	changed, gone := p.seen.take(rowsOf(r, p.layout.order))
	if lines := unknownLines(changed); !p.explained {
		for _, text := range lines {
			p.line(text)
		}
		p.explained = len(lines) > 0
	}
	for _, pool := range gone {
		p.line(terminal.Sprintf("%s is no longer shown, because %s", pool.String(), goneText(r, pool)))
	}
	return p.print(changed)
}

// goneText returns the reason why a row is no longer printed.
func goneText(r *v1alpha1.AuditReport, pool v1alpha1.PrefixRef) string {
	switch top := r.Scope.Top; {
	case top > 0 && len(r.Items) == top:
		return fmt.Sprintf("it is not among the first %d", top)
	case pool.Naming == "" && strings.HasPrefix(pool.Prefix, "("):
		return "its objects are few, or have rows of their own"
	}
	return fmt.Sprintf("it has fewer than %s, or no object has this generateName",
		humanize.Count(r.Scope.MinCount, "name"))
}

// rateWidth is the width of most rates, which are unknown at first.
const rateWidth = len("+9.3/min")

// printedAtOnce is the largest number of rows whose text is in memory at the same time.
const printedAtOnce = 1000

// print prints rows. The first rows have a header. print formats the rows twice, because the columns need the width
// of all rows, and the text of all rows would take too much memory.
func (p *rowPrinter) print(rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	columns, header := watchColumns(rows, p.layout.namespaces), p.widths == nil && p.layout.headers
	if p.widths == nil {
		p.widths = make([]int, len(columns))
		p.widths[slices.IndexFunc(columns, func(c column) bool { return c.name == rateColumn })] = rateWidth
	}
	for some := range slices.Chunk(rows, printedAtOnce) {
		p.widths = tableOf(columns, some).Widths(p.widths)
	}
	for some := range slices.Chunk(rows, printedAtOnce) {
		lines := tableOf(columns, some).Lines(p.widths, header)
		if _, err := fmt.Fprintln(p.layout.out, strings.Join(lines, "\n")); err != nil {
			return err
		}
		header = false
	}
	return nil
}

func (p *rowPrinter) last(r *v1alpha1.AuditReport) (v scan.View, below int) {
	v.Text = func(io.Writer) error { return p.show(r, live.Snapshot{}) }
	return v, 0
}
func (p *rowPrinter) notice(text string) { p.line(text) }
func (p *rowPrinter) hint(text string)   { p.line(text) }

// maxNotices is the largest number of notices that are kept for the end of a screen.
const maxNotices = 100

// screenPrinter paints the table on a screen again and again.
type screenPrinter struct {
	layout   layout
	duration time.Duration
	line     func(text string)
	screen   *terminal.Screen
	notices  []string // the last maxNotices notices
	dropped  int      // number of earlier notices
	hints    []string // nil when there are rows
}

func (p *screenPrinter) show(r *v1alpha1.AuditReport, s live.Snapshot) error {
	width, height := p.screen.Size()
	return p.screen.Paint(p.lines(r, s, width, height))
}

// lines returns the table with the rows that fit on a screen, and the lines below it: the unknown rates, the last
// notice, the hints and the status. The lines below the table take a third of a small screen at most.
func (p *screenPrinter) lines(r *v1alpha1.AuditReport, s live.Snapshot, width, height int) (table, below []string) {
	rows := rowsOf(r, p.layout.order)
	if len(rows) == 0 {
		table = []string{nothingToShow}
	} else {
		p.hints = nil
	}
	for shown := min(len(rows), height-1); ; shown-- {
		below = p.below(r, s, rows[:shown], len(rows)-shown)
		below = strings.Split(terminal.Wrap(strings.Join(below, "\n"), 0, width), "\n")
		below = below[max(0, len(below)-max(height/3, 1)):]
		if shown == 0 {
			return table, below
		}
		t := tableOf(watchColumns(rows[:shown], p.layout.namespaces), rows[:shown])
		t = fit(t, width, givingWayInWatch)
		table = t.Lines(t.Widths(nil), p.layout.headers)
		if shown == 1 || len(table)+len(below) <= height {
			return table, below
		}
	}
}

func (p *screenPrinter) below(r *v1alpha1.AuditReport, s live.Snapshot, shown []row, hidden int) []string {
	lines := unknownLines(shown)
	if n := len(p.notices); n > 0 {
		lines = append(lines, p.notices[n-1])
	}
	lines = append(lines, p.hints...)
	status := statusText(s, p.duration)
	if hidden > 0 {
		status = belowText(r, hidden) + "; " + status
	}
	return append(lines, status)
}

// belowText returns the number of rows below the screen.
func belowText(r *v1alpha1.AuditReport, below int) string {
	rows := humanize.Count(below, "row")
	if r.Hidden.BelowTop > 0 {
		return fmt.Sprintf("%s below, and the rows after --top=%d", rows, r.Scope.Top)
	}
	return fmt.Sprintf("%s below", rows)
}

// statusText returns the duration of the watch, and whether it is complete.
func statusText(s live.Snapshot, duration time.Duration) string {
	passed := s.At.Sub(s.Began).Round(time.Second).String()
	if duration > 0 {
		passed = fmt.Sprintf("%s of %s", passed, duration)
	}
	watching := fmt.Sprintf("%s watched, %d without prefixes", humanize.Count(s.Watched, "type"), s.Quiet)
	if s.Unwatched > 0 {
		watching += fmt.Sprintf(", %d counted again", s.Unwatched)
	}
	if n := len(s.Skipped); n > 0 {
		watching += fmt.Sprintf(", %d not read", n)
	}
	parts := []string{passed, watching, humanize.Count(s.Events, "event")}
	if s.Gaps > 0 {
		parts = append(parts, humanize.Count(s.Gaps, "gap"))
	}
	return strings.Join(append(parts, "q quits"), "; ")
}

func (p *screenPrinter) notice(text string) {
	if len(p.notices) == maxNotices {
		p.notices = slices.Delete(p.notices, 0, 1)
		p.dropped++
	}
	p.notices = append(p.notices, text)
}

func (p *screenPrinter) hint(text string) { p.hints = append(p.hints, text) }

// end restores the terminal, and prints the notices that were on the screen.
func (p *screenPrinter) end() {
	p.screen.End()
	p.printNotices()
}

func (p *screenPrinter) printNotices() {
	if p.dropped > 0 {
		p.line(humanize.Count(p.dropped, "notice") + " before the following ones are left out")
	}
	for _, text := range slices.Concat(p.notices, p.hints) {
		p.line(text)
	}
}

func (p *screenPrinter) last(r *v1alpha1.AuditReport) (v scan.View, below int) {
	rows := rowsOf(r, p.layout.order)
	if len(rows) > 0 {
		v.Table, below = p.layout.table(watchColumns(rows, p.layout.namespaces), rows, givingWayInWatch)
	}
	return v, below
}

// rowState has the fields of a row that are compared with the last report. If any of these fields changes, the watch
// prints the row again.
type rowState struct {
	names, creates, deletes int64
	notes                   string
	round                   int
}

// changes remembers the rows that were printed.
type changes struct {
	rows  map[v1alpha1.PrefixRef]rowState
	round int
}

// take returns the rows that have changed since the last call, and the name pools of rows that no longer exist.
func (c *changes) take(rows []row) (changed []row, gone []v1alpha1.PrefixRef) {
	if c.rows == nil {
		c.rows = map[v1alpha1.PrefixRef]rowState{}
	}
	c.round++
	for i := range rows {
		r := &rows[i]
		now := rowState{names: r.Names, notes: strings.Join(r.Notes, "\n"), round: c.round}
		if m := r.Measured; m != nil {
			now.creates, now.deletes = m.Creates, m.Deletes
		}
		pool := r.PrefixRef
		if r.fold != nil {
			pool.Prefix = "(" + cmp.Or(r.fold.OwnerKind, r.fold.Manager, "other names") + ")"
		}
		before, known := c.rows[pool]
		if before.round = c.round; !known || before != now {
			changed = append(changed, *r)
		}
		c.rows[pool] = now
	}
	for pool, last := range c.rows {
		if last.round < c.round {
			delete(c.rows, pool)
			gone = append(gone, pool)
		}
	}
	slices.SortFunc(gone, v1alpha1.PrefixRef.Compare)
	return changed, gone
}
