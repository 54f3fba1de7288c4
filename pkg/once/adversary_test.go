//go:build go1.25

package once_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/choices"
)

// The model explores what another user of the namespace can do, up to a number of choices. This
// adversary reads every object at any time, knows the key and this repository, creates any object
// before any request and between two runs, and never deletes. The network has faults, and
// others may delete our object. The model runs the real Creator on a server in memory.

// attack is one exploration.
type attack struct {
	secret []byte // of the creator; nil for none
	former []byte // its former secret; nil for none
	leaked []byte // the secret that the adversary knows
	quiet  bool   // the adversary does nothing
	depth  int
}

// findings counts the histories by their classes. A history can have several.
type findings map[string]int

// The classes.
const (
	histories  = "histories"
	acted      = "the adversary acted between two runs"
	readTheirs = "a GET returned an object of the adversary"
	realID     = "it had our real ID"
	replay     = "replay after deletion" // ours was stored and deleted, and then created by the adversary
	deceived   = "an object of the adversary passed as ours"
	lockedOut  = "a taken name, or an unknown outcome, because of the adversary"
	twice      = "two objects of ours"
)

// explore runs all histories.
func (a attack) explore(t *testing.T) findings {
	t.Helper()
	found := findings{}
	for c, more := (&choices.Choices{Depth: a.depth}), true; more; more = c.Advance() {
		h := newStory(a, c)
		outcomes := h.run(t)
		found[histories]++
		for class := range h.classes {
			found[class]++
		}
		if !h.deleted { // the same faults without an adversary
			calm := newStory(a, &choices.Choices{})
			calm.attack.quiet, calm.replayed = true, slices.Clone(h.faults)
			if want := calm.run(t); want != outcomes {
				found[lockedOut]++
			}
		}
	}
	return found
}

// story is one history: two runs of a creator with one ID.
type story struct {
	*choices.Choices
	attack   attack
	server   *oncetest.Server
	id       once.ID
	theirs   map[types.UID]bool // objects that the adversary created
	names    map[string]bool    // known to the adversary
	ids      map[string]bool
	acts     int
	stored   map[string]bool // names under which ours was stored
	gone     map[string]bool // and then deleted by others
	deleted  bool
	faults   []int // the choices of faults, for a second telling
	replayed []int
	classes  map[string]bool
}

var trustKey = derive.FromKey("order-17")

var place = derive.Object{Kind: "ConfigMap", Namespace: "ns", GenerateName: "demo-"}

func newStory(a attack, c *choices.Choices) *story {
	h := &story{
		Choices: c, attack: a, server: oncetest.NewServer(), theirs: map[types.UID]bool{}, names: map[string]bool{}, ids: map[string]bool{},
		stored: map[string]bool{}, gone: map[string]bool{}, classes: map[string]bool{},
	}
	h.id, _ = once.FromKey("order-17")
	for _, secret := range []string{"", string(a.leaked)} {
		s, _ := derive.ParseSecret(secret) // the zero Secret for ""
		id := s.ID(trustKey, place)
		h.ids[id], h.names[s.Name(id, "demo-")] = true, true
	}
	h.server.Func(h.before)
	return h
}

