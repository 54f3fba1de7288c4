package live

import (
	"context"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// If etcd is restored from a backup while the API server runs, watches stay open. They deliver nothing until etcd passes
// the state that it had before, and then continue. Objects that the backup lacks are lost without an event. Soon after,
// neither the state nor the number of objects has to differ: if all writes are creates, equal states have equal
// numbers. So the engine also checks a witness.

// witness is a member whose create was delivered by the watch. The server must have it until its delete is delivered.
type witness struct {
	key             uint64
	namespace, name string
	at              time.Time
}

// witnesses chooses the witness to check. A restore takes seconds, in which no event comes. So the best witness is the
// object that was created before the longest pause since the last check.
type witnesses struct {
	last   witness // newest created object
	chosen witness // object before the longest pause
	pause  time.Duration
	absent witness // the server didn't have it at the last check
}

func (w *witnesses) add(created witness) {
	if pause := created.at.Sub(w.last.at); w.last.name != "" && pause >= w.pause {
		w.chosen, w.pause = w.last, pause
	}
	w.last = created
}

// forget drops an object that was deleted.
func (w *witnesses) forget(key uint64) {
	for _, one := range []*witness{&w.last, &w.chosen, &w.absent} {
		if one.key == key {
			*one = witness{}
		}
	}
	if w.chosen.name == "" {
		w.pause = 0
	}
}

// next returns the witness to check, or false if there is none. An object that was absent at the last check comes first.
func (w *witnesses) next() (next witness, ok bool) {
	for _, next = range []witness{w.absent, w.chosen, w.last} {
		if next.name != "" {
			break
		}
	}
	w.chosen, w.pause = witness{}, 0
	return next, next.name != ""
}

// checkWitness ends the watch if the server doesn't have an object that it had, at two checks in a row. Between them,
// the delete of the object would have arrived.
func (r *reflector) checkWitness(ctx context.Context) {
	w, ok := r.store.nextWitness()
	if !ok {
		return
	}
	there, err := r.has(ctx, w)
	if err != nil {
		return // the next round checks another witness
	}
	isLost := false
	r.store.do(func() {
		absent := &r.store.witnesses.absent
		switch {
		case there:
			*absent = witness{}
		case r.store.counts(w.key):
			isLost = *absent == w
			*absent = w
		}
	})
	if breaks := r.breaks.Load(); isLost && breaks != nil {
		(*breaks)(errRewritten)
	}
}

// keepsWitness reports whether the server has the witness, or the delete of the witness arrives in time.
func (r *reflector) keepsWitness(ctx context.Context) bool {
	w, ok := r.store.nextWitness()
	if !ok {
		return true
	}
	if there, err := r.has(ctx, w); there || err != nil {
		return err == nil
	}
	for deadline := time.Now().Add(arrives); time.Now().Before(deadline); {
		isMember := false
		if r.store.do(func() { isMember = r.store.counts(w.key) }); !isMember {
			return true
		}
		if apistatus.Sleep(ctx, arrives/100) != nil {
			return false
		}
	}
	return false
}

func (s *store) nextWitness() (w witness, ok bool) {
	s.do(func() { w, ok = s.witnesses.next() })
	return w, ok
}

// has reports whether the server has an object.
func (r *reflector) has(ctx context.Context, w witness) (there bool, err error) {
	scanner := r.Scanner
	scanner.Progress, scanner.RetryTimeout = nil, noRetries
	reader, err := scanner.Reader()
	if err != nil {
		return false, err
	}
	r.requests.Add(1)
	err = reader.Get(ctx, r.resource, w.namespace, w.name, r.asked(), func(*object.Object) error {
		there = true
		return nil
	})
	return there, err
}
