package protocol

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/choices"
)

// The model explores all behavior of a server, the network and other clients, up to a number of choices. It checks the
// promise after each history. The promise: never two objects, exactly one after a success, and none after a failure.

// model is an object and the events that are possible while it is created.
type model struct {
	depth  int
	config Config
	// keyed: the objects carry the label of a run.
	keyed      bool
	interrupts bool
	// crashes: the client may be killed once, and is run again with the same
	// ID, unless it finds its object, as a run with a key does
	crashes bool
	// again: the client always runs again without a list of objects, like a reconcile with an empty cache
	again bool
	// lags: reads see a state before any of our objects was stored
	lags bool
	// calm: no request meets a fault; other clients can act
	calm bool
	// renames: a webhook picks names
	renames bool
	// exempt is the largest number of histories per thousand that may break the promise, because no client could keep
	// it.
	exempt int
}

// with returns the configuration of an object that may be sent under any number
// of names.
func with(c Config) Config {
	c.RetryTimeout = time.Minute
	if c.Attempts == 0 {
		c.Attempts = 2
	}
	c.Name = func(attempt int) string { return fmt.Sprintf("p-%d", attempt) }
	if c.Fixed {
		c.Attempts, c.Name = 1, func(int) string { return "p" }
	} else if !c.Tracked {
		c.Name = func(int) string { return "" }
	}
	return c
}

var (
	generated = with(Config{Tracked: true})
	ofAKey    = with(Config{Tracked: true, Reused: true})
	ofAnOwner = with(Config{Tracked: true, Reused: true, Attempts: 1})
	untracked = with(Config{})
)

func TestModel(t *testing.T) {
	for name, m := range map[string]model{
		"generated":              {depth: 7, exempt: 145, config: generated},
		"generated, interrupted": {depth: 8, exempt: 75, config: generated, interrupts: true},
		"generated, reads lag":   {depth: 7, exempt: 185, config: generated, lags: true},
		"generated, renamed":     {depth: 7, exempt: 355, config: generated, renames: true},
		"fixed name":             {depth: 7, exempt: 150, config: with(Config{Tracked: true, Fixed: true})},
		"of a key":               {depth: 7, exempt: 130, config: ofAKey, keyed: true, crashes: true},
		"of a key, fixed name":   {depth: 7, exempt: 150, config: with(Config{Tracked: true, Reused: true, Fixed: true}), keyed: true, crashes: true},
		"of an owner":            {depth: 6, exempt: 140, config: ofAnOwner, again: true},
		"of an owner, crashed":   {depth: 6, exempt: 105, config: ofAnOwner, crashes: true, again: true},
		"untracked":              {depth: 9, exempt: 255, config: untracked, interrupts: true},
		"untracked, once":        {depth: 11, exempt: 85, config: with(Config{Attempts: 1}), interrupts: true},
		"untracked, fixed name":  {depth: 11, exempt: 450, config: with(Config{Fixed: true}), interrupts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends, err := m.explore()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v", ends)
			for _, e := range []ending{isCreated, isFailed, isUnknown} {
				if ends.of[e] == 0 && (!m.renames || e != isCreated) {
					t.Errorf("no run ended as %s: the model explores too little", e)
				}
			}
			if share := 1000 * ends.exempted() / ends.all(); share > m.exempt {
				t.Errorf("%d‰ of %d histories are exempted, want at most %d‰: %v", share, ends.all(), m.exempt, ends.exempt)
			}
		})
	}
}

// ending is how a create ended, in one word.
type ending string

const (
	isCreated      ending = "created"
	isFound        ending = "found"
	isFailed       ending = "failed"
	isRenamed      ending = "renamed"
	isUnknown      ending = "unknown"
	isNotAttempted ending = "not attempted"
)

func endingOf(d Done) ending {
	switch {
	case d.Outcome == Created:
		return isCreated
	case d.Outcome == Found:
		return isFound
	case d.Outcome == Unknown:
		return isUnknown
	case d.Last == Renamed:
		return isRenamed
	case d.Stopped == Interrupted:
		return isNotAttempted
	}
	return isFailed
}

// ends has the number of histories by their ending, and the number of exempted histories by reason.
type ends struct {
	of     map[ending]int
	exempt map[string]int
}

func sum[K comparable](counts map[K]int) (n int) {
	for count := range maps.Values(counts) {
		n += count
	}
	return n
}

func (e ends) all() int      { return sum(e.of) }
func (e ends) exempted() int { return sum(e.exempt) }

// explore runs all histories and counts their endings. The error is about the first history that broke the promise.
func (m model) explore() (ends, error) {
	e := ends{map[ending]int{}, map[string]int{}}
	for c, more := (&choices.Choices{Depth: m.depth}), true; more; more = c.Advance() {
		kind, exempt, err := m.run(c)
		if err != nil {
			return e, fmt.Errorf("%w, after the choices %v", err, c.Taken)
		}
		e.of[kind]++
		if exempt != "" {
			e.exempt[exempt]++
		}
	}
	return e, nil
}

