package protocol

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// cell is a rule.
type cell struct {
	finding Finding
	in      string
}

// safe lists steps that differ from a rule, and that break no promise. With the steps of the
// rules, users get their object without an unnecessary warning.
var safe = map[cell][]step{
	{NotStored, "clean"}:          {failed, nextName},
	{Renamed, "clean"}:            {created}, // the object is there
	{Foreign, "clean"}:            {failed},
	{Foreign, "wasRejected"}:      {nextName},
	{Foreign, "wasDenied"}:        {nextName},
	{Absent, "wasRejected"}:       {nextName},
	{NoPermission, "clean"}:       {failed}, // with a warning
	{NoPermission, "wasRejected"}: {nextName},
	{NoPermission, "wasDenied"}:   {nextName},

	{Conflict, "untracked"}:     {failed},
	{Rejected, "untracked"}:     {nextName},
	{Denied, "untracked"}:       {nextName},
	{NotStored, "untracked"}:    {failed, nextName},
	{Unauthorized, "untracked"}: {nextName},
	{GivenUp, "untracked"}:      {nextName},
	// A create that is given up in doubt is unknown, regardless of the table (stepAfter).
	{GivenUp, "inDoubt"}: {created, failed, nextName},
}

// If a cell of the table has another step, the model notices, so each cell has a reason. Two cells can't be tested. A
// lost response in a state other than inDoubt can't occur, because it leads to that state. A webhook that renames
// untracked objects can't be noticed.
func TestModelFindsWrongRules(t *testing.T) {
	tracked := model{depth: 6, config: generated}
	plain := model{depth: 8, config: untracked}
	posts, gets := maps.Clone(afterPost), maps.Clone(afterGet)
	for f, to := range posts {
		for in, right := range map[string]step{"clean": to.clean, "inDoubt": to.inDoubt, "untracked": to.untracked} {
			m := tracked
			switch {
			case f == Renamed && in == "untracked", f == Lost && in == "clean":
				continue
			case in == "untracked":
				m = plain
			}
			m.renames = f == Renamed
			wrongRules(t, m, cell{f, in}, right, func(wrong step) {
				mutant := to
				*map[string]*step{"clean": &mutant.clean, "inDoubt": &mutant.inDoubt, "untracked": &mutant.untracked}[in] = wrong
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
			m := tracked
			m.lags = f == Absent && in == "clean"
			if f == Foreign && in == "inDoubt" { // a late POST is stored at the end
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

// wrongRules demands that the model notices each wrong step of the cell.
func wrongRules(t *testing.T, m model, of cell, right step, mutate func(wrong step)) {
	t.Helper()
	for _, wrong := range []step{created, failed, nextName} {
		if wrong == right || slices.Contains(safe[of], wrong) {
			continue
		}
		mutate(wrong)
		if _, err := m.explore(); err == nil {
			t.Errorf("%+v: step %d for %d is not found out", of, wrong, right)
		}
	}
}

// One recheck, or a shorter time for rechecks, is not enough if a first copy of the POST may still be in flight.
func TestModelFindsTooFewRechecks(t *testing.T) {
	for _, few := range [][]time.Duration{{}, rechecks[:1], rechecks[:2]} {
		config := generated
		config.Rechecks = few
		if _, err := (model{depth: 6, config: config}).explore(); err == nil {
			t.Errorf("the pauses %v are not found out", few)
		}
	}
}

// An ID of an owner has one name. If it had a second, an object could be created under it while another object has the
// first name. When that object is deleted, the next reconcile would create a second object under the first name.
func TestModelFindsASecondName(t *testing.T) {
	if _, err := (model{depth: 8, config: ofAKey, again: true, calm: true}).explore(); err == nil {
		t.Error("the model does not find it")
	}
}
