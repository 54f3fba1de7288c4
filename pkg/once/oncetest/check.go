package oncetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// An Outcome is what a client reports of a creation.
type Outcome string

const (
	// Created promises that the object is there, once, by this client. One that
	// was deleted since has been there.
	Created Outcome = "created"
	// Found promises the same of an object that was there before.
	Found Outcome = "found"
	// Failed promises that it is not there.
	Failed Outcome = "failed"
	// Unknown promises only that there are not two.
	Unknown Outcome = "unknown"
)

// A Fault is how a promise was broken.
type Fault string

const (
	// Duplicate means that two objects of one creation were there at the same
	// time.
	Duplicate Fault = "two of one creation"
	// Missing means that the object was reported created or found, and never
	// was there.
	Missing Fault = "reported, and was never there"
	// Present means that the creation was reported failed, and that an object of
	// it is there.
	Present Fault = "reported failed, and is there"
	// Unreported means that an object is there of whose creation nothing was
	// reported.
	Unreported Fault = "is there, and was not reported"
)

// A Violation is a promise that was broken, and how it came to that.
type Violation struct {
	Fault    Fault
	Creation string
	Reported Outcome
	// Objects are those of the creation that ever were on the server.
	Objects []*unstructured.Unstructured
	// Requests are the creates of the creation, and what was asked about the
	// names in them and in Objects.
	Requests []Record
}

// String returns the violation with the history of its requests, on several
// lines.
func (v Violation) String() string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s: %s", v.Creation, v.Fault)
	if v.Reported != "" {
		fmt.Fprintf(text, " (reported %s)", v.Reported)
	}
	for _, o := range v.Objects {
		fmt.Fprintf(text, "\n\tstored: %s %s/%s, uid %s", o.GetKind(), o.GetNamespace(), o.GetName(), o.GetUID())
	}
	for _, r := range v.Requests {
		fmt.Fprintf(text, "\n\t%s", r)
	}
	return text.String()
}

// Check says which promises were broken. creation returns which creation an
// object is of, like its owner's uid and its purpose, or an annotation with the
// id of it (once.Annotation), and an empty word for what is of no concern; it is
// asked about objects as clients sent them and as they were stored. reports has
// what the client reports last of each creation; if it is nil, duplicates are
// all that is looked for.
//
// What is still on its way lands first (Server.Land), and what has been deleted
// stays in the history: one object after the other is no duplicate. The
// violations are sorted by their creations.
func (s *Server) Check(creation func(*unstructured.Unstructured) string, reports map[string]Outcome) []Violation {
	s.Land()
	counts := map[string]*count{}
	for name, reported := range reports {
		counts[name] = &count{reported: reported}
	}
	of := map[types.UID]string{}
	for _, c := range s.Changes() {
		uid := c.Object.GetUID()
		if c.Stored {
			of[uid] = creationOf(c, creation)
		}
		if name := of[uid]; name != "" {
			if counts[name] == nil {
				counts[name] = &count{}
			}
			counts[name].add(c)
		}
	}
	var violations []Violation
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		for _, fault := range counts[name].faults(reports != nil) {
			violations = append(violations, Violation{
				Fault: fault, Creation: name, Reported: counts[name].reported, Objects: counts[name].objects,
				Requests: s.requestsFor(name, creation, counts[name].objects),
			})
		}
	}
	return violations
}

// creationOf returns the creation of an object that was stored: what the client
// sent says, where something has changed the object on its way.
func creationOf(c Change, creation func(*unstructured.Unstructured) string) string {
	if c.sent != nil {
		return cmp.Or(creation(c.sent), creation(c.Object))
	}
	return creation(c.Object)
}

// count is what the history says of one creation.
type count struct {
	reported    Outcome
	there, most int
	objects     []*unstructured.Unstructured
}

func (c *count) add(change Change) {
	switch {
	case change.Stored:
		c.there++
		c.objects = append(c.objects, change.Object)
	case change.Deleted:
		c.there--
	}
	c.most = max(c.most, c.there)
}

func (c *count) faults(reported bool) []Fault {
	var faults []Fault
	if c.most > 1 {
		faults = append(faults, Duplicate)
	}
	switch {
	case !reported:
	case c.reported == "" && c.there > 0:
		faults = append(faults, Unreported)
	case c.reported == Failed && c.there > 0:
		faults = append(faults, Present)
	case (c.reported == Created || c.reported == Found) && c.most == 0:
		faults = append(faults, Missing)
	}
	return faults
}

// requestsFor returns the requests that concern a creation.
func (s *Server) requestsFor(
	name string, creation func(*unstructured.Unstructured) string, objects []*unstructured.Unstructured,
) []Record {
	requests := s.Requests()
	concerns := map[string]bool{}
	for _, o := range objects {
		concerns[o.GetName()] = true
	}
	ofIt := func(r Record) bool { return r.Sent != nil && creation(r.Sent) == name }
	for _, r := range requests {
		if ofIt(r) && r.Name != "" {
			concerns[r.Name] = true
		}
	}
	return slices.DeleteFunc(requests, func(r Record) bool {
		return !ofIt(r) && (r.Name == "" || !concerns[r.Name])
	})
}
