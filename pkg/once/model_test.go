package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The model test explores every way in which a server, the network between and
// other clients can behave, up to a number of choices, and checks the promise
// after each: never two objects, exactly one if told so, none if told so.

// choices replays a prefix of choices and takes the first alternative from
// there on; advance moves to the next prefix, depth first. After depth choices
// the first alternative, which is the truth, is taken.
type choices struct {
	depth        int
	taken, width []int
	at           int
}

func (c *choices) choose(n int) int {
	if n < 2 || c.at >= c.depth {
		return 0
	}
	if c.at == len(c.taken) {
		c.taken, c.width = append(c.taken, 0), append(c.width, n)
	}
	c.at++
	return c.taken[c.at-1]
}

func (c *choices) advance() bool {
	c.taken, c.width = c.taken[:c.at], c.width[:c.at]
	c.at = 0
	for i := len(c.taken) - 1; i >= 0; i-- {
		if c.taken[i]+1 < c.width[i] {
			c.taken[i]++
			c.taken, c.width = c.taken[:i+1], c.width[:i+1]
			return true
		}
	}
	return false
}

const ourID, ourRun = "v1-ours", "v1-run"

var (
	generated = wanted{generateName: "p-", id: ID{creation: ourID}}
	ofAKey    = wanted{generateName: "p-", id: Derived(ourID, ourRun)}
	ofAnOwner = wanted{generateName: "p-", content: "v1-content", id: ID{creation: ourID, repeated: true, single: true}}
)

// model is an object and what may happen while it is created.
type model struct {
	depth      int
	wanted     wanted
	attempts   int // 2 if not said
	interrupts bool
	// crashes: the client may be killed once, and is run again with the same
	// id, unless it finds what it has made, as a run with a key does
	crashes bool
	// again: the client comes back in any case, without looking first, as a
	// reconcile does whose cache knows nothing
	again bool
	// lags: reading answers from a state before any of ours was stored
	lags bool
	// calm: requests are answered in truth, whatever others do
	calm bool
}

func TestModel(t *testing.T) {
	named, unmarked := wanted{name: "p", id: ID{creation: ourID}}, wanted{generateName: "p-", id: Unmarked()}
	for name, m := range map[string]model{
		"generated":              {depth: 7, wanted: generated},
		"generated, interrupted": {depth: 8, wanted: generated, interrupts: true},
		"generated, reads lag":   {depth: 7, wanted: generated, lags: true},
		"named":                  {depth: 7, wanted: named},
		"of a key":               {depth: 7, wanted: ofAKey, crashes: true},
		"of a key, named":        {depth: 7, wanted: wanted{name: "p", id: ofAKey.id}, crashes: true},
		"of an owner":            {depth: 6, wanted: ofAnOwner, again: true},
		"of an owner, crashed":   {depth: 6, wanted: ofAnOwner, crashes: true, again: true},
		"unmarked":               {depth: 9, wanted: unmarked, interrupts: true},
		"unmarked, once":         {depth: 11, wanted: unmarked, attempts: 1, interrupts: true},
		"unmarked, named":        {depth: 11, wanted: wanted{name: "p", id: Unmarked()}, interrupts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends, err := m.explore(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v", ends)
			for _, e := range []ending{isCreated, isFailed, isUnknown} {
				if ends[e] == 0 {
					t.Errorf("no run ended as %s: the model explores too little", e)
				}
			}
		})
	}
}

// explore runs all histories and counts how they ended. The error is of the
// first that broke the promise.
func (m model) explore(t *testing.T) (ends map[ending]int, broken error) {
	ends = map[ending]int{}
	synctest.Test(t, func(t *testing.T) {
		for c, more := (&choices{depth: m.depth}), true; more && broken == nil; more = c.advance() {
			var kind ending
			kind, broken = m.run(t.Context(), c)
			ends[kind]++
		}
	})
	return ends, broken
}

func (m model) run(ctx context.Context, c *choices) (kind ending, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panics: %v", r)
		}
		if err != nil {
			err = fmt.Errorf("%w, after the choices %v", err, c.taken)
		}
	}()
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	w := newWorld(c, m)
	if m.interrupts {
		w.interrupt = interrupt
	}
	result, failure := untilKilled(func() (Result, error) { return m.create(ctx, w) })
	if !w.crashed {
		if err := w.check(result, failure); err != nil || !m.again {
			return endingOf(result, failure), err
		}
	}
	if !m.again && w.listed() {
		return isFound, nil
	}
	w.crashes, w.second = false, true
	time.Sleep(time.Hour) // the second run comes long after
	result, failure = m.create(ctx, w)
	return endingOf(result, failure), w.check(result, failure)
}

func (m model) create(ctx context.Context, w server) (Result, error) {
	s := defaults()
	s.attempts, s.retryTimeout = max(m.attempts, 2), time.Minute
	if m.attempts > 0 {
		s.attempts = m.attempts
	}
	return newOperation(m.wanted, w, s).run(ctx)
}

// errCrash is the end of a client that is killed.
var errCrash = errors.New("killed")

// untilKilled is the result of a create; of one that is killed in between, as
// if it were found to be there.
func untilKilled(create func() (Result, error)) (result Result, failure error) {
	defer func() {
		if r := recover(); r != nil && r != any(errCrash) {
			panic(r)
		}
	}()
	return create()
}

