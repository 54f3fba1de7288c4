package oncetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// An Outcome is the outcome of a creation. A test expects it, or the code under test reports it.
type Outcome string

const (
	// Created means that the object exists, or existed before it was deleted.
	Created Outcome = "created"
	// Failed means that the object doesn't exist.
	Failed Outcome = "failed"
	// Unknown means that the object might exist. At most one exists.
	Unknown Outcome = "unknown"
)

// The problems of a Violation.
const (
	duplicate  = "more than one object"
	missing    = "no object"
	exists     = "failed, but an object exists"
	unexpected = "unexpected object"
	nothing    = "nothing was created"
)

// A Violation is a creation that breaks an expectation of the test.
type Violation struct {
	// Creation is the creation, as creationOf returned it. Creation is empty if nothing was created at all.
	Creation string
	Problem  string
	Expected Outcome
	// Objects are the objects of the creation.
	Objects []metav1.Object
	// Requests are the requests about those objects, and the creates of the creation.
	Requests []Record
}

// String returns the violation with its objects and requests, on several lines.
func (v Violation) String() string {
	text := &strings.Builder{}
	text.WriteString(strings.TrimPrefix(v.Creation+": "+v.Problem, ": "))
	if v.Expected != "" {
		fmt.Fprintf(text, " (expected: %s)", v.Expected)
	}
	for _, o := range v.Objects {
		fmt.Fprintf(text, "\n\tobject: %s/%s, uid %s", o.GetNamespace(), o.GetName(), o.GetUID())
	}
	for _, r := range v.Requests {
		fmt.Fprintf(text, "\n\t%s", r)
	}
	return text.String()
}

// Check returns the creations that had more than one object at the same time, and those whose outcome isn't as
// expected. Check first sends the late requests.
//
// creationOf returns the creation that an object belongs to, for example its owner's UID and the index of the worker.
// creationOf returns "" for objects that the test ignores, and gets each object as an *unstructured.Unstructured.
//
// expected has the outcome of each creation. Objects of other creations are violations. If expected is nil, only
// duplicates are violations, and that nothing was created at all.
func (s *Server) Check(creationOf func(metav1.Object) string, expected map[string]Outcome) []Violation {
	s.Land()
	found := tally{}
	of := map[types.UID]string{}
	for _, c := range s.history() {
		uid := c.object.GetUID()
		if c.stored {
			of[uid] = creationOf(c.object)
			if c.sent != nil { // a fault might have changed the object
				of[uid] = cmp.Or(creationOf(c.sent), of[uid])
			}
		}
		if name := of[uid]; name != "" {
			found.of(name).add(c)
		}
	}
	return s.violations(found, creationOf, expected)
}

// CheckList is Server.Check for a list of objects from any server, such as a *batchv1.JobList. CheckList doesn't see
// objects that were deleted before the list. CheckList returns an error if list isn't a list of objects.
func (f *Faults) CheckList(
	list runtime.Object, creationOf func(metav1.Object) string, expected map[string]Outcome,
) ([]Violation, error) {
	found := tally{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		if name := creationOf(object); name != "" {
			c := found.of(name)
			c.objects = append(c.objects, object)
			c.now, c.most = len(c.objects), len(c.objects)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.violations(found, creationOf, expected), nil
}

func (f *Faults) violations(
	found tally, creationOf func(metav1.Object) string, expected map[string]Outcome,
) []Violation {
	for name := range expected {
		found.of(name)
	}
	if len(found) == 0 && expected == nil {
		return []Violation{{Problem: nothing, Requests: f.Requests()}}
	}
	var violations []Violation
	for _, name := range slices.Sorted(maps.Keys(found)) {
		c := found[name]
		for _, problem := range c.problems(expected[name], expected != nil) {
			violations = append(violations, Violation{
				Creation: name, Problem: problem, Expected: expected[name], Objects: c.objects,
				Requests: f.requestsFor(name, creationOf, c.objects),
			})
		}
	}
	return violations
}

// tally has the objects of each creation.
type tally map[string]*count

func (t tally) of(creation string) *count {
	if t[creation] == nil {
		t[creation] = &count{}
	}
	return t[creation]
}

// count has the number of objects of a creation that exist, and the largest number that existed at the same time.
type count struct {
	now, most int
	objects   []metav1.Object
}

func (c *count) add(change change) {
	switch {
	case change.stored:
		c.now++
		c.objects = append(c.objects, change.object.DeepCopy())
	case change.deleted:
		c.now--
	}
	c.most = max(c.most, c.now)
}

func (c *count) problems(expected Outcome, all bool) []string {
	var problems []string
	if c.most > 1 {
		problems = append(problems, duplicate)
	}
	switch {
	case !all:
	case expected == "" && c.now > 0:
		problems = append(problems, unexpected)
	case expected == Failed && c.now > 0:
		problems = append(problems, exists)
	case expected == Created && c.most == 0:
		problems = append(problems, missing)
	}
	return problems
}

func (f *Faults) requestsFor(name string, creationOf func(metav1.Object) string, objects []metav1.Object) []Record {
	requests := f.Requests()
	concerns := map[string]bool{}
	for _, o := range objects {
		concerns[o.GetName()] = true
	}
	creates := func(r Record) bool { return r.Verb == "create" && r.Sent != nil && creationOf(r.Sent) == name }
	for _, r := range requests {
		if creates(r) && r.Name != "" {
			concerns[r.Name] = true
		}
	}
	return slices.DeleteFunc(requests, func(r Record) bool {
		return !creates(r) && (r.Name == "" || !concerns[r.Name])
	})
}
