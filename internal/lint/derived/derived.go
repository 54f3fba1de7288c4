// Package derived is the table of the names that controllers derive from an object's name: the created object, the
// formula, and the maximum length of the object's name. The package is data, and knows no manifests.
package derived

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Consequence is the effect of an object name that is too long for a row.
type Consequence string

const (
	// Refused means that the create of the object itself is refused.
	Refused Consequence = "refused"
	// Broken means that the object is created, but its controller can't create the derived object.
	Broken Consequence = "broken"
	// Truncated means that the end of the object's name is missing in the child's name.
	Truncated Consequence = "truncated"
)

// Child is a name, or a label's value, that follows from an object's name.
type Child struct {
	Owner schema.GroupKind
	// Variant distinguishes rows of one kind: "Indexed".
	Variant string
	// Controller is who derives it.
	Controller string
	// Makes is the derived object or value: "Job", or "label controller-revision-hash of its Pods".
	Makes string
	// Formula is how, with NAME for the owner's name.
	Formula string
	// Adds is the maximum number of bytes that the formula adds to the owner's name, without the
	// bytes that depend on the object.
	Adds int
	// Limit is the number of bytes that it can have.
	Limit int
	// Over is the consequence of a name that is too long.
	Over Consequence
	// Since is the first minor version of Kubernetes with this behavior, and Until the first
	// without it. The sources of 1.29, 1.31, 1.33, 1.34 and 1.37 were compared. 0 means no limit.
	Since, Until int
	// Source is where that is to be read: a file of a published project at a version, and a symbol.
	Source string
	// ReadOnly is true if the row is based only on the source, and no test has run the controller.
	ReadOnly bool
}

// MaxOwner returns the maximum number of bytes of the owner's name. adds is the number of bytes that depend on the
// owner's manifest, such as the digits of a Job's completions.
func (c Child) MaxOwner(adds int) int { return c.Limit - c.Adds - adds }

// Of returns the rows of a kind for a minor version of Kubernetes with the default feature gates.
func Of(kind schema.GroupKind, minor int) []Child {
	var rows []Child
	for _, row := range Table {
		if row.Owner == kind && row.Since <= minor && (row.Until == 0 || minor < row.Until) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Cells returns the row as the first cells of a table in Markdown.
func (c Child) Cells() string {
	owner := c.Owner.Kind
	if c.Variant != "" {
		owner = c.Variant + " " + owner
	}
	when := "all"
	switch {
	case c.Since > 0:
		when = fmt.Sprintf("from 1.%d", c.Since)
	case c.Until > 0:
		when = fmt.Sprintf("before 1.%d", c.Until)
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %s | %s |",
		owner, c.Makes, c.Formula, c.Limit, c.MaxOwner(0), c.Over, when)
}
