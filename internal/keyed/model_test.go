package keyed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// The model runs programs under a key. They have threads, use any order, are killed, and run again or twice at the same
// time. The model checks three promises. There are never more objects than one run of the program creates. A create
// that ended as created has an object. This object has the content of the create. If each run has the order of the
// program, a last run without faults also creates all of its objects. pkg/once/protocol has the model of one create.

// A mutant is a deliberately wrong rule. The model must notice it.
type mutant string

const (
	numbersByArrival mutant = "objects are numbered by their arrival"
	noCheck          mutant = "new content is created beside objects that were not asked for"
	digestOfID       mutant = "the digest is computed from the ID"
	repeatCounts     mutant = "a repeat is another create"
)

// history is one history of a program.
type history struct {
	*rand.Rand
	mutant mutant

	creates       []string // the contents of the program, in its order
	threads       int
	dated, skips  bool // the content has a date; the program lists first, and skips existing objects
	ordered, calm bool // each run has the order of creates; no request meets a fault

	objects map[string]stored // by name
	late    []*thread         // POSTs of killed runs that can still arrive
	runs    int
	listed  int  // the number of the last run that has listed
	twice   bool // two runs are active at the same moment
	missed  bool // a POST was stored after a later run's list
	moved   bool // a run continued after an object failed
}

type stored struct{ id, digest, content string }

// process is one run of the program.
type process struct {
	contents *Contents
	group    *group // nil before the list
	number   int
	queue    []string
	threads  []*thread
	ended    bool
}

// thread is a thread of the program. It has no claim while its create waits.
type thread struct {
	process *process
	content string // empty without a create
	claim   *Claim
}

var modelIdentity = identity("ns", "a-")

func (h *history) start() *process {
	p := &process{number: h.runs, queue: slices.Clone(h.creates)}
	h.runs++
	p.contents = NewContents(New(key, nil, func(context.Context, schema.GroupVersionResource, string) ([]idempotency.Existing, error) {
		var found []idempotency.Existing
		for name, o := range h.objects {
			found = append(found, idempotency.Existing{Name: name, GenerateName: "a-", ID: o.id, Digest: o.digest})
		}
		return found, nil
	}))
	if !h.ordered {
		h.Shuffle(len(p.queue), func(i, j int) { p.queue[i], p.queue[j] = p.queue[j], p.queue[i] })
	}
	for _, o := range h.objects {
		if i := slices.Index(p.queue, o.content); h.skips && i >= 0 {
			p.queue = slices.Delete(p.queue, i, i+1)
		}
	}
	for range h.threads {
		p.threads = append(p.threads, &thread{process: p})
	}
	return p
}

// digestOf returns the digest that identifies a content.
func (h *history) digestOf(content string) string {
	if h.mutant == numbersByArrival {
		content = ""
	}
	return derive.Secret{}.DigestOfKey(string(key), modelIdentity, content)
}

// begin begins the next create of a thread, or tries again to get its claim. It returns false if the create waits.
func (h *history) begin(t *thread) bool {
	p := t.process
	if p.group == nil {
		p.group, _ = p.contents.group(context.Background(), placeIn("ns", "a-"), modelIdentity)
		h.listed = max(h.listed, p.number)
	}
	if t.content == "" {
		t.content, p.queue = p.queue[0], p.queue[1:]
		if h.dated {
			t.content += fmt.Sprint(" of run ", p.number)
		}
	}
	if h.mutant == noCheck {
		p.group.unmatched = 0
	}
	t.claim, _, _ = p.contents.take(p.group, placeIn("ns", "a-"), modelIdentity, h.digestOf(t.content))
	return t.claim != nil
}

// store carries out a POST, and returns the object with its name.
func (h *history) store(t *thread) stored {
	name := t.claim.ID.Name("a-", 0)
	if _, taken := h.objects[name]; !taken {
		digest := t.claim.ID.Digest
		if h.mutant == digestOfID {
			digest = derive.Secret{}.DigestOf(t.claim.ID.Creation, t.content)
		}
		h.objects[name] = stored{t.claim.ID.Creation, digest, t.content}
	}
	return h.objects[name]
}

// finish ends the create of a thread with one of the outcomes of a create.
func (h *history) finish(t *thread) error {
	outcome := "created"
	if !h.calm {
		outcome = []string{"created", "created", "response lost", "refused", "unknown", "repeated"}[h.IntN(6)]
	}
	switch outcome {
	case "refused":
		t.claim.End(false)
		t.claim = nil
		if h.IntN(2) == 0 {
			return nil // the program repeats it
		}
		h.moved = true
		t.content = ""
		return nil
	case "unknown":
		if h.IntN(2) == 0 {
			h.late = append(h.late, &thread{t.process, t.content, t.claim})
		}
		t.claim.End(true)
		if h.IntN(3) == 0 {
			h.moved, t.content, t.claim = true, "", nil
			return nil
		}
		fallthrough // the program repeats it
	case "repeated": // the client gave up, and sends an equal create
		if h.store(t); h.mutant == repeatCounts {
			h.begin(t)
		}
	}
	if t.claim == nil {
		return nil
	}
	o := h.store(t)
	t.claim.End(true)
	if o.id != t.claim.ID.Creation || h.objects[t.claim.ID.Name("a-", 0)].id != o.id {
		return fmt.Errorf("%q was created, and is not there", t.content)
	}
	if o.content != t.content {
		return fmt.Errorf("the create of %q got %q", t.content, o.content)
	}
	t.content, t.claim = "", nil
	return nil
}