func (m model) run(c *choices.Choices) (kind ending, exempt string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panics: %v", r)
		}
	}()
	w := newWorld(c, m)
	done, killed := w.drive(New(m.config, w.now))
	if !killed {
		if exempt, err = w.check(done); err != nil || !m.again {
			return endingOf(done), exempt, err
		}
	}
	if !m.again && w.listed() {
		return isFound, "", nil
	}
	w.crashes, w.second = false, true
	w.now, w.interruptedAt = w.now.Add(time.Hour), time.Time{} // the second run comes long after
	done, _ = w.drive(New(m.config, w.now))
	exempt, err = w.check(done)
	return endingOf(done), exempt, err
}

// check checks the promise at the end of a history. If no client could have kept it, check returns the reason. POSTs
// that are still in flight are stored first.
func (w *world) check(d Done) (exempt string, err error) {
	kind, before := endingOf(d), w.stored
	for _, p := range w.late { // objects of others may be deleted by then
		if held := w.names[p.name]; held != nil && !held.ours() && p.by.IsZero() && w.Choose(2) == 1 {
			delete(w.names, p.name)
		}
	}
	w.landAll()
	promised := map[ending][2]int{
		isCreated: {1, 1}, isFound: {1, 1}, isFailed: {0, 0}, isNotAttempted: {0, 0}, isUnknown: {0, 1}, isRenamed: {1, 1},
	}[kind]
	if w.model.renames && kind == isUnknown { // a lost POST and the next POST have different names
		promised[1] = 2
	}
	stored := w.stored
	if w.second && kind != isCreated && kind != isFound { // the requests of the first run are unknown
		stored = before
	}
	alive := w.alive()
	many, wrong := alive > 1 && alive > promised[1], stored < promised[0] || stored > promised[1]
	if !many && !wrong {
		return "", nil
	}
	why := w.exempts(d)
	if why == "" && !many && w.deleted {
		why = "deleted by others" // no client can rule out that it is created again
	}
	if why == "" {
		err = fmt.Errorf("%d objects are alive, %d were stored, and it ended as %s: %+v", alive, stored, kind, d)
	}
	return why, err
}

// exempts returns the reason why no client could have kept the promise (docs/internals/create-protocol.md), or nothing.
func (w *world) exempts(d Done) string {
	taken := (d.Last == Conflict || d.Last == Foreign) && !d.Refused && d.Stopped == ""
	switch {
	case d.Unverified && w.hedged && (!w.denied || d.Last != NoPermission): // the next name, or the refusal, with a warning
		return "unverified, sent twice"
	case w.second && d.Unverified && d.Outcome != Unknown:
		return "unverified, second run"
	case w.hedged && w.model.lags && w.refused: // the read saw a state without the object
		return "sent twice, reads lag"
	case w.hedged && !w.model.config.Tracked: // no client can know it
		return "sent twice, untracked"
	case w.resent && !w.model.config.Tracked: // kubectl reports this conflict, too
		return "sent again, untracked"
	case endingOf(d) == isFailed && w.model.config.Fixed && w.strip().id && (w.second || taken): // the name is taken: that is true
		return "the fixed name is taken by our object, without its ID"
	case w.second && w.freed && w.unknowable:
		return "killed, and nothing shows what it has left"
	case w.hedged && w.model.renames:
		return "sent twice, renamed"
	}
	return ""
}

// Two runs have one key at the same moment. At its end, each run lists the objects with
// its label. Two objects are possible if the name of another client's object becomes
// free. At least the later run sees both then. There is never a second object of an
// owner, because it has one name.
func TestModelOfTwoRuns(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		most   int
	}{"of a key": {ofAKey, 2}, "of an owner": {ofAnOwner, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := 0
			for c, more := (&choices.Choices{Depth: 13}), true; more; more = c.Advance() {
				alive, err := twoRuns(newWorld(c, model{config: test.config, keyed: true, calm: true}))
				if most = max(most, alive); err != nil {
					t.Fatalf("%v, after the choices %v", err, c.Taken)
				}
			}
			if most != test.most {
				t.Errorf("at most %d objects, want %d", most, test.most)
			}
		})
	}
}

// twoRuns returns the number of objects after two runs whose requests are served in any order.
func twoRuns(w *world) (alive int, err error) {
	seen := 0 // by the run that has listed last
	running := []*turns{{machine: New(w.model.config, w.now)}, {machine: New(w.model.config, w.now)}}
	for len(running) > 0 {
		next := w.Choose(len(running))
		if !running[next].step(w) {
			continue
		}
		seen = w.alive()
		if end := running[next].end.Outcome; (end == Created || end == Found) && seen == 0 && !w.deleted {
			return seen, fmt.Errorf("%s, and it is not there", end)
		}
		running = slices.Delete(running, next, next+1)
	}
	if alive = w.alive(); alive > 1 && (seen < alive || !w.freed) {
		err = fmt.Errorf("%d objects are there, and %d seen", alive, seen)
	}
	return alive, err
}

// turns is a run that makes one request at a time, and then a list.
type turns struct {
	machine *Machine
	end     *Done
}

// step reports whether the run has listed.
func (r *turns) step(w *world) bool {
	for r.end == nil {
		switch a := r.machine.Next(w.now).(type) {
		case Done:
			r.end = &a
			return false
		case Wait:
			w.now = a.Until
		case Post:
			r.machine.Observe(w.now, w.post(a.Name))
			return false
		case Get:
			r.machine.Observe(w.now, w.get(a.Name))
			return false
		case AskTime:
			r.machine.Observe(w.now, w.time())
		}
	}
	return true
}
