package once

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// world is a server with one name space, and all that can happen to it. It
// implements server.
type world struct {
	*choices
	model     model
	interrupt func() // if not nil, ends the context given to Create
	crashes   bool   // the client may be killed after any request
	second    bool   // a run that comes after the first one's end
	strips    map[string]bool
	picked    int // names that the server picked itself
	names     map[string]*holder
	late      []*delayed
	forEver   finding // what every POST is answered from now on, or stored
	locked    bool    // every request is answered with a 401

	// What a promise cannot hold against:

	crashed    bool // the client was killed
	stored     int  // objects of ours that were ever stored
	deleted    bool // another client deleted one of ours
	freed      bool // another client deleted what held a name
	hedged     bool // a proxy sent a POST of ours twice
	refused    bool // the last POST was answered otherwise than with a conflict
	resent     bool // a POST was carried out and answered with a Retry-After
	unknowable bool // a killed run has left what the next one cannot find
}

// holder is an object under a name.
type holder struct {
	id      string // of its creation; of a stranger, maybe none
	created time.Time
}

func (h *holder) ours() bool { return h.id == ourID }

// delayed is a POST that is under way: it lands by its time, or whenever.
type delayed struct {
	name string
	by   time.Time
}

// hedge is how long the first copy of a POST may be under way when the second
// was denied: any longer, and no client can rule it out.
const hedge = 12 * time.Second

// clocksApart is how far one API server's clock may be before another's.
const clocksApart = 4 * time.Second

func newWorld(c *choices, m model) *world {
	return &world{choices: c, model: m, crashes: m.crashes, names: map[string]*holder{}}
}

// stripped reports whether the server removes the mark from objects. It keeps
// all, or removes one, or all: that is chosen when it first matters.
func (w *world) stripped(mark string) bool {
	if w.strips == nil {
		w.strips = map[string]bool{}
		var sent []string
		for key, value := range w.marks() {
			if value != "" {
				sent = append(sent, key)
			}
		}
		slices.Sort(sent)
		switch n := w.choose(min(len(sent)+2, 2*len(sent)+1)); {
		case n > len(sent):
			for _, mark := range sent {
				w.strips[mark] = true
			}
		case n > 0:
			w.strips[sent[n-1]] = true
		}
	}
	return w.strips[mark]
}

// marks are what is sent.
func (w *world) marks() map[string]string {
	wanted := w.model.wanted
	return map[string]string{Annotation: wanted.id.creation, ContentAnnotation: wanted.content, RunLabel: wanted.id.run}
}

func (w *world) lostMarks() (lost []string) {
	for _, mark := range []string{Annotation, ContentAnnotation, RunLabel} {
		if w.stripped(mark) {
			lost = append(lost, mark)
		}
	}
	return lost
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
	return w.alive() > 0 && !w.stripped(RunLabel) && !w.stripped(Annotation)
}

func (w *world) maybeCrash() {
	if w.crashes && !w.crashed && w.choose(2) == 1 {
		w.crashed = true
		w.unknowable = len(w.late) > 0 || w.stripped(RunLabel) || w.stripped(Annotation)
		panic(errCrash)
	}
}

// meddle lets others act before a request: a late POST lands, the name is
// taken, its object is deleted.
func (w *world) meddle(name string) {
	w.landDue()
	if w.interrupt != nil && w.choose(2) == 1 {
		w.interrupt()
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
			w.names[name].created = time.Now().Add(-time.Hour)
		}, func() { w.put(name, "") })
	}
	acts[w.choose(len(acts))]()
}

func (w *world) put(name, id string) {
	w.names[name] = &holder{id, time.Now().Truncate(time.Second)}
}

func (w *world) store(name string) bool {
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
		due := !p.by.IsZero() && !time.Now().Before(p.by)
		if due {
			w.store(p.name)
		}
		return due
	})
}

