package trust

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/choices"
)

// model is one exploration.
type model struct {
	subject subject
	items   []item
	secret  derive.Secret // of the subject; the zero Secret for none
	former  []derive.Secret
	leaked  derive.Secret                                     // a secret that the adversary knows
	logged  bool                                              // names are in a log before the objects exist
	staged  bool                                              // the same key and secret were used in another cluster
	mutant  func(*world, http.RoundTripper) http.RoundTripper // an error in the program: it changes requests or responses
	budget  int                                               // of decisions that differ from a history without faults and adversary
}

// item is an object that the subject wants.
type item struct {
	derive.Object
	source derive.Source
	owner  types.UID // its controller, empty for none
}

func (i item) resource() string { return strings.ToLower(i.Kind) + "s" }

// claim is what a run claims about an item.
type claim struct {
	outcome string    // created, exists, failed, unknown or nothing
	object  types.UID // the object that was created or exists
	result  types.UID // the object whose result --wait has taken
	holder  string    // the place and name of the object that is in the way, as the subject reports it
}

func (c claim) succeeded() bool { return c.outcome == created || c.outcome == exists }

// The outcomes.
const (
	created = "created"
	exists  = "exists"
	failed  = "failed"
	unknown = "unknown"
	nothing = "nothing" // the run has created nothing
)

// world is one history: two runs of a subject, and a third one by an operator who follows the advice.
type world struct {
	*choices.Choices
	model
	ctx      context.Context
	server   *oncetest.Server
	left     int            // of the budget
	quiet    bool           // the adversary does nothing
	idle     bool           // an object of the adversary has a name that the subject doesn't use: one is enough
	faults   []int          // those of the runs
	replayed []int          // the faults of a history without an adversary
	posts    map[string]int // the requests that can store an object of the subject

	class   map[types.UID]string                  // the attack, by object of the adversary
	known   []map[string]bool                     // by item, names that the adversary knows
	ids     []map[string]bool                     // by item, IDs that the adversary knows
	digests map[string]string                     // by ID, as read
	gone    map[string]bool                       // by place and name: others deleted our object
	present map[string]*unstructured.Unstructured // by kind and name
	warned  bool                                  // the last run warned of objects with its label
	claims  []claim                               // of all runs
	notes   map[string]bool
	effects effects
}

func newWorld(ctx context.Context, m model, c *choices.Choices) *world {
	w := &world{
		ctx:     klog.NewContext(ctx, logr.Discard()), // client-go logs responses that break off
		Choices: c, model: m, server: oncetest.NewServer(), left: m.budget, posts: map[string]int{},
		class: map[types.UID]string{}, digests: map[string]string{}, gone: map[string]bool{},
		notes: map[string]bool{}, effects: effects{},
	}
	for _, i := range m.items {
		public, leaked := idOf(i, derive.Secret{}), idOf(i, m.leaked)
		w.known = append(w.known, map[string]bool{nameOf(i, derive.Secret{}): true, nameOf(i, m.leaked): true})
		w.ids = append(w.ids, map[string]bool{public: true, leaked: true})
		if m.logged {
			w.known[len(w.known)-1][nameOf(i, m.secret)] = true
		}
	}
	if m.staged {
		w.stage()
	}
	w.server.Func(w.before)
	return w
}

// identity is the ID and the name of an item under a secret.
type identity struct{ id, name string }

var identities sync.Map // caches values of identity, because they are needed very often

func identityOf(i item, secret derive.Secret) identity {
	type under struct {
		item
		derive.Secret
	}
	known, is := identities.Load(under{i, secret})
	if !is {
		found := identity{secret.ID(i.source, i.Object), i.Name}
		if i.GenerateName != "" {
			found.name = secret.Name(found.id, i.GenerateName)
		}
		known, _ = identities.LoadOrStore(under{i, secret}, found)
	}
	return known.(identity)
}

func nameOf(i item, secret derive.Secret) string { return identityOf(i, secret).name }
func idOf(i item, secret derive.Secret) string   { return identityOf(i, secret).id }

// stage runs the subject in another cluster, where the adversary reads its objects.
func (w *world) stage() {
	other := newWorld(w.ctx, model{subject: w.subject, items: w.items, secret: w.secret}, &choices.Choices{})
	other.subject(other)
	other.observe()
	w.known, w.ids, w.digests = other.known, other.ids, other.digests
}

