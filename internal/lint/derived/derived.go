// Package derived has a table of the names that controllers derive from an object's name. A row has the derived object,
// the formula, and the maximum length. The package has only data, and reads no manifests.
package derived

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Consequence is the effect of an object name that is longer than a row permits.
type Consequence string

const (
	// Refused means that the server refuses to create the object itself.
	Refused Consequence = "refused"
	// Broken means that the object is created, but its controller can't create the derived object.
	Broken Consequence = "broken"
	// Truncated means that the derived name lacks the end of the object's name.
	Truncated Consequence = "truncated"
)

// Child is a name or a label value that a controller derives from an object's name.
type Child struct {
	Owner schema.GroupKind
	// Variant distinguishes rows of one kind: "Indexed".
	Variant string
	// Controller is the controller that derives the name or value.
	Controller string
	// Makes is the derived object or value: "Job", or "label controller-revision-hash of its Pods".
	Makes string
	// Formula describes the derived name. NAME stands for the owner's name.
	Formula string
	// Adds is the maximum number of bytes that the formula adds to the owner's name, without the
	// bytes that depend on the object.
	Adds int
	// Limit is the maximum number of bytes of the derived name or value.
	Limit int
	// Over is the consequence if the owner's name is too long.
	Over Consequence
	// Since is the first minor version of Kubernetes with this behavior. Until is the first later version without it. 0
	// means no limit. The basis is the source of 1.29, 1.31, 1.33, 1.34 and 1.37.
	Since, Until int
	// Source names the source code with the rule, as a file of a published project at a version, and a symbol.
	Source string
	// ReadOnly is true if the row is only based on reading the source, and no test has run the controller.
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
	most := strconv.Itoa(c.MaxOwner(0))
	if c.Owner == JobSet || c.Owner == VolcanoJob { // the formula adds names from the manifest
		most = "less than " + most
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %s | %s | %s |",
		owner, c.Makes, c.Formula, c.Limit, most, c.Over, when)
}