func (w *world) object(name string) *unstructured.Unstructured {
	held := w.names[name]
	object := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
	object.SetName(name)
	object.SetCreationTimestamp(metav1.NewTime(held.created))
	annotations, labels := map[string]string{}, map[string]string{}
	for key, value := range w.marks() {
		if held.ours() && value != "" && !w.stripped(key) {
			map[bool]map[string]string{true: labels, false: annotations}[key == RunLabel][key] = value
		}
	}
	if !held.ours() && held.id != "" {
		annotations[Annotation] = held.id
	}
	object.SetAnnotations(annotations)
	object.SetLabels(labels)
	return object
}

// told is an answer without an object.
func told(f finding) answer {
	if f == unauthorized {
		return answer{finding: f, err: errUnauthorized}
	}
	return answer{finding: f, err: errModel}
}

func (w *world) post(_, _ context.Context, name string) (a answer) {
	defer w.maybeCrash()
	defer func() { w.refused = a.finding != conflict }()
	if name == "" {
		w.picked++
		name = fmt.Sprintf("picked-%d", w.picked%2)
	}
	w.meddle(name)
	switch {
	case w.locked:
		return told(unauthorized)
	case w.forEver != stored:
		return told(w.forEver)
	}
	if !w.model.calm {
		if a := w.injure(name); a != nil {
			return *a
		}
	}
	if !w.store(name) {
		return told(conflict)
	}
	return answer{finding: stored, object: w.object(name)}
}

// injure is the fate of a POST of the name: nil for that it is answered in
// truth.
func (w *world) injure(name string) *answer {
	fates := []func() answer{
		nil,
		func() answer { return told(rejected) },
		func() answer { return told(denied) },
		func() answer { return told(notStored) },
		func() answer { w.forEver = notStored; return told(notStored) },
		func() answer { a := told(notStored); a.unsent = true; return a },
		func() answer { return told(unauthorized) },
		func() answer { w.locked = true; return told(unauthorized) },
		func() answer { return told(lost) },
		func() answer { w.store(name); return told(lost) },
		func() answer { w.forEver = lost; w.store(name); return told(lost) },
		func() answer { w.late = append(w.late, &delayed{name: name}); return told(lost) },
		func() answer { w.resent = w.store(name) || w.resent; a := told(lost); a.resend = true; return a },
		func() answer { // a proxy sends it twice, and the second is denied before the first lands
			w.hedged = true
			w.late = append(w.late, &delayed{name, time.Now().Add(hedge)})
			return told(denied)
		},
	}
	for _, second := range []finding{conflict, rejected, denied, notStored, unauthorized} {
		fates = append(fates, func() answer { // a proxy sends it twice, and this is the second answer
			w.hedged = w.store(name) || w.hedged
			a := told(second)
			if second == notStored {
				a.retryAfter = 20 * time.Second
			}
			return a
		})
	}
	fates = append(fates, func() answer {
		w.hedged = w.store(name) || w.hedged
		w.locked = true
		return told(unauthorized)
	})
	if fate := fates[w.choose(len(fates))]; fate != nil {
		a := fate()
		return &a
	}
	return nil
}

func (w *world) get(_ context.Context, name string) answer {
	defer w.maybeCrash()
	w.meddle(name)
	if w.locked {
		return answer{finding: unread, err: errUnauthorized}
	}
	answers := []answer{{}, {finding: noRight, err: errModel}, {finding: unread, err: errModel}, {finding: unread, err: errUnauthorized}}
	if w.model.calm {
		answers = answers[:1]
	}
	if a := answers[w.choose(len(answers))]; a.err != nil {
		return a
	}
	if held := w.names[name]; held == nil || w.model.lags && held.ours() {
		return told(absent)
	}
	return answer{finding: unclear, object: w.object(name)}
}

// now is told, not known, or not had. The clock of another API server, which
// has stamped the objects, may be behind.
func (w *world) now(context.Context) (time.Time, error) {
	if w.model.calm {
		return time.Now(), nil
	}
	switch w.choose(4) {
	case 1:
		return time.Time{}, nil
	case 2:
		return time.Time{}, errModel
	case 3:
		return time.Now().Add(clocksApart), nil
	}
	return time.Now(), nil
}
