// Package keyed has the objects of a run with a key, one place at a time. It verifies the objects that
// internal/idempotency lists, chooses the secret with which the run continues, and computes the IDs of the objects to
// create. The package creates nothing and never prints.
package keyed

import (
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Find lists the objects with the label of the run.
type Find func(
	ctx context.Context, resource schema.GroupVersionResource, namespace string,
) ([]idempotency.Existing, error)

// Place is a resource type, and a namespace unless the type is cluster-scoped.
type Place struct {
	Resource  schema.GroupVersionResource
	Kind      schema.GroupKind
	Namespace string
	// GenerateNames are the generateNames of the objects that the run creates at the place.
	GenerateNames map[string]bool
}

func (p Place) key() idempotency.Place {
	return idempotency.Place{Resource: p.Resource.GroupResource(), Namespace: p.Namespace}
}

// Object is an object with the label of the run.
type Object struct {
	idempotency.Existing
	// Identity is what the object's ID was derived from, if the object belongs to the run. ByContent means that the ID
	// was also derived from the digest.
	Identity  derive.Object
	ByContent bool
	Place     Place

	secret   derive.Secret // the secret that the ID was computed with, if verified
	verified bool
}

// Argument is the object as an argument of kubectl.
func (o *Object) Argument() string { return o.Place.key().Reference(o.Name) }

// copied reports whether a controller created the object, and copied the label from an object of the run.
func (o *Object) copied() bool { return o.Owned && !o.Place.GenerateNames[o.GenerateName] }

// inPlace identifies an object of the run.
type inPlace struct {
	place idempotency.Place
	id    string
}

// Run is a run with a key. Call At for a place before its first create, and then Conflict. Several goroutines can use
// a Run.
type Run struct {
	key     idempotency.Key
	secrets []derive.Secret // at least one, which is the empty one in a run without a secret
	find    Find

	mu      sync.Mutex // guards all below
	secret  derive.Secret
	used    bool // an ID was computed with the secret
	objects map[inPlace]*Object
	matched map[inPlace]bool
	others  map[string]bool // arguments of objects that don't belong to the run
	first   *Object         // the first object that belongs to the run
	foreign *Object         // an object whose ID was computed with another secret than first or an ID of ID
	claimed *Object         // in a run without a secret: an object whose ID was computed with one
}

// New returns a run. secrets are the secret of the key and its former secrets.
func New(key idempotency.Key, secrets []derive.Secret, find Find) *Run {
	r := &Run{
		key: key, secrets: secrets, find: find,
		objects: map[inPlace]*Object{}, matched: map[inPlace]bool{}, others: map[string]bool{},
	}
	if len(secrets) == 0 {
		r.secrets = []derive.Secret{{}}
	}
	r.secret = r.secrets[0]
	return r
}

// At lists the objects of the run at a place, and verifies them. At can be called again for the place.
func (r *Run) At(ctx context.Context, place Place) error {
	found, err := r.find(ctx, place.Resource, place.Namespace)
	if err != nil {
		return err
	}
	var objects []*Object
	for _, e := range found {
		objects = append(objects, &Object{Existing: e, Place: place})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verify(objects)
	for _, o := range objects {
		r.take(o)
	}
	return nil
}

// verify finds the objects that belong to the run. The ID of such an object is derived from the key and a secret, and
// its name from the ID.
func (r *Run) verify(objects []*Object) {
	current := map[derive.Object]bool{} // objects whose ID was computed with the current secret
	for _, o := range objects {
		o.verified = slices.ContainsFunc(r.secrets, func(s derive.Secret) bool { return r.verifies(s, o) })
		if o.verified && o.secret == r.secrets[0] && !o.ByContent {
			current[o.Identity] = true
		}
	}
	for _, o := range objects {
		if o.secret != r.secrets[0] && !o.ByContent && current[o.Identity] {
			o.verified = false // for example a copy of a deleted object with an ID from a former secret
		}
	}
}

// take records a listed object.
func (r *Run) take(o *Object) {
	if !o.verified {
		_, _, withSecret, _ := derive.ParseID(o.ID)
		if withSecret && r.secrets[0] == (derive.Secret{}) && !o.copied() && r.claimed == nil {
			r.claimed = o
		}
		if !o.copied() {
			r.others[o.Argument()] = true
		}
		return
	}
	delete(r.others, o.Argument())
	r.objects[inPlace{o.Place.key(), o.ID}] = o
	switch {
	case r.first == nil && !r.used:
		r.secret = o.secret
	case o.secret != r.secret && r.foreign == nil:
		r.foreign = o
	}
	if r.first == nil {
		r.first = o
	}
}

// verifies reports whether the object belongs to the run under the secret, and sets its identity. A backup may have
// removed the generateName of an object. So its name is also compared with the generateNames of the place.
func (r *Run) verifies(secret derive.Secret, o *Object) bool {
	forms := []derive.Object{{GenerateName: o.GenerateName}, {Name: o.Name}}
	for generateName := range o.Place.GenerateNames {
		if strings.HasPrefix(generateName, o.Name[:max(0, len(o.Name)-derive.SuffixLength)]) {
			forms = append(forms, derive.Object{GenerateName: generateName})
		}
	}
	for _, form := range forms {
		form.Group, form.Kind, form.Namespace = o.Place.Kind.Group, o.Place.Kind.Kind, o.Place.Namespace
		o.ByContent = secret.Verifies(r.ofContent(o.Digest), form, o.ID, o.Name)
		if o.ByContent || secret.Verifies(r.source(), form, o.ID, o.Name) {
			form.Document, form.Copy, _, _ = derive.ParseID(o.ID)
			o.Identity, o.secret = form, secret
			return true
		}
	}
	return false
}

func (r *Run) source() derive.Source { return derive.FromKey(string(r.key)) }

func (r *Run) ofContent(digest string) derive.Source {
	return derive.FromContent(string(r.key), digest)
}

// Conflict returns a *SecretsError if the objects were created with another secret than the run uses. The run must
// then create nothing.
func (r *Run) Conflict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.foreign != nil && r.foreign != r.first:
		return &SecretsError{Objects: []string{r.first.Argument(), r.foreign.Argument()}}
	case r.foreign != nil:
		return &SecretsError{Objects: []string{r.foreign.Argument()}}
	case r.claimed != nil && r.first == nil: // an object of the run shows that the key was used without a secret
		return &SecretsError{Objects: []string{r.claimed.Argument()}}
	}
	return nil
}

