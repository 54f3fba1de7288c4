package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// showing is how a watch is shown.
type showing interface {
	show(*v1alpha1.AuditReport, live.Snapshot) error
	notice(text string)
	resized() <-chan struct{} // may be nil, as quit
	quit() <-chan struct{}
	// end gives back what was taken, and last shows the report of the end after it.
	end() error
	last(report *v1alpha1.AuditReport, where string) error
}

// newShowing returns the one for where stdout goes: reports for machines, a screen,
// or rows in a pipe.
func (o *options) newShowing() (showing, error) {
	if o.printFlags.ForMachines() {
		return &stream{options: o}, nil
	}
	screen, err := terminal.StartScreen(o.In, o.Out)
	if err != nil {
		return nil, err
	}
	if screen != nil {
		return &painting{options: o, screen: screen}, nil
	}
	return &appending{options: o}, nil
}

// stream prints a report at each interval.
type stream struct{ *options }

func (s *stream) show(r *v1alpha1.AuditReport, _ live.Snapshot) error {
	return s.printFlags.Print(r, s.Out)
}

func (s *stream) last(r *v1alpha1.AuditReport, _ string) error { return s.printFlags.Print(r, s.Out) }
func (s *stream) notice(text string)                           { s.say(text) }
func (*stream) resized() <-chan struct{}                       { return nil }
func (*stream) quit() <-chan struct{}                          { return nil }
func (*stream) end() error                                     { return nil }

// appending prints the rows that have changed, as kubectl get --watch does. Columns
// keep the greatest width that they have had.
type appending struct {
	*options
	seen   changes
	widths []int
}

func (a *appending) show(r *v1alpha1.AuditReport, _ live.Snapshot) error {
	changed, gone := a.seen.take(r.Items)
	for _, key := range gone {
		prefix := reference.In(key.resource.String()+"/"+key.prefix, key.namespace)
		a.tell(messages.NotShown, prefix, a.goneText(r))
	}
	return a.print(r, changed)
}

// goneText returns why a row is not shown any more, as far as that is known.
func (a *appending) goneText(r *v1alpha1.AuditReport) string {
	if a.top > 0 && len(r.Items) == a.top {
		return fmt.Sprintf(messages.NotFirst, a.top)
	}
	return fmt.Sprintf(messages.TooFew, humanize.Count(a.minCount, "name"))
}

// printedAtOnce is of how many rows the text is in memory at the same time.
const printedAtOnce = 1000

// print prints rows, after the header if they are the first. Their text is made twice: it
// takes as much memory as all else of them, and the first of it has to be as wide as the
// last.
func (a *appending) print(r *v1alpha1.AuditReport, rows []int) error {
	columns, header := a.columns(r), a.widths == nil && !a.noHeaders
	for some := range slices.Chunk(rows, printedAtOnce) {
		a.widths = gridOf(columns, a.wide, itemsAt(r.Items, some), nil).widen(a.widths)
	}
	for some := range slices.Chunk(rows, printedAtOnce) {
		lines := gridOf(columns, a.wide, itemsAt(r.Items, some), nil).lines(a.widths, header)
		if _, err := fmt.Fprintln(a.Out, strings.Join(lines, "\n")); err != nil {
			return err
		}
		header = false
	}
	return nil
}

// itemsAt returns the items of some indexes.
func itemsAt(items []v1alpha1.AuditItem, indexes []int) []v1alpha1.AuditItem {
	some := make([]v1alpha1.AuditItem, len(indexes))
	for i, at := range indexes {
		some[i] = items[at]
	}
	return some
}

func (a *appending) last(r *v1alpha1.AuditReport, where string) error {
	if len(r.Items) == 0 && a.widths == nil {
		a.sayEmpty(r, where)
	}
	return a.show(r, live.Snapshot{})
}
func (a *appending) notice(text string)     { a.say(text) }
func (*appending) resized() <-chan struct{} { return nil }
func (*appending) quit() <-chan struct{}    { return nil }
func (*appending) end() error               { return nil }

// maxNotices is how many notices are kept for the end of a screen.
const maxNotices = 100

// painting paints the table on a screen again and again.
type painting struct {
	*options
	screen  *terminal.Screen
	notices []string // the last ones
	dropped int      // how many came before
}

func (p *painting) show(r *v1alpha1.AuditReport, s live.Snapshot) error {
	width, height := p.screen.Size()
	items, folds := r.Items, []fold(nil)
	if !p.showReplicas {
		items, folds = folded(items, p.minCount)
	}
	g := gridOf(p.columns(r), p.wide, items, folds)
	rows := len(g.rows)
	room := max(height-2, 1) // the header, and the line at the bottom
	if p.noHeaders {
		room++
	}
	g.rows = g.rows[:min(rows, room)]
	if !p.wide {
		g = g.fit(width)
	}
	lines := g.lines(g.widen(nil), !p.noHeaders)
	if rows == 0 {
		lines = []string{messages.Empty}
	}
	status := statusText(s, time.Duration(p.watching.duration))
	if hidden := rows - len(g.rows); hidden > 0 {
		status = p.belowText(hidden, len(r.Items)) + "; " + status
	}
	if n := len(p.notices); n > 0 {
		status += "; " + p.notices[n-1]
	}
	return p.screen.Paint(lines, status)
}

// belowText returns how many rows are below those on the screen, of a report of so many
// items.
func (o *options) belowText(below, items int) string {
	rows := humanize.Count(below, "row")
	if o.top > 0 && items == o.top {
		return fmt.Sprintf(messages.BelowTop, rows, o.top)
	}
	return fmt.Sprintf(messages.Below, rows)
}

// statusText returns how long is watched, and how complete that is.
func statusText(s live.Snapshot, duration time.Duration) string {
	passed := s.At.Sub(s.Began).Round(time.Second).String()
	if duration > 0 {
		passed = fmt.Sprintf(messages.Passed, passed, duration)
	}
	watching := fmt.Sprintf(messages.Watching, humanize.Count(s.Watched, "type"), s.Quiet)
	if s.Unwatched > 0 {
		watching += fmt.Sprintf(messages.Recounted, s.Unwatched)
	}
	if n := len(s.Skipped); n > 0 {
		watching += fmt.Sprintf(messages.Unread, n)
	}
	parts := []string{passed, watching, humanize.Count(s.Events, "event")}
	if s.Gaps > 0 {
		parts = append(parts, humanize.Count(s.Gaps, "gap"))
	}
	return strings.Join(append(parts, messages.Quit), "; ")
}

func (p *painting) notice(text string) {
	if len(p.notices) == maxNotices {
		p.notices = slices.Delete(p.notices, 0, 1)
		p.dropped++
	}
	p.notices = append(p.notices, terminal.OneLine(text))
}
func (p *painting) resized() <-chan struct{} { return p.screen.Resized() }
func (p *painting) quit() <-chan struct{}    { return p.screen.Quit() }

// end leaves the screen, and says what was told on it.
func (p *painting) end() error {
	p.screen.End()
	p.sayNotices()
	return nil
}

func (p *painting) sayNotices() {
	if p.dropped > 0 {
		p.tell(messages.Dropped, humanize.Count(p.dropped, "notice"))
	}
	for _, text := range p.notices {
		p.say(text)
	}
}

func (p *painting) last(r *v1alpha1.AuditReport, where string) error {
	return p.print(r, where)
}
