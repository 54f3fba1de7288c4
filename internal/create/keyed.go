package create

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// keyed is a run with a key. keyed can be repeated.
type keyed struct {
	*Session
	documents map[derive.Object][]*task // by their identity without the number
}

// create creates the objects that the key has not created yet. create reads the whole input first. create creates
// nothing if the key has created an object that the input does not contain.
func (k *keyed) create() {
	documents, whole := k.readAll()
	if !whole {
		k.end.Incomplete = true
		return
	}
	err := k.compare()
	if err != nil && k.ctx.Err() == nil {
		k.problem(err)
		return
	}
	for _, d := range documents {
		k.Session.create(d, 0)
	}
	k.settle()
}

// readAll reads the input, and reports whether all of it is usable.
func (k *keyed) readAll() (documents []*task, whole bool) {
	whole = true
	k.eachStep(func(next Step) {
		d := k.prepare(next)
		if d == nil {
			whole = false
			return
		}
		k.number(d)
		documents = append(documents, d)
		k.warnOfTTL(d)
	})
	return documents, whole && !k.end.Unread
}

// number sets the identity of the document. number numbers documents that differ only in their content.
func (k *keyed) number(d *task) {
	kind := d.Mapping.GroupVersionKind
	o := derive.Object{Group: kind.Group, Kind: kind.Kind, Namespace: d.Namespace}
	if o.Name = d.Object.GetName(); o.Name == "" {
		o.GenerateName = d.Object.GetGenerateName()
	}
	d.identity = o
	d.identity.Document = len(k.documents[o])
	k.documents[o] = append(k.documents[o], d)
}

// compare finds the objects of the run at all places of the input, and decides under which secret the run goes on.
// compare returns an error if the input does not contain all of them.
func (k *keyed) compare() error {
	for _, at := range k.places {
		k.end.Places = append(k.end.Places, at.Place)
	}
	listed, err := k.find(k.places)
	if err == nil {
		k.secret, err = k.verify(listed)
	} else {
		err = &FindError{err}
	}
	for _, documents := range k.documents {
		for _, d := range documents {
			d.content, d.hasContent = k.secret.Canonical(d.identity, d.Object.Object)
		}
	}
	if err != nil {
		return err
	}
	k.warnOfOthers(listed)
	return k.unexpected(listed)
}

// listed is an object with the run's label.
type listed struct {
	idempotency.Existing
	place    *place
	identity derive.Object
	secret   derive.Secret // the secret that the ID was computed with, if verified
	verified bool
}

func (l *listed) argument() string { return l.place.Reference(l.Name) }

// verify finds the objects that belong to the run. The ID of such an object is derived from the key and a secret,
// and its name from the ID. verify returns the secret with which the run continues.
func (k *keyed) verify(objects []*listed) (secret derive.Secret, err error) {
	secrets := append(slices.Clone(k.config.Secrets), derive.Secret{})[:max(1, len(k.config.Secrets))]
	secret = secrets[0]
	current := map[derive.Object]bool{} // objects whose ID was computed with the current secret
	for _, l := range objects {
		for _, s := range secrets {
			if l.verified = k.verifies(s, l); l.verified {
				break
			}
		}
		if l.verified && l.secret == secret {
			current[l.identity] = true
		}
	}
	var first, claimed *listed
	for _, l := range objects {
		if l.verified && l.secret != secrets[0] && current[l.identity] {
			l.verified = false // such as a copy of a deleted object whose ID was computed with a former secret
		}
		_, _, withSecret, _ := derive.ParseID(l.ID)
		switch {
		case l.verified && first == nil:
			first, secret = l, l.secret
		case l.verified && l.secret != secret:
			return secret, &SecretsError{Objects: []string{first.argument(), l.argument()}}
		case withSecret && len(k.config.Secrets) == 0 && !l.copied() && claimed == nil:
			claimed = l
		}
	}
	if claimed != nil && first == nil { // an object of the run shows that the key was used without a secret
		return secret, &SecretsError{Objects: []string{claimed.argument()}}
	}
	return secret, nil
}

// copied reports whether a controller created the object, and copied the label from an object of the
// input.
func (l *listed) copied() bool { return l.Owned && !l.place.generateNames[l.GenerateName] }

