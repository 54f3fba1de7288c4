// Package table prints rows in columns, and shortens them to the width of a terminal. The package knows no command.
// kubectl's printer can't align numbers to the right, or shorten rows.
package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// gap is the space between columns, as kubectl's printer has it.
const gap = 3

// Column is a column of a table.
type Column struct {
	Name  string
	Right bool // numbers
	// CutEnd is true if a short form of a cell is its beginning. Other cells lose their middle, and
	// no two of them have the same short form.
	CutEnd bool
}

// Table is text in columns.
type Table struct {
	Columns []Column
	Rows    [][]string
	below   []string // lines below each row, or nil
}

// New returns a table whose columns are aligned to the left.
func New(names ...string) *Table {
	t := &Table{}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	return t
}

// Add adds a row. The cells can have text from a cluster.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = terminal.OneLine(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Print prints the rows, after the header if that is wanted.
func (t *Table) Print(out io.Writer, header bool) error {
	_, err := fmt.Fprintln(out, strings.Join(t.Lines(t.Widths(nil), header), "\n"))
	return err
}

// Lines returns the rows as text, after the header if that is wanted, in columns of these widths.
func (t *Table) Lines(widths []int, header bool) (lines []string) {
	if header {
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		lines = append(lines, t.line(names, widths))
	}
	for i, cells := range t.Rows {
		lines = append(lines, t.line(cells, widths))
		if t.below != nil && t.below[i] != "" {
			lines = append(lines, strings.Split(t.below[i], "\n")...)
		}
	}
	return lines
}

func (t *Table) line(cells []string, widths []int) string {
	line := ""
	for i, cell := range cells {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if t.Columns[i].Right {
			line += space + cell
		} else {
			line += cell + space
		}
		line += strings.Repeat(" ", gap)
	}
	return strings.TrimRight(line, " ")
}

// Widths returns the widths of the columns in characters. least has the smallest widths, or is nil.
func (t *Table) Widths(least []int) []int {
	widths := make([]int, len(t.Columns))
	copy(widths, least)
	for i, c := range t.Columns {
		widths[i] = max(widths[i], utf8.RuneCountInString(c.Name))
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// Width returns the width of the widest row.
func (t *Table) Width() int {
	total := -gap
	for _, width := range t.Widths(nil) {
		total += width + gap
	}
	return total
}

// index returns the index of a column, or -1.
func (t *Table) index(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Without returns the table without a column.
func (t *Table) Without(name string) *Table {
	at := t.index(name)
	if at < 0 {
		return t
	}
	left := &Table{Columns: slices.Delete(slices.Clone(t.Columns), at, at+1), below: t.below}
	for _, row := range t.Rows {
		left.Rows = append(left.Rows, slices.Delete(slices.Clone(row), at, at+1))
	}
	return left
}

// Below returns the table with the cells of a column in lines below their rows, which are broken at a width.
func (t *Table) Below(name string, width int) *Table {
	left, at := t.Without(name), t.index(name)
	if at < 0 {
		return t
	}
	left.below = nil
	for _, row := range t.Rows {
		note := row[at]
		if note != "" {
			note = "  " + terminal.Wrap(note, 2, width)
		}
		left.below = append(left.below, note)
	}
	return left
}
