package live

import (
	"context"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// If etcd is restored from a backup while the API server runs, watches stay open. They deliver nothing until etcd
// passes the state that it had before, and then continue. Objects that the backup lacks are lost without an event. Soon
// after, neither the state nor the number of objects has to differ: if all writes are creates, equal states have equal
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

// next returns the witness to check, or false if there is none. An object that was absent at the last check comes
// first.
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
	w, ok := r.witness()
	if !ok {
		return
	}
	there, err := r.source.has(ctx, r.resource, w)
	if err != nil {
		return // the next round checks another witness
	}
	isLost := false
	r.store.do(func(c *counts) {
		absent := &c.witnesses.absent
		switch {
		case there:
			*absent = witness{}
		case c.has(w.key):
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
	w, ok := r.witness()
	if !ok {
		return true
	}
	if there, err := r.source.has(ctx, r.resource, w); there || err != nil {
		return err == nil
	}
	for deadline := time.Now().Add(arrives); time.Now().Before(deadline); {
		if !get(r.store, func(c *counts) bool { return c.has(w.key) }) {
			return true
		}
		if apistatus.Sleep(ctx, arrives/100) != nil {
			return false
		}
	}
	return false
}

func (r *reflector) witness() (w witness, ok bool) {
	r.store.do(func(c *counts) { w, ok = c.witnesses.next() })
	return w, ok
}
