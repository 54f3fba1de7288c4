package duplicates

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/duplicates/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
)

// The columns that give way on a narrow terminal, in this order.
var givingWay = []string{"STATUS-DIFFERS", "EQUAL", "CREATOR", "REFERRED-BY"}

// table returns the table of groups, with their ages at a time. It has a row for each object. The
// first row of each group also has the group's columns.
func (o *options) table(groups []*duplicates.Group, now time.Time) *table.Table {
	names := []string{"GRADE"}
	if o.allNamespaces {
		names = append(names, "NAMESPACE")
	}
	names = append(names, "OBJECT", "AGE", "CREATOR", "REFERRED-BY", "EQUAL", "STATUS-DIFFERS")
	if o.wide {
		names = append(names, "STATE", "OWNER", "REASON", "UID")
	}
	t := table.New(names...)
	for i := range t.Columns {
		t.Columns[i].CutEnd = true
	}
	for _, g := range groups {
		objects := g.Objects()
		for i := range objects {
			t.Add(o.row(g, objects, i, now)...)
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
func fit(t *table.Table, width int) *table.Table {
	const least = 8
	t = t.Shorten(width, givingWay, least)
	for _, name := range givingWay[:3] {
		if t.Width() > width {
			t = t.Without(name)
		}
	}
	return t
}