// run returns the outcomes of two runs.
func (h *story) run(t *testing.T) (outcomes string) {
	t.Helper()
	var options []once.Option
	if h.attack.secret != nil {
		var former [][]byte
		if h.attack.former != nil {
			former = append(former, h.attack.former)
		}
		options = append(options, once.WithSecret(h.attack.secret, former...))
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	creator := once.New(once.Dynamic(dynamic.NewForConfigOrDie(h.server.Config()), mapper), options...)
	for run := range 2 {
		if run == 1 {
			h.observe()
			before := h.acts
			h.meddle()
			h.note(acted, h.acts > before)
		}
		object := configMap()
		result, err := creator.Create(t.Context(), object, h.id)
		outcomes += fmt.Sprintf("%s%v ", result.Outcome, kindOf(err))
		if err == nil && h.theirs[object.UID] {
			h.note(replay, h.gone[object.Name])
			h.note(deceived, !h.gone[object.Name])
		}
	}
	ours := 0
	for _, object := range h.server.Objects() {
		if !h.theirs[object.GetUID()] {
			ours++
		}
	}
	h.note(twice, ours > 1)
	return outcomes
}

// kindOf returns the error of the package that err is.
func kindOf(err error) error {
	for _, kind := range []error{once.ErrUnknown, once.ErrRefused, once.ErrTaken, once.ErrMismatch, once.ErrNotControlled} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

func (h *story) note(class string, is bool) {
	if is {
		h.classes[class] = true
	}
}

// observe adds to the knowledge of the adversary all that can be read.
func (h *story) observe() {
	for _, object := range h.server.Objects() {
		h.names[object.GetName()] = true
		if id := object.GetAnnotations()[once.Annotation]; id != "" {
			h.ids[id] = true
		}
		if !h.theirs[object.GetUID()] {
			h.stored[object.GetName()] = true
		}
	}
}

// held returns the object of a name, or nil.
func (h *story) held(name string) *unstructured.Unstructured {
	for _, object := range h.server.Objects() {
		if object.GetName() == name {
			return object
		}
	}
	return nil
}

// meddle lets others act: the adversary creates an object, or another client deletes ours.
func (h *story) meddle() {
	acts := []func(){func() {}}
	for _, name := range slices.Sorted(maps.Keys(h.names)) {
		held := h.held(name)
		switch {
		case held != nil && !h.theirs[held.GetUID()]:
			acts = append(acts, func() {
				h.server.Remove(held)
				h.gone[name], h.deleted = true, true
			})
		case held == nil && !h.attack.quiet && h.acts < 2:
			for _, id := range append(slices.Sorted(maps.Keys(h.ids)), "", "v1-other") {
				acts = append(acts, func() { h.forge(name, id) })
			}
		}
	}
	acts[h.Choose(len(acts))]()
}

// forge creates an object of the adversary.
func (h *story) forge(name, id string) {
	h.acts++
	object := configMap()
	object.Name, object.UID, object.Data["value"] = name, types.UID(fmt.Sprint("theirs-", h.acts)), "of the adversary"
	h.theirs[object.UID] = true
	if id != "" {
		content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(configMap())
		object.Annotations = map[string]string{once.Annotation: id, derive.DigestAnnotation: derive.Secret{}.Digest(id, place, content)}
	}
	content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	h.server.Put(&unstructured.Unstructured{Object: content})
}

// before is called before each request.
func (h *story) before(r *oncetest.Request) oncetest.Fault {
	h.observe()
	if !h.attack.quiet {
		h.meddle()
	}
	if r.Verb == "get" {
		if held := h.held(r.Name); held != nil && h.theirs[held.GetUID()] {
			h.note(readTheirs, true)
			s, _ := derive.ParseSecret(string(h.attack.secret))
			h.note(realID, held.GetAnnotations()[once.Annotation] == s.ID(trustKey, place))
		}
		return nil
	}
	faults := []oncetest.Fault{nil, oncetest.DropRequest, oncetest.DropResponse, oncetest.SendTwice}
	choice := 0
	switch n := len(h.faults); {
	case !h.attack.quiet:
		choice = h.Choose(len(faults))
	case n < len(h.replayed):
		choice = h.replayed[n]
	}
	h.faults = append(h.faults, choice)
	return faults[choice]
}

// With a secret, no object of the adversary passes as ours, except after ours was deleted. Nothing
// that the adversary does changes an outcome. Without a secret, or with a secret that has
// leaked, the model finds the attacks.
func TestAdversary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		with := attack{secret: first, depth: 5}.explore(t)
		without := attack{depth: 5}.explore(t)
		leaked := attack{secret: first, leaked: first, depth: 5}.explore(t)
		started := attack{secret: first, former: once.NoSecret, depth: 5}.explore(t)
		changed := attack{secret: second, former: first, depth: 5}.explore(t)
		t.Logf("with a secret: %v\nwithout: %v\nleaked: %v\nstarted: %v\nchanged: %v", with, without, leaked, started, changed)
		for class, least := range map[string]int{histories: 300, acted: 10, readTheirs: 10, realID: 10, replay: 10} {
			if with[class] < least {
				t.Errorf("with a secret: %d histories have %q, want at least %d", with[class], class, least)
			}
		}
		for _, class := range []string{deceived, lockedOut, twice} {
			if with[class]+changed[class] != 0 {
				t.Errorf("with a secret: %d and %d histories have %q", with[class], changed[class], class)
			}
		}
		for name, found := range map[string]findings{"without a secret": without, "leaked": leaked, "without a secret before": started} {
			for class, least := range map[string]int{deceived: 20, lockedOut: 20, replay: 10} {
				if found[class] < least {
					t.Errorf("%s: %d histories have %q, want at least %d", name, found[class], class, least)
				}
			}
			if found[twice] != 0 {
				t.Errorf("%s: %d histories have two objects of ours", name, found[twice])
			}
		}
	})
}
