package once

import (
	"maps"
	"slices"
	"testing"
)

// safe are the rules that could be others without breaking the promise: they
// are what they are because users want their object.
var safe = map[finding][]step{
	conflict:  {failed}, // of an unmarked object
	refused:   {nextName},
	notStored: {failed, nextName},
	foreign:   {failed},
	absent:    {failed, nextName},

	unauthorized: {failed, nextName}, // a 401 is given before anything is stored
}

// A rule that promises or sends where the right one does not is found out by
// the model: each cell of the table is there for a reason. Left out are a
// server that renames, which the model does not have, and a lost POST without
// a doubt, which cannot be, because it is what begins the doubt.
func TestModelFindsWrongRules(t *testing.T) {
	const clean, inDoubt = 0, 1
	original := maps.Clone(transitions)
	defer func() { transitions = original }()
	for e, to := range original {
		for column, right := range []step{to.clean, to.inDoubt, to.unmarked} {
			for _, wrong := range []step{created, failed, nextName} {
				switch {
				case right == wrong, right == never, e == renamed, e == lost && column == clean,
					column != inDoubt && slices.Contains(safe[e], wrong):
					continue
				}
				mutant := to
				*[]*step{&mutant.clean, &mutant.inDoubt, &mutant.unmarked}[column] = wrong
				transitions = maps.Clone(original)
				transitions[e] = mutant
				m := model{depth: 8, wanted: wanted{generateName: "p-", id: Unmarked()}}
				if column <= inDoubt {
					m.wanted.id = ID{creation: ourID}
				}
				if _, err := m.explore(t); err == nil {
					t.Errorf("finding %d, column %d: step %d for %d is not found out", e, column, wrong, right)
				}
			}
		}
	}
}

// Why an ID of For has one name: with a next one, a reconcile that finds the
// first name free again creates a second object.
func TestModelFindsASecondName(t *testing.T) {
	m := model{depth: 8, wanted: wanted{generateName: "p-", id: Derived(ourID, "")}, again: true}
	if _, err := m.explore(t); err == nil {
		t.Error("the model does not find it")
	}
}
