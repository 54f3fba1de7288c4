package once

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	if c.at >= c.depth {
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

// world is a server with one name space, and all that can happen to it.
type world struct {
	choices *choices
	// interrupt, if not nil, ends the context given to Create
	interrupt func()
	crashes   bool // the client may be killed after any request
	crashed   bool
	freeable  bool // a name may become free without an excuse
	strips    bool // the server removes creation ids
	id        string
	picked    int               // names that the server picked itself
	names     map[string]string // name to holder: an id, or "" for an object without one
	old       map[string]bool   // names whose holder was there long before
	late      string            // a POST of this name may still land
	stored    int               // objects of ours that were ever stored
	deleted   bool              // another client deleted one of ours
	freed     bool              // another client deleted what held a name
	twice     bool              // a proxy sent a POST of ours twice
}

var (
	modelStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	errModel   = errors.New("as chosen")
)

// errCrash is the end of a client that is killed.
var errCrash = errors.New("killed")

func (w *world) maybeCrash() {
	if w.crashes && !w.crashed && w.choices.choose(2) == 1 {
		w.crashed = true
		panic(errCrash)
	}
}

// meddle lets others act before a request: a late POST lands, the name is
// taken, its object is deleted.
func (w *world) meddle(name string) {
	holder, held := w.names[name]
	switch n := w.choices.choose(5); {
	case n == 1 && w.late != "":
		w.land()
	case n == 2 && !held:
		w.names[name] = "someone-else"
	case n == 3 && !held:
		w.names[name] = ""
		w.old[name] = w.choices.choose(2) == 0
	case n == 4 && held:
		delete(w.names, name)
		delete(w.old, name)
		w.deleted = w.deleted || holder == w.id
		w.freed = w.freed || holder != w.id
	}
}

func (w *world) store(name string) bool {
	if _, held := w.names[name]; held {
		return false
	}
	w.names[name] = w.id
	w.stored++
	return true
}

func (w *world) land() {
	w.store(w.late)
	w.late = ""
}

func (w *world) object(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
	object.SetName(name)
	object.SetCreationTimestamp(metav1.NewTime(modelStart))
	if w.old[name] {
		object.SetCreationTimestamp(metav1.NewTime(modelStart.Add(-time.Hour)))
	}
	if id := w.names[name]; id != "" && !w.strips {
		object.SetAnnotations(map[string]string{Annotation: id})
	}
	return object
}

func (w *world) post(_ context.Context, name string) answer {
	defer w.maybeCrash()
	if name == "" {
		w.picked++
		name = fmt.Sprintf("picked-%d", w.picked%2)
	}
	w.maybeInterrupt()
	w.meddle(name)
	tell := func(e finding) answer { return answer{finding: e, err: errModel, notBefore: modelStart} }
	switch w.choices.choose(8) {
	case 7:
		return tell(unauthorized)
	case 1:
		return tell(refused)
	case 2:
		return tell(notStored)
	case 3: // the request is lost
		return tell(lost)
	case 4: // the answer is lost
		w.store(name)
		return tell(lost)
	case 5: // the request is under way for long
		w.late = name
		return tell(lost)
	case 6: // a proxy repeats it
		w.twice = w.store(name) || w.twice
		return tell(conflict)
	}
	if !w.store(name) {
		return tell(conflict)
	}
	return answer{finding: stored, object: w.object(name)}
}

func (w *world) maybeInterrupt() {
	if w.interrupt != nil && w.choices.choose(2) == 1 {
		w.interrupt()
	}
}

func (w *world) get(_ context.Context, name string) answer {
	defer w.maybeCrash()
	w.maybeInterrupt()
	w.meddle(name)
	switch w.choices.choose(3) {
	case 1:
		return answer{finding: noRight, err: errModel}
	case 2:
		return answer{finding: unread, err: errModel}
	}
	if _, held := w.names[name]; !held {
		return answer{finding: absent, err: errModel}
	}
	return answer{finding: unclear, object: w.object(name)}
}

// check is the promise. What is under way still lands after the end.
func (w *world) check(r Result, kind ending, unmarked bool) error {
	promised := map[ending][2]int{
		isCreated: {1, 1}, isFound: {1, 1}, isFailed: {0, 0}, isNotAttempted: {0, 0}, isUnknown: {0, 1},
	}[kind]
	if w.late != "" { // others may be gone by then
		if holder := w.names[w.late]; holder != w.id && w.choices.choose(2) == 1 {
			delete(w.names, w.late)
		}
		w.land()
	}
	if w.crashed { // a POST of the first run may be there, whatever the second one says
		promised[0] = min(promised[0], 1)
		promised[1] = 1
	}
	alive := 0
	for _, holder := range w.names {
		if holder == w.id {
			alive++
		}
	}
	switch {
	case r.Unverified && w.twice: // rule 4: the next name, with a warning
		return nil
	case w.twice && unmarked: // no client can know it
		return nil
	case w.crashed && w.freed && !w.freeable: // docs/exactly-once.md, "What cannot be promised"
		return nil
	case alive > 1:
		return fmt.Errorf("%d objects are alive", alive)
	case w.deleted: // no client can rule out that it is created again
		return nil
	case w.stored < promised[0] || w.stored > promised[1]:
		return fmt.Errorf("%d were stored", w.stored)
	}
	return nil
}

func TestModel(t *testing.T) {
	generated := wanted{generateName: "p-", id: ID{creation: ourID}}
	ofOwner := wanted{generateName: "p-", id: ID{creation: ourID, repeated: true, single: true}}
	for name, m := range map[string]model{
		"generated":              {depth: 8, wanted: generated},
		"generated, interrupted": {depth: 10, wanted: generated, interrupts: true},
		"named":                  {depth: 8, wanted: wanted{name: "p", id: ID{creation: ourID}}},
		"generated, crashed":     {depth: 8, wanted: wanted{generateName: "p-", id: Derived(ourID, "")}, crashes: true},
		"of an owner":            {depth: 7, wanted: ofOwner, again: true},
		"of an owner, crashed":   {depth: 7, wanted: ofOwner, crashes: true, again: true},
		"unmarked":               {depth: 12, wanted: wanted{generateName: "p-", id: Unmarked()}, interrupts: true},
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

const ourID = "v1-ours"

// model is an object and what may happen while it is created.
type model struct {
	depth      int
	wanted     wanted
	interrupts bool
	// crashes: the client may be killed once, and is run again with the same
	// id, unless the object is found to be there, as a run with a key does
	crashes bool
	// again: the client comes back in any case, without looking first, as a
	// reconcile does whose cache knows nothing
	again bool
}

// explore runs all histories and counts how they ended. The error is of the
// first that broke the promise.
func (m model) explore(t *testing.T) (ends map[ending]int, broken error) {
	ends = map[ending]int{}
	for c := (&choices{depth: m.depth}); broken == nil; {
		synctest.Test(t, func(t *testing.T) {
			kind, err := m.run(t.Context(), c)
			ends[kind]++
			broken = err
		})
		if !c.advance() {
			break
		}
	}
	return ends, broken
}

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

// there reports whether a list finds the object.
func (w *world) there() bool {
	for _, holder := range w.names {
		if holder == w.id {
			return true
		}
	}
	return false
}

func (m model) run(ctx context.Context, c *choices) (kind ending, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panics: %v", r)
		}
	}()
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	w := &world{choices: c, crashes: m.crashes, freeable: m.again, id: ourID, names: map[string]string{}, old: map[string]bool{}}
	if m.interrupts {
		w.interrupt = interrupt
	}
	create := func() (Result, error) {
		s := defaults()
		s.attempts, s.retryTimeout = 2, time.Minute
		return newOperation(m.wanted, w, s).run(ctx)
	}
	w.strips = c.choose(2) == 1
	result, failure := untilKilled(create)
	if m.again || w.crashed && (w.strips || !w.there()) {
		for name := range w.names { // the second run comes long after
			w.old[name] = true
		}
		w.crashed = true // at the latest now: nothing is left of the first run but what it has sent
		result, failure = create()
	}
	kind = endingOf(result, failure)
	if err := w.check(result, kind, !m.wanted.marked()); err != nil {
		return kind, fmt.Errorf("%w and it ended as %s (%w) after the choices %v", err, kind, failure, c.taken)
	}
	return kind, nil
}