// kill ends a run. Each of its POSTs can still arrive.
func (h *history) kill(p *process) {
	p.ended = true
	for _, t := range p.threads {
		if t.claim != nil && h.IntN(2) == 0 {
			h.late = append(h.late, t)
		}
	}
}

// land stores a late POST.
func (h *history) land(i int) {
	t, before := h.late[i], len(h.objects)
	h.late = slices.Delete(h.late, i, i+1)
	h.store(t)
	h.missed = h.missed || len(h.objects) > before && h.listed > t.process.number
}

// step is one step of a run. It returns false if the run has nothing to do.
func (h *history) step(p *process) (more bool, err error) {
	var waiting []*thread
	for _, i := range h.Perm(len(p.threads)) {
		switch t := p.threads[i]; {
		case t.claim != nil:
			return true, h.finish(t)
		case t.content == "" && len(p.queue) == 0:
		case h.begin(t):
			return true, nil
		default:
			waiting = append(waiting, t)
		}
	}
	if len(waiting) == 0 {
		return false, nil
	}
	h.moved = true // the response is 422, because no other thread creates anything
	waiting[0].content = ""
	if h.IntN(2) == 0 { // the program ends
		p.queue = nil
	}
	return true, nil
}

// play runs a program until it ends, with up to two kills or two runs at the same moment.
func (h *history) play() error {
	active, kills := []*process{h.start()}, 0
	if h.twice {
		active = append(active, h.start())
	}
	for len(active) > 0 {
		p := active[h.IntN(len(active))]
		switch {
		case len(h.late) > 0 && h.IntN(8) == 0:
			h.land(h.IntN(len(h.late)))
		case !h.calm && kills < 2 && h.IntN(8) == 0:
			kills++
			h.kill(p)
			active[slices.Index(active, p)] = h.start()
		default:
			more, err := h.step(p)
			if err != nil {
				return err
			}
			if !more {
				active = slices.DeleteFunc(active, func(each *process) bool { return each == p })
			}
		}
	}
	for len(h.late) > 0 {
		h.land(0)
	}
	return nil
}

// run runs a history, and then the program once more without faults.
func (h *history) run() error {
	if err := h.play(); err != nil {
		return err
	}
	complete := h.ordered && !h.dated && !h.skips && !h.moved
	exempt := h.dated && h.twice // no client could keep the number of objects
	h.calm, h.twice, h.moved = true, false, false
	if err := h.play(); err != nil {
		return err
	}
	exempt = exempt || h.dated && h.missed
	switch {
	case len(h.objects) > len(h.creates) && !exempt:
		return fmt.Errorf("%d objects, and the program has %d creates", len(h.objects), len(h.creates))
	case complete && (len(h.objects) < len(h.creates) || h.moved):
		return fmt.Errorf("the last run created %d of %d objects", len(h.objects), len(h.creates))
	}
	return nil
}

// explore runs histories, and returns the error of the first that breaks a promise.
func explore(histories uint64, m mutant) error {
	programs := [][]string{{"A"}, {"A", "B", "A"}, {"A", "B", "C", "D"}, {"A", "A", "A", "B", "B"}}
	for seed := range histories {
		random := rand.New(rand.NewPCG(seed, 0))
		h := &history{
			Rand: random, mutant: m, objects: map[string]stored{},
			creates: programs[random.IntN(len(programs))], threads: 1 + random.IntN(3),
			dated: random.IntN(4) == 0, skips: random.IntN(4) == 0,
			ordered: random.IntN(2) == 0, twice: random.IntN(4) == 0,
		}
		if err := h.run(); err != nil {
			return fmt.Errorf("history %d of a program with the creates %q: %w", seed, h.creates, err)
		}
	}
	return nil
}

func TestModel(t *testing.T) {
	if err := explore(10_000, ""); err != nil {
		t.Fatal(err)
	}
}

func TestModelFindsWrongRules(t *testing.T) {
	for _, m := range []mutant{numbersByArrival, noCheck, digestOfID, repeatCounts} {
		err := explore(10_000, m)
		if err == nil {
			t.Errorf("%s: it is not found out", m)
		}
		t.Logf("%s: %v", m, err)
	}
}