// Content is the content of an object, for its digest.
type Content struct {
	canonical string
	known     bool // if false, the digest can't be computed
}

// Content returns the content of an object. Call it after At.
func (r *Run) Content(identity derive.Object, object map[string]any) (c Content) {
	c.canonical, c.known = r.chosen().Canonical(identity, object)
	return c
}

// ID returns the ID of an object to create. The secret can't change after the first ID.
func (r *Run) ID(identity derive.Object, content Content) exactlyonce.ID {
	secret := r.chosen()
	made := exactlyonce.Derivation{
		Creation: secret.ID(r.source(), identity), Secret: secret, Run: r.key.RunLabel(),
	}
	if content.known {
		made.Digest = secret.DigestOf(made.Creation, content.canonical)
	}
	return exactlyonce.Derive(made)
}

// idOfContent returns the ID of an object with the digest of its content.
func (r *Run) idOfContent(identity derive.Object, digest string) exactlyonce.ID {
	secret := r.chosen()
	return exactlyonce.Derive(exactlyonce.Derivation{
		Creation: secret.ID(r.ofContent(digest), identity), Secret: secret, Run: r.key.RunLabel(), Digest: digest,
	})
}

// chosen returns the secret with which the run continues.
func (r *Run) chosen() derive.Secret {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = true
	return r.secret
}

// Existing returns the object with the ID at a place, or nil.
func (r *Run) Existing(place Place, id exactlyonce.ID) *idempotency.Existing {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := inPlace{place.key(), id.Creation}
	r.matched[at] = true
	if o := r.objects[at]; o != nil {
		return &o.Existing
	}
	return nil
}

// Unmatched returns the listed objects of the run for which Existing was not called, sorted by their arguments.
func (r *Run) Unmatched() (objects []*Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, o := range r.objects {
		if !r.matched[at] {
			objects = append(objects, o)
		}
	}
	slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Argument(), b.Argument()) })
	return objects
}

// Others returns the objects that have the label of the run and don't belong to it, as sorted arguments of kubectl.
// Objects of controllers that copied the label are left out.
func (r *Run) Others() (arguments []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for argument := range r.others {
		arguments = append(arguments, argument)
	}
	slices.Sort(arguments)
	return arguments
}

// WhyIgnored returns a possible reason for Others as the end of a sentence, beside "another user".
func (r *Run) WhyIgnored() string {
	if r.secrets[0] == (derive.Secret{}) {
		return "something changed its name or annotations."
	}
	return "an earlier run used another secret or none. This run creates its own objects. If the secret was changed, " +
		"and has not leaked, add the former one as the second line of the secret's file."
}

// SecretsError reports that the IDs of the key's objects were computed with another secret than the run can use.
type SecretsError struct {
	// Objects are arguments of kubectl. Two objects have IDs that were computed with different secrets of the run. The
	// ID of a single object was computed with another secret than the objects that the run has created.
	Objects []string
}

func (e *SecretsError) Error() string { return "other secrets: " + strings.Join(e.Objects, ", ") }
