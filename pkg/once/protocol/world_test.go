package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/choices"
)

const ourID = "ours"

// world is a server with one name pool, and all events that can change it. Time passes only while a machine pauses.
type world struct {
	*choices.Choices
	model         model
	now           time.Time
	interruptedAt time.Time
	crashes       bool // the client may be killed after any request
	second        bool // a run that comes after the first one's end
	strips        *stripped
	picked        int // names that the server, or a webhook, picked itself
	names         map[string]*holder
	late          []*delayed
	always        *Observation // the response to every POST from now on
	locked        bool         // every request gets a 401

	// No promise can hold against these:

	crashed    bool // the client was killed
	stored     int  // objects of ours that were ever stored
	deleted    bool // another client deleted one of ours
	freed      bool // another client deleted the holder of a name
	hedged     bool // a proxy sent a POST of ours twice
	refused    bool // the last POST had another response than a conflict
	denied     bool // an earlier copy may have caused this response
	resent     bool // a POST was carried out, and the response has a Retry-After
	unknowable bool // a killed run has left an object that the next one can't find
}

// stripped are the creation ID and the label that the server removes from objects.
type stripped struct{ id, label bool }

// holder is an object under a name.
type holder struct {
	id      string // the creation ID; objects of others may have none
	created time.Time
}

func (h *holder) ours() bool { return h.id == ourID }

// delayed is a POST in flight. The server stores it until by at the latest, or at any time if by is zero.
type delayed struct {
	name string
	by   time.Time
}

const (
	// hedge is how long the first copy of a POST can be in flight after the second copy was denied. If it were
	// longer, no client could exclude a late copy.
	hedge = 12 * time.Second
	// clocksApart is the largest difference between the clocks of two API servers.
	clocksApart = 4 * time.Second
	// grace is the time to read back after an interrupt.
	grace = 5 * time.Second
)

func newWorld(c *choices.Choices, m model) *world {
	return &world{
		Choices: c, model: m, crashes: m.crashes, names: map[string]*holder{},
		now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
	}
}

// drive runs a machine to its end. killed is true if the client was killed earlier.
func (w *world) drive(m *Machine) (done Done, killed bool) {
	for {
		var o Observation
		switch a := m.Next(w.now).(type) {
		case Done:
			return a, false
		case Wait:
			w.wait(m, a.Until)
			continue
		case Post:
			o = w.post(a.Name)
		case Get:
			o = w.get(a.Name)
		case AskTime:
			o = w.time()
		}
		m.Observe(w.now, o)
		if !w.interruptedAt.IsZero() {
			m.Interrupt(!w.now.Before(w.interruptedAt.Add(grace)))
		}
		if w.crashes && !w.crashed && w.Choose(2) == 1 {
			w.crashed = true
			w.unknowable = len(w.late) > 0 || w.strip().label || w.strip().id
			return Done{}, true
		}
	}
}

// wait waits, but not longer than the grace.
func (w *world) wait(m *Machine, until time.Time) {
	w.now = until
	if end := w.interruptedAt.Add(grace); !w.interruptedAt.IsZero() && end.Before(until) {
		w.now = end
		m.Interrupt(true)
	}
}

// strip reports whether the server removes the ID and the label. The model chooses this at the first call.
func (w *world) strip() stripped {
	if w.strips == nil {
		all := []stripped{{}, {id: true}}
		switch {
		case !w.model.config.Tracked:
			all = all[:1]
		case w.model.keyed:
			all = append(all, stripped{label: true}, stripped{true, true})
		}
		w.strips = &all[w.Choose(len(all))]
	}
	return *w.strips
}

func (w *world) alive() (n int) {
	for _, h := range w.names {
		if h.ours() {
			n++
		}
	}
	return n
}

// listed reports whether a list by the run's label finds the object.
func (w *world) listed() bool {
	return w.model.keyed && w.alive() > 0 && !w.strip().label && !w.strip().id
}

// meddle lets others act before a request: a late POST is stored, another client takes the name, or its object is
// deleted.
func (w *world) meddle(name string) {
	w.landDue()
	if w.model.interrupts && w.Choose(2) == 1 && w.interruptedAt.IsZero() {
		w.interruptedAt = w.now
	}
	acts := []func(){func() {}}
	if len(w.late) > 0 {
		acts = append(acts, w.landAll)
	}
	if held := w.names[name]; held != nil {
		acts = append(acts, func() {
			delete(w.names, name)
			w.deleted = w.deleted || held.ours()
			w.freed = w.freed || !held.ours()
		})
	} else {
		acts = append(acts, func() { w.put(name, "someone-else") })
	}
	if w.names[name] == nil && !w.model.calm {
		acts = append(acts, func() {
			w.put(name, "")
			w.names[name].created = w.now.Add(-time.Hour)
		}, func() { w.put(name, "") })
	}
	acts[w.Choose(len(acts))]()
}

func (w *world) put(name, id string) { w.names[name] = &holder{id, w.now.Truncate(time.Second)} }

