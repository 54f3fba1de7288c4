package once

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// cell is a rule.
type cell struct {
	finding finding
	in      string
}

// safe are the steps that a rule could have without breaking the promise. It has
// another one because users want their object, or no warning where it can be
// helped.
var safe = map[cell][]step{
	{notStored, "clean"}:     {failed, nextName},
	{foreign, "clean"}:       {failed},
	{foreign, "wasRejected"}: {nextName},
	{foreign, "wasDenied"}:   {nextName},
	{absent, "wasRejected"}:  {nextName},
	{noRight, "clean"}:       {failed}, // it is told of
	{noRight, "wasRejected"}: {nextName},
	{noRight, "wasDenied"}:   {nextName},

	{conflict, "unmarked"}:     {failed},
	{rejected, "unmarked"}:     {nextName},
	{denied, "unmarked"}:       {nextName},
	{notStored, "unmarked"}:    {failed, nextName},
	{unauthorized, "unmarked"}: {nextName},
	{givenUp, "unmarked"}:      {nextName},
	// What is given up in doubt is unknown, whatever the table says (stepAfter).
	{givenUp, "inDoubt"}: {created, failed, nextName},
}

// A rule that promises or sends where the right one does not is found out by
// the model: each cell of the table is there for a reason. Left out are a
// server that renames, which the model does not have, and what was lost without
// a doubt, which cannot be, because it is what begins the doubt.
func TestModelFindsWrongRules(t *testing.T) {
	marked := model{depth: 6, wanted: generated}
	unmarked := model{depth: 8, wanted: wanted{generateName: "p-", id: Unmarked()}}
	posts, gets := maps.Clone(afterPost), maps.Clone(afterGet)
	for f, to := range posts {
		for in, right := range map[string]step{"clean": to.clean, "inDoubt": to.inDoubt, "unmarked": to.unmarked} {
			m := marked
			switch {
			case f == renamed, f == lost && in == "clean":
				continue
			case in == "unmarked":
				m = unmarked
			}
			wrongRules(t, m, cell{f, in}, right, func(wrong step) {
				mutant := to
				*map[string]*step{"clean": &mutant.clean, "inDoubt": &mutant.inDoubt, "unmarked": &mutant.unmarked}[in] = wrong
				afterPost = maps.Clone(posts)
				afterPost[f] = mutant
			})
		}
	}
	afterPost = posts
	for f, to := range gets {
		for in, right := range map[string]step{
			"clean": to.clean, "wasRejected": to.wasRejected, "wasDenied": to.wasDenied, "inDoubt": to.inDoubt,
		} {
			m := marked
			m.lags = f == absent && in == "clean"
			if f == foreign && in == "inDoubt" { // what is late lands at the end
				m.depth = 8
			}
			wrongRules(t, m, cell{f, in}, right, func(wrong step) {
				mutant := to
				*map[string]*step{
					"clean": &mutant.clean, "wasRejected": &mutant.wasRejected,
					"wasDenied": &mutant.wasDenied, "inDoubt": &mutant.inDoubt,
				}[in] = wrong
				afterGet = maps.Clone(gets)
				afterGet[f] = mutant
			})
		}
	}
	afterGet = gets
}

// wrongRules demands that the model finds out each wrong step of the cell.
func wrongRules(t *testing.T, m model, of cell, right step, mutate func(wrong step)) {
	t.Helper()
	for _, wrong := range []step{created, failed, nextName} {
		if wrong == right || slices.Contains(safe[of], wrong) {
			continue
		}
		mutate(wrong)
		if _, err := m.explore(t); err == nil {
			t.Errorf("%+v: step %d for %d is not found out", of, wrong, right)
		}
	}
}

// Looking once, or for less time, is not enough where a first copy may be under
// way.
func TestModelFindsTooFewLooks(t *testing.T) {
	pauses := lookPauses
	defer func() { lookPauses = pauses }()
	for _, few := range [][]time.Duration{nil, pauses[:1], pauses[:2]} {
		lookPauses = few
		if _, err := (model{depth: 6, wanted: generated}).explore(t); err == nil {
			t.Errorf("the pauses %v are not found out", few)
		}
	}
}

// Why an ID of For has one name: with a next one, a reconcile that finds the
// first name free again creates a second object.
func TestModelFindsASecondName(t *testing.T) {
	m := model{depth: 8, wanted: wanted{generateName: "p-", id: Derived(ourID, "")}, again: true, calm: true}
	if _, err := m.explore(t); err == nil {
		t.Error("the model does not find it")
	}
}
