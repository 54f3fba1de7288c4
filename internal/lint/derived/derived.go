// Package derived is the table of the names that controllers derive from the name
// of an object: what they make, by which formula, and how much room it leaves. It
// is data, and knows nothing of manifests.
package derived

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Consequence is what happens to an object whose name is longer than a row allows.
type Consequence string

const (
	// Refused means that the create of the object itself is refused.
	Refused Consequence = "refused"
	// Broken means that the object is created, and its controller cannot make what it should.
	Broken Consequence = "broken"
	// Truncated means that the end of the object's name is missing in the child's name.
	Truncated Consequence = "truncated"
	// Fits means that it fits whatever the object is called.
	Fits Consequence = "fits"
)

// Child is a name, or a label's value, that follows from an object's name.
type Child struct {
	Owner schema.GroupKind
	// Variant tells rows of one kind apart: "Indexed".
	Variant string
	// Controller is who derives it.
	Controller string
	// Makes is what is derived: "Job", or "label controller-revision-hash of its Pods".
	Makes string
	// Formula is how, with NAME for the owner's name.
	Formula string
	// Adds is the number of bytes that it adds to the owner's name at most;
	// what the object itself adds comes to it.
	Adds int
	// Limit is the number of bytes that it can have.
	Limit int
	// Over is what happens to an object whose name leaves no room.
	Over Consequence
	// Since and Until are the first minor version of Kubernetes that does so and the
	// first that does so no more, of those whose sources were compared: 1.29, 1.31,
	// 1.33 and 1.34. 0 stands for all.
	Since, Until int
	// Source is where that is to be read.
	Source Source
	// ReadOnly is true if the row rests on reading the source: no test has seen the
	// controller at work.
	ReadOnly bool
}

// Source is a file of a published project at a version.
type Source struct {
	Project, Version, File, Symbol string
}

// Room returns the number of bytes that the owner's name can have, where the object
// adds so many bytes of its own.
func (c Child) Room(adds int) int { return c.Limit - c.Adds - adds }

// Of returns the rows of a kind for a minor version of Kubernetes.
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
		owner, c.Makes, c.Formula, c.Limit, c.Room(0), c.Over, when)
}

// String returns where a fact is to be read.
func (s Source) String() string {
	text := s.Project + " " + s.Version
	if s.File != "" {
		text += ", " + s.File
	}
	if s.Symbol != "" {
		text += ": " + s.Symbol
	}
	return text
}