// check is the promise. What is under way still lands after the end.
func (w *world) check(r Result, failure error) error {
	kind := endingOf(r, failure)
	before := w.stored
	for _, p := range w.late { // others may be gone by then
		if held := w.names[p.name]; held != nil && !held.ours() && p.by.IsZero() && w.choose(2) == 1 {
			delete(w.names, p.name)
		}
	}
	w.landAll()
	promised := map[ending][2]int{
		isCreated: {1, 1}, isFound: {1, 1}, isFailed: {0, 0}, isNotAttempted: {0, 0}, isUnknown: {0, 1},
	}[kind]
	told := w.stored
	if w.second && kind != isCreated && kind != isFound { // of what the first run has sent, nobody knows
		told = before
	}
	marksLost := kind == isCreated || kind == isFound
	switch alive := w.alive(); {
	case r.Unverified && w.hedged: // rule 4: the next name, or the refusal, with a warning
		return nil
	case w.second && r.Unverified && kind != isUnknown:
		return nil
	case w.hedged && w.model.lags && w.refused: // it was looked for where it could not be seen
		return nil
	case w.hedged && !w.model.wanted.marked(): // no client can know it
		return nil
	case w.resent: // as kubectl: a conflict with oneself is told as one
		return nil
	case kind == isFailed && w.model.wanted.name != "" && w.stripped(Annotation) && (w.second || errors.Is(failure, ErrTaken)):
		return nil // the name is taken: that is true
	case w.second && w.freed && w.unknowable: // docs/exactly-once.md, "What cannot be promised"
		return nil
	case alive > 1:
		return fmt.Errorf("%d objects are alive, and it ended as %s: %w", alive, kind, failure)
	case w.deleted: // no client can rule out that it is created again
		return nil
	case told < promised[0] || told > promised[1]:
		return fmt.Errorf("%d were stored, and it ended as %s: %w", told, kind, failure)
	case marksLost && !slices.Equal(r.MarksLost, w.lostMarks()):
		return fmt.Errorf("the marks %v are told to be lost, which are %v", r.MarksLost, w.lostMarks())
	}
	return nil
}

// Two runs with one key at the same moment. Each lists what carries its label
// when it has created, as a run does: two objects, which are possible where
// a stranger's name becomes free, are seen by the later run at least. An object
// of an owner is one whatever happens, for it has one name.
func TestModelOfTwoRuns(t *testing.T) {
	for name, test := range map[string]struct {
		wanted wanted
		most   int
	}{"of a key": {ofAKey, 2}, "of an owner": {ofAnOwner, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := 0
			synctest.Test(t, func(t *testing.T) {
				for c, more := (&choices{depth: 13}), true; more; more = c.advance() {
					alive, err := twoRuns(t.Context(), model{wanted: test.wanted, calm: true}, c)
					if most = max(most, alive); err != nil {
						t.Fatalf("%v, after the choices %v", err, c.taken)
					}
				}
			})
			if most != test.most {
				t.Errorf("at most %d objects, want %d", most, test.most)
			}
		})
	}
}

// inTurn is a server before which the requests of several runs wait, until
// they are let through.
type inTurn struct {
	server
	gate chan chan struct{}
}

func (s inTurn) post(until, ctx context.Context, name string) answer {
	s.wait()
	return s.server.post(until, ctx, name)
}

func (s inTurn) get(ctx context.Context, name string) answer {
	s.wait()
	return s.server.get(ctx, name)
}

func (s inTurn) wait() {
	turn := make(chan struct{})
	s.gate <- turn
	<-turn
}

// twoRuns returns how many objects there are after two runs whose requests are
// served in any order.
func twoRuns(ctx context.Context, m model, c *choices) (alive int, err error) {
	w := newWorld(c, m)
	gate, ended := make(chan chan struct{}), make(chan error)
	seen := 0 // by the run that has listed last
	for range 2 {
		go func() {
			result, failure := m.create(ctx, inTurn{w, gate})
			inTurn{w, gate}.wait()
			seen = w.alive()
			switch kind := endingOf(result, failure); {
			case (kind == isCreated || kind == isFound) && seen == 0 && !w.deleted:
				failure = fmt.Errorf("%s, and it is not there", kind)
			default:
				failure = nil
			}
			ended <- failure
		}()
	}
	var waiting []chan struct{}
	for running := 2; running > 0; {
		synctest.Wait()
		select {
		case turn := <-gate:
			waiting = append(waiting, turn)
			continue
		default:
		}
		if len(waiting) > 0 {
			next := c.choose(len(waiting))
			close(waiting[next])
			waiting = slices.Delete(waiting, next, next+1)
			synctest.Wait()
		}
		select {
		case failure := <-ended:
			err = errors.Join(err, failure)
			running--
		case turn := <-gate:
			waiting = append(waiting, turn)
		}
	}
	if alive = w.alive(); alive > 1 && (seen < alive || !w.freed) {
		err = errors.Join(err, fmt.Errorf("%d objects are there, and %d seen", alive, seen))
	}
	return alive, err
}

var errModel, errUnauthorized = errors.New("as chosen"), apierrors.NewUnauthorized("who")