// pick returns one of n alternatives. All but the first are taken from the budget.
func (w *world) pick(n int) int {
	if w.left == 0 {
		return 0
	}
	choice := w.Choose(n)
	if choice > 0 {
		w.left--
	}
	return choice
}

func at(o *unstructured.Unstructured) string { return o.GetKind() + "/" + o.GetName() }

// held returns the object of a kind and name as last observed, or nil.
func (w *world) held(kind, name string) *unstructured.Unstructured { return w.present[kind+"/"+name] }

func (w *world) theirs(uid types.UID) bool { return w.class[uid] != "" }

// observe lets the adversary learn everything that can be read, and all names that can be derived from it without a
// secret.
func (w *world) observe() {
	w.present = map[string]*unstructured.Unstructured{}
	for _, o := range w.server.Objects() {
		w.present[at(o)] = o
		id := o.GetAnnotations()[derive.IDAnnotation]
		for n, i := range w.items {
			if i.Kind == o.GetKind() && i.GenerateName == o.GetGenerateName() && !w.theirs(o.GetUID()) {
				w.known[n][o.GetName()] = true
				w.ids[n][id] = true
				w.digests[id] = o.GetAnnotations()[derive.DigestAnnotation]
				if i.GenerateName != "" {
					w.known[n][derive.Secret{}.Name(id, i.GenerateName)] = true
				}
			}
		}
	}
}

// before is called before each request.
func (w *world) before(r *oncetest.Request) oncetest.Fault {
	n := slices.IndexFunc(w.items, func(i item) bool {
		return i.resource() == r.Resource.Resource && (i.GenerateName == "" && r.Name == i.Name || i.GenerateName != "" && r.Name != ownName)
	})
	if n < 0 || r.Verb != "create" && r.Verb != "get" || r.Context().Value(concurrent{}) != nil {
		return nil
	}
	w.observe()
	w.meddle(n)
	if r.Verb == "get" {
		if held := w.held(w.items[n].Kind, r.Name); held != nil && w.theirs(held.GetUID()) {
			w.notes[readTheirs] = true
			if held.GetAnnotations()[derive.IDAnnotation] == idOf(w.items[n], w.secret) {
				w.notes[realID] = true
			}
		}
		return nil
	}
	w.posts[r.Name]++
	faults := []oncetest.Fault{nil, oncetest.DropRequest, oncetest.DropResponse, oncetest.SendTwice}
	choice := 0
	switch now := len(w.faults); {
	case !w.quiet:
		choice = w.pick(len(faults))
	case now < len(w.replayed):
		choice = w.replayed[now]
	}
	w.faults = append(w.faults, choice)
	return faults[choice]
}

// meddle lets others act on the places of an item, or on all if n is -1: the adversary creates an object, or
// another client deletes one of the subject.
func (w *world) meddle(n int) {
	if w.quiet {
		return
	}
	acts := []func(){nil}
	for m, i := range w.items {
		if n < 0 || n == m {
			acts = append(acts, w.actsOn(m, i)...)
		}
	}
	if act := acts[w.pick(len(acts))]; act != nil {
		act()
	}
}

func (w *world) actsOn(n int, i item) (acts []func()) {
	wanted := nameOf(i, w.secret)
	for _, name := range slices.Sorted(maps.Keys(w.known[n])) {
		held := w.held(i.Kind, name)
		switch {
		case held != nil && !w.theirs(held.GetUID()):
			acts = append(acts, func() {
				w.remove(held)
				w.gone[at(held)] = true
			})
		case held == nil && (name == wanted || !w.idle):
			for _, id := range append(slices.Sorted(maps.Keys(w.ids[n])), "", inventedID) {
				acts = append(acts, func() { w.forge(n, name, id, true) })
				if id != "" && name == wanted {
					acts = append(acts, func() { w.forge(n, name, id, false) })
				}
			}
		}
	}
	if w.idle {
		return acts
	}
	if w.held(i.Kind, copiedName) == nil {
		for _, id := range append(slices.Sorted(maps.Keys(w.ids[n])), inventedID) {
			acts = append(acts, func() { w.forge(n, copiedName, id, true) })
		}
	}
	for m, other := range w.items { // with the ID and the name of another item
		if id, name := idOf(other, w.secret), nameOf(other, w.secret); m != n && w.ids[m][id] && w.known[m][name] &&
			i.GenerateName != "" && other.GenerateName != "" && w.held(i.Kind, name) == nil {
			acts = append(acts, func() { w.forge(n, name, id, true) })
		}
	}
	return acts
}