// store stores our object under the name, or under another name that a webhook picks.
func (w *world) store(name string) bool {
	if w.model.renames {
		w.picked++
		name = fmt.Sprintf("webhook-%d", w.picked%2)
	}
	if w.names[name] != nil {
		return false
	}
	w.put(name, ourID)
	w.stored++
	return true
}

func (w *world) landAll() {
	for _, p := range w.late {
		w.store(p.name)
	}
	w.late = nil
}

func (w *world) landDue() {
	w.late = slices.DeleteFunc(w.late, func(p *delayed) bool {
		due := !p.by.IsZero() && !w.now.Before(p.by)
		if due {
			w.store(p.name)
		}
		return due
	})
}

func (w *world) post(name string) (o Observation) {
	defer func() { w.refused, w.denied = o.Finding != Conflict, o.Finding == Denied || o.Finding == NotStored }()
	if name == "" {
		w.picked++
		name = fmt.Sprintf("picked-%d", w.picked%2)
	}
	w.meddle(name)
	switch {
	case w.locked:
		return Observation{Finding: Unauthorized}
	case w.always != nil:
		return *w.always
	}
	if !w.model.calm {
		if o := w.inject(name); o != nil {
			return *o
		}
	}
	switch stored := w.store(name); {
	case w.model.renames: // the conflict, too, is with an object of ours
		return Observation{Finding: Renamed}
	case !stored:
		return Observation{Finding: Conflict}
	}
	return Observation{Finding: Stored}
}

// inject chooses a fault for a POST of the name, and returns the faulty response, or nil without a fault.
func (w *world) inject(name string) *Observation {
	late := func(by time.Time) { w.late = append(w.late, &delayed{name, by}) }
	another := Observation{Finding: Lost, Other: true}
	faults := []func() Observation{
		nil,
		func() Observation { return Observation{Finding: Rejected} },
		func() Observation { return Observation{Finding: Denied} },
		func() Observation { return Observation{Finding: NotStored} },
		func() Observation { w.always = &Observation{Finding: NotStored}; return *w.always },
		func() Observation { return Observation{Finding: NotStored, Unsent: true} },
		func() Observation { return Observation{Finding: Unauthorized} },
		func() Observation { w.locked = true; return Observation{Finding: Unauthorized} },
		func() Observation { return Observation{Finding: Lost} },
		func() Observation { w.store(name); return Observation{Finding: Lost} },
		func() Observation { w.always = &Observation{Finding: Lost}; w.store(name); return *w.always },
		func() Observation { late(time.Time{}); return Observation{Finding: Lost} },
		func() Observation {
			w.resent = w.store(name) || w.resent
			return Observation{Finding: Lost, Resend: true}
		},
		// A balancer mixes up responses:
		func() Observation { return another },
		func() Observation { w.store(name); return another },
		func() Observation { late(time.Time{}); return another },
		func() Observation { w.always = &another; w.store(name); return another },
		func() Observation { // a proxy sends it twice, and the second is denied before the first is stored
			w.hedged = true
			late(w.now.Add(hedge))
			return Observation{Finding: Denied}
		},
	}
	for _, second := range []Observation{
		{Finding: Conflict},
		{Finding: Rejected},
		{Finding: Rejected, Permission: true},
		{Finding: Denied},
		{Finding: NotStored, RetryAfter: 20 * time.Second},
		{Finding: Unauthorized},
	} {
		faults = append(faults, func() Observation { // a proxy sends it twice, and this is the second response
			w.hedged = w.store(name) || w.hedged
			return second
		})
	}
	for _, second := range []Observation{{Finding: Unauthorized}, {Finding: Rejected, Permission: true}} {
		faults = append(faults, func() Observation { // and by then the credential has expired
			w.hedged = w.store(name) || w.hedged
			w.locked = true
			return second
		})
	}
	if fault := faults[w.Choose(len(faults))]; fault != nil {
		o := fault()
		return &o
	}
	return nil
}

func (w *world) get(name string) Observation {
	w.meddle(name)
	if w.locked {
		return Observation{Finding: Unauthorized}
	}
	faults := []Finding{Ours, NoPermission, Unread, Unauthorized}
	if w.model.calm {
		faults = faults[:1]
	}
	if fault := faults[w.Choose(len(faults))]; fault != Ours {
		return Observation{Finding: fault}
	}
	held := w.names[name]
	switch {
	case held == nil || w.model.lags && held.ours():
		return Observation{Finding: Absent}
	case held.id == "" || held.ours() && w.strip().id:
		return Observation{Finding: Anonymous, Time: held.created}
	case held.ours():
		return Observation{Finding: Ours}
	}
	return Observation{Finding: Foreign}
}

// time returns the server's time, a response without it, or no response. Creation times are from another API server,
// whose clock may be behind.
func (w *world) time() Observation {
	now := Observation{Finding: ServerTime, Time: w.now}
	if w.model.calm {
		return now
	}
	switch w.Choose(4) {
	case 1:
		return Observation{Finding: ServerTime}
	case 2:
		return Observation{Finding: Unread}
	case 3:
		now.Time = w.now.Add(clocksApart)
	}
	return now
}
