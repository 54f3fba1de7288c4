package create

import (
	"errors"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// The exit code follows from the summary. An unknown outcome has priority over an object that failed, an interrupt, and
// an error.
func TestExitCodes(t *testing.T) {
	one := func(totals create.Totals) create.Summary {
		return create.Summary{Documents: 1, Tally: create.Tally{Totals: totals}}
	}
	waited := func(outcome wait.Result) follow.State {
		return follow.State{
			Objects: make([]wait.Object, 1), Began: time.Now(), Ended: map[wait.Result]int{outcome: 1},
			Failed: outcome == wait.Failed,
		}
	}
	no := []placed{{err: errors.New("no")}}
	for name, test := range map[string]struct {
		ending   ending
		followed follow.State
		want     int
		printed  int // lines
	}{
		"created":                 {ending{Summary: one(create.Totals{protocol.Created: 1})}, follow.State{}, 0, 0},
		"nothing":                 {ending{}, follow.State{}, exitcode.Failed, 0},
		"failed":                  {ending{Summary: one(create.Totals{protocol.Failed: 1}), facts: facts{errs: no}}, follow.State{}, exitcode.Failed, 0},
		"one of two":              {ending{Summary: one(create.Totals{protocol.Created: 1, protocol.Failed: 1}), facts: facts{errs: no}}, follow.State{}, exitcode.Failed, 0},
		"not printed":             {ending{Summary: one(create.Totals{protocol.Created: 1}), facts: facts{errs: no}}, follow.State{}, exitcode.Failed, 0},
		"copies fail alike":       {ending{Summary: one(create.Totals{protocol.Failed: 2}), facts: facts{errs: no, unsaid: true}}, follow.State{}, exitcode.Failed, 0},
		"not attempted":           {ending{Summary: one(create.Totals{create.NotAttempted: 1})}, follow.State{}, exitcode.Failed, 0},
		"unknown":                 {ending{Summary: one(create.Totals{protocol.Unknown: 1})}, follow.State{}, exitcode.Unknown, 0},
		"unknown and interrupted": {ending{Summary: one(create.Totals{protocol.Unknown: 1, create.NotAttempted: 1}), interrupted: true}, follow.State{}, exitcode.Unknown, 0},
		"unknown and has failed":  {ending{Summary: one(create.Totals{protocol.Unknown: 1})}, waited(wait.Failed), exitcode.Unknown, 0},
		"interrupted":             {ending{Summary: one(create.Totals{create.NotAttempted: 1}), interrupted: true}, follow.State{}, exitcode.Interrupted, 0},
		"interrupted at the end":  {ending{Summary: one(create.Totals{protocol.Created: 1}), interrupted: true}, follow.State{}, 0, 0},
		"interrupted wait":        {ending{Summary: one(create.Totals{protocol.Created: 1}), interrupted: true}, waited(wait.Interrupted), exitcode.Interrupted, 0},
		"stdout is gone":          {ending{Summary: one(create.Totals{create.NotAttempted: 1}), notWritten: true}, follow.State{}, exitcode.Failed, 0},
		"has succeeded":           {ending{Summary: one(create.Totals{protocol.Created: 1})}, waited(wait.Succeeded), 0, 1},
		"has failed":              {ending{Summary: one(create.Totals{protocol.Created: 1})}, waited(wait.Failed), exitcode.ObjectFailed, 0},
		"failed, interrupted":     {ending{Summary: one(create.Totals{protocol.Created: 1, create.NotAttempted: 1}), interrupted: true}, waited(wait.Failed), exitcode.ObjectFailed, 0},
		"out of time":             {ending{Summary: one(create.Totals{protocol.Created: 1})}, waited(wait.OutOfTime), exitcode.Failed, 0},
		"deleted":                 {ending{Summary: one(create.Totals{protocol.Created: 1})}, waited(wait.Deleted), exitcode.Failed, 0},
	} {
		e := test.ending
		e.flags, e.followed = &ownCreateFlags{}, test.followed
		printed, err := e.result()
		code := 0
		if err != nil {
			_, code = exitcode.Describe(err)
		}
		if code != test.want || len(printed) != test.printed {
			t.Errorf("%s: exit code %d, want %d; %v, printed %q", name, code, test.want, err, printed)
		}
	}
}
