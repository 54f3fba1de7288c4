package duplicates

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/duplicates/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// table is text in columns. It has a row for each object. The first row of each group also has the
// group's columns.
type table struct {
	columns []string
	rows    [][]string
}

// The columns that give way on a narrow terminal, in this order.
var givingWay = []string{"STATUS-DIFFERS", "EQUAL", "CREATOR", "REFERRED-BY"}

const (
	gap        = 3 // between columns, as in kubectl's printer
	leastWidth = 8 // of a column that gives way
	ellipsis   = "…"
)

// table returns the table of groups, with their ages at a time.
func (o *options) table(groups []*duplicates.Group, now time.Time) table {
	t := table{columns: []string{"GRADE"}}
	if o.allNamespaces {
		t.columns = append(t.columns, "NAMESPACE")
	}
	t.columns = append(t.columns, "OBJECT", "AGE", "CREATOR", "REFERRED-BY", "EQUAL", "STATUS-DIFFERS")
	if o.wide {
		t.columns = append(t.columns, "STATE", "OWNER", "REASON", "UID")
	}
	for _, g := range groups {
		objects := g.Objects()
		for i := range objects {
			t.rows = append(t.rows, o.row(g, objects, i, now))
		}
	}
	return t
}

// row returns the cells of one of the objects of a group.
func (o *options) row(g *duplicates.Group, objects []duplicates.Object, i int, now time.Time) []string {
	object := objects[i]
	row := []string{string(g.Grade)}
	if o.allNamespaces {
		row = append(row, g.Namespace)
	}
	age := duration.HumanDuration(now.Sub(object.Created))
	if i > 0 {
		age = "+" + duration.HumanDuration(object.Created.Sub(objects[0].Created))
	}
	equal, differs := "", ""
	if i == 0 {
		equal, differs = equalText(g), strings.Join(g.StatusDiffers, ",")
	}
	row = append(row, g.Resource.GroupResource().String()+"/"+object.Name, age,
		cmp.Or(object.Creator, messages.Unknown), referencesText(g, object), equal, differs)
	if o.wide {
		row = append(row, object.State, strings.Join(g.Owners, ","), string(g.Reason), object.UID)
	}
	for i := range row {
		row[i] = terminal.OneLine(row[i])
	}
	return row
}

// equalText returns how much is equal in a group.
func equalText(g *duplicates.Group) string {
	switch {
	case g.Compared.Fields > 0:
		return fmt.Sprintf(messages.Fields, g.Compared.Fields)
	case g.Reason == duplicates.NoFieldManager:
		return messages.All
	}
	return ""
}

// referencesText returns the cell with the references to an object.
func referencesText(g *duplicates.Group, object duplicates.Object) string {
	var by, types []string
	for _, r := range object.ReferredBy {
		if r.Owner != "" {
			by = append(by, r.Owner)
		} else {
			types = append(types, r.Resource)
		}
	}
	if len(types) > 0 {
		by = append(by, fmt.Sprintf(messages.Owns, strings.Join(types, ",")))
	}
	switch {
	case len(by) > 0:
		return strings.Join(by, ",")
	case g.Compared.Of == nil:
		return "" // they were not asked for
	case !g.ReferencesRead:
		return messages.ReferencesUnread
	}
	return messages.NoReference
}

// fit returns the table with shorter cells, so that rows fit into a width if they can.
func (t table) fit(width int) table {
	for _, name := range givingWay {
		at := t.index(name)
		if excess := t.width() - width; at >= 0 && excess > 0 {
			t.cut(at, max(t.widthOf(at)-excess, leastWidth))
		}
	}
	for _, name := range givingWay[:3] {
		if t.width() > width {
			t = t.without(name)
		}
	}
	return t
}

func (t table) index(name string) int {
	for i, column := range t.columns {
		if column == name {
			return i
		}
	}
	return -1
}

// cut shortens the cells of a column.
func (t table) cut(at, width int) {
	for _, row := range t.rows {
		if runes := []rune(row[at]); len(runes) > width {
			row[at] = string(runes[:width-1]) + ellipsis
		}
	}
}

// without returns the table without a column.
func (t table) without(name string) table {
	at := t.index(name)
	left := table{columns: append(append([]string{}, t.columns[:at]...), t.columns[at+1:]...)}
	for _, row := range t.rows {
		left.rows = append(left.rows, append(append([]string{}, row[:at]...), row[at+1:]...))
	}
	return left
}

func (t table) width() int {
	total := -gap
	for i := range t.columns {
		total += t.widthOf(i) + gap
	}
	return total
}

func (t table) widthOf(at int) int {
	widest := utf8.RuneCountInString(t.columns[at])
	for _, row := range t.rows {
		widest = max(widest, utf8.RuneCountInString(row[at]))
	}
	return widest
}

// object returns the table for kubectl's printer, which aligns it.
func (t table) object() *metav1.Table {
	object := &metav1.Table{}
	for _, name := range t.columns {
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		object.ColumnDefinitions = append(object.ColumnDefinitions, column)
	}
	for _, cells := range t.rows {
		var row metav1.TableRow
		for _, cell := range cells {
			row.Cells = append(row.Cells, cell)
		}
		object.Rows = append(object.Rows, row)
	}
	return object
}