// verifies reports whether the object belongs to the run under the secret, and sets its identity. A
// backup may have removed the generateName of an object. So its name is also compared with those of
// the input.
func (k *keyed) verifies(secret derive.Secret, l *listed) bool {
	kind := l.place.kind
	forms := []derive.Object{{GenerateName: l.GenerateName}, {Name: l.Name}}
	for generateName := range l.place.generateNames {
		if strings.HasPrefix(generateName, l.Name[:max(0, len(l.Name)-derive.SuffixLength)]) {
			forms = append(forms, derive.Object{GenerateName: generateName})
		}
	}
	for _, o := range forms {
		o.Group, o.Kind, o.Namespace = kind.Group, kind.Kind, l.place.Namespace
		if secret.Verifies(derive.FromKey(string(k.config.Key)), o, l.ID, l.Name) {
			o.Document, o.Copy, _, _ = derive.ParseID(l.ID)
			l.identity, l.secret = o, secret
			return true
		}
	}
	return false
}

// unexpected records the objects that the input contains. unexpected returns an error if the run has created others,
// or objects of documents that were changed.
func (k *keyed) unexpected(objects []*listed) error {
	k.existing = map[inPlace]*idempotency.Existing{}
	var unexpected []string
	var change *Change
	for _, l := range objects {
		if !l.verified {
			continue
		}
		d := k.documentOf(l.identity)
		differs := d != nil && exactlyonce.Differ(l.Digest, k.id(d, l.identity.Copy).Digest)
		if d == nil || differs {
			unexpected = append(unexpected, l.argument())
		}
		if differs && change == nil {
			change = k.changeOf(d, l.Name)
		}
		k.existing[inPlace{l.place.Place, l.ID}] = &l.Existing
	}
	if len(unexpected) == 0 {
		return nil
	}
	slices.Sort(unexpected)
	return &UnexpectedError{unexpected, change}
}

// documentOf returns the document of an identity, or nil if the input does not contain it.
func (k *keyed) documentOf(o derive.Object) *task {
	n, copied := o.Document, o.Copy
	o.Document, o.Copy = 0, 0
	if documents := k.documents[o]; n < len(documents) && copied < documents[n].copies {
		return documents[n]
	}
	return nil
}

// warnOfOthers warns of objects that have the run's label and don't belong to the run.
func (k *keyed) warnOfOthers(objects []*listed) {
	var others []string
	for _, l := range objects {
		if !l.verified && !l.copied() {
			others = append(others, l.argument())
		}
	}
	code := Unverified
	if len(k.config.Secrets) > 0 {
		code = OtherSecret
	}
	if len(others) > 0 {
		k.warn(code, len(others), slices.Min(others))
	}
}

// FindError reports that the objects of the key could not be listed, so nothing was created.
type FindError struct{ Err error }

func (e *FindError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FindError) Unwrap() error { return e.Err }

// UnexpectedError reports that earlier runs with the key created objects that the input does not
// contain, so nothing was created.
type UnexpectedError struct {
	// Objects are the unexpected objects as sorted arguments of kubectl, at least one.
	Objects []string
	// Change is the document that was probably changed, or nil.
	Change *Change
}

func (e *UnexpectedError) Error() string {
	return fmt.Sprintf("%d unexpected objects of the key, like %s", len(e.Objects), e.Objects[0])
}

// SecretsError reports that the IDs of the key's objects were computed with another secret than the run can use.
// Nothing was created.
type SecretsError struct {
	// Objects are arguments of kubectl. If the run has no secret, Objects has one object, whose ID was computed with a
	// secret. Otherwise, Objects has two objects, whose IDs were computed with different secrets of the run.
	Objects []string
}

func (e *SecretsError) Error() string {
	return "other secrets: " + strings.Join(e.Objects, ", ")
}

// warnOfTTL warns of objects that are deleted after they finish. A later run with the key creates them
// again.
func (k *keyed) warnOfTTL(d *task) {
	spec, _ := d.Object.Object["spec"].(map[string]any)
	if spec["ttlSecondsAfterFinished"] != nil {
		k.warn(Expiring, d.place.Resource)
	}
}