const (
	ownName    = "own"
	copiedName = "demo-copied"
	// inventedID looks as if it were made with a secret.
	inventedID = "v1s-00000000000000000000000000000000-0-0"
)

// forge creates an object of the adversary. An exact object has the digest, the label and the owner of ours, as far as
// the adversary can know them. All objects have the status of a complete Job.
func (w *world) forge(n int, name, id string, exact bool) {
	i := w.items[n]
	object := i.manifest()
	object.SetName(name)
	uid := types.UID(fmt.Sprint("theirs-", len(w.class)))
	object.SetUID(uid)
	object.SetLabels(map[string]string{derive.RunLabelKey: derive.RunLabel(key)})
	object.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	annotations := map[string]string{}
	if id != "" {
		annotations[derive.IDAnnotation], annotations[derive.DigestAnnotation] = id, w.digests[id]
		switch {
		case w.digests[id] == "":
			annotations[derive.DigestAnnotation] = w.digestOf(i, id)
		case !w.ids[n][id]: // of another item, with other content
			delete(annotations, derive.DigestAnnotation)
		}
	}
	if !exact {
		object.SetOwnerReferences(nil)
		annotations[derive.DigestAnnotation] = annotations[derive.DigestAnnotation][:4] + "another"
	}
	object.SetAnnotations(annotations)
	w.class[uid] = w.classify(i, object, exact)
	w.idle = w.idle || w.class[uid] == copies
	w.notes[acted] = true
	w.server.Put(object)
	w.present[at(object)] = object
}

func (w *world) remove(o *unstructured.Unstructured) {
	w.server.Remove(o)
	delete(w.present, at(o))
}

// digestOf returns the digest that the adversary can compute.
func (w *world) digestOf(i item, id string) string {
	secret := derive.Secret{}
	if w.leaked != secret && id == idOf(i, w.leaked) {
		secret = w.leaked
	}
	return secret.Digest(id, i.Object, i.manifest().Object)
}

// classify returns the attack of the threat model page that an object belongs to.
func (w *world) classify(i item, o *unstructured.Unstructured, exact bool) string {
	id := o.GetAnnotations()[derive.IDAnnotation]
	ours := o.GetName() == nameOf(i, w.secret)
	for _, former := range w.former {
		ours = ours || o.GetName() == nameOf(i, former)
	}
	isID := func(s derive.Secret) bool { return id == idOf(i, s) }
	switch {
	case !ours:
		return copies
	case w.gone[at(o)]:
		return replays
	case w.staged:
		return stages
	case w.logged:
		return readsLog
	case exact && (id == "" && i.owner != "" || isID(w.secret) || slices.ContainsFunc(w.former, isID)):
		return isFirst
	case i.GenerateName == "":
		return takesFixed
	}
	return takesName
}

// manifest returns the item as the subject sends it.
func (i item) manifest() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": i.Kind, "data": map[string]any{"a": "b"}}}
	if i.Kind == "Job" {
		object.Object = map[string]any{"apiVersion": "batch/v1", "kind": i.Kind, "spec": map[string]any{"backoffLimit": int64(1)}}
	}
	object.SetNamespace("ns")
	object.SetName(i.Name)
	object.SetGenerateName(i.GenerateName)
	if i.owner != "" {
		object.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": string(i.owner), "controller": true,
		}}
	}
	return object
}

// run lets the subject run once, and returns its claims.
func (w *world) run() []claim {
	time.Sleep(time.Minute) // no request of an earlier run is in flight
	w.observe()
	for deleted := -1; deleted < len(w.gone); w.observe() { // after a deletion, the adversary can act at once
		deleted = len(w.gone)
		w.meddle(-1)
	}
	w.warned = false
	claims := w.subject(w)
	w.observe()
	return claims
}
