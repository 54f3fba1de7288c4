package create

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// identified has the documents of a run with a key. The map's keys are identities without the number.
type identified map[derive.Object][]*task

// createKeyed creates the objects that the key has not created yet. createKeyed reads the whole input first.
// createKeyed creates nothing if the key has created an object that the input does not contain.
func (s *Session) createKeyed() {
	tasks, usable := s.readAll()
	if !usable {
		s.end.Incomplete = true
		return
	}
	if err := s.compare(tasks); err != nil && s.ctx.Err() == nil {
		s.problem(err)
		return
	}
	for _, t := range tasks {
		s.create(t, 0)
	}
	s.flush()
}

// readAll reads the input, and reports whether all of it is usable.
func (s *Session) readAll() (tasks []*task, usable bool) {
	usable = true
	s.eachStep(func(next Step) {
		if t := s.prepare(next); t != nil {
			tasks = append(tasks, t)
			s.warnOfTTL(t)
		} else {
			usable = false
		}
	})
	return tasks, usable && !s.end.Unread
}

// compare lists the objects that earlier runs with the key created, in each place of the input. compare
// returns an error if the input lacks one of these objects.
func (s *Session) compare(tasks []*task) error {
	documents := identified{}
	for _, t := range tasks {
		documents.add(t)
	}
	for _, at := range s.places {
		s.end.Places = append(s.end.Places, at.Place)
	}
	err := s.find()
	if err != nil {
		err = &FindError{err}
	} else {
		err = s.key.Conflict()
	}
	for _, t := range tasks {
		t.content = s.key.Content(t.identity, t.document.Object.Object)
	}
	if err != nil {
		return err
	}
	s.warnOfOthers()
	return s.unexpected(documents)
}

// add sets the identity of a document. add numbers documents that differ only in their content.
func (i identified) add(t *task) {
	kind := t.document.Mapping.GroupVersionKind
	o := derive.Object{Group: kind.Group, Kind: kind.Kind, Namespace: t.document.Namespace}
	if o.Name = t.document.Object.GetName(); o.Name == "" {
		o.GenerateName = t.document.Object.GetGenerateName()
	}
	t.identity = o
	t.identity.Document = len(i[o])
	i[o] = append(i[o], t)
}

// of returns the document of an identity, or nil if the input does not contain it.
func (i identified) of(o derive.Object) *task {
	n, copied := o.Document, o.Copy
	o.Document, o.Copy = 0, 0
	if documents := i[o]; n < len(documents) && copied < documents[n].copies {
		return documents[n]
	}
	return nil
}

// unexpected returns an error if the key has created objects that the input does not contain, or objects of documents
// that were changed.
func (s *Session) unexpected(documents identified) error {
	e := &UnexpectedError{}
	for _, o := range s.key.Unmatched() {
		var t *task
		if !o.ByContent { // else wrap created it
			t = documents.of(o.Identity)
		}
		differs := t != nil && exactlyonce.Differ(o.Digest, s.id(t, o.Identity.Copy).Digest)
		if t != nil && !differs {
			e.Matching++
			continue
		}
		e.Objects = append(e.Objects, o.Argument())
		if differs {
			e.Clash.add(t.place.Place, o.Name)
		}
		if differs && e.Change == nil {
			e.Change = s.changeOf(t, o.Name)
		}
	}
	if len(e.Objects) == 0 {
		return nil
	}
	return e
}

func (s *Session) warnOfOthers() {
	if others := s.key.Others(); len(others) > 0 {
		s.warn("the run ignores %s with its label, like %s. Another user created the object, or "+s.key.WhyIgnored(),
			humanize.Count(len(others), "object"), others[0])
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
	// Matching is the number of objects that the input contains with the same content.
	Matching int
	// Clash has those of Objects that the input contains, but with other content.
	Clash Clash
}

// Clash has objects of a key that a run with other input created, so their content differs from this input.
type Clash struct {
	Objects int
	Names   map[idempotency.Place][]string // names of the first objects
}

// maxClash is the number of names in a Clash.
const maxClash = 100

func (c *Clash) add(at idempotency.Place, name string) {
	if c.Objects++; c.Objects > maxClash {
		return
	}
	if c.Names == nil {
		c.Names = map[idempotency.Place][]string{}
	}
	c.Names[at] = append(c.Names[at], name)
}

func (e *UnexpectedError) Error() string {
	return fmt.Sprintf("%d unexpected objects of the key, like %s", len(e.Objects), e.Objects[0])
}

// ttls are the fields of a spec that set a TTL, for Jobs, Kubeflow's jobs, Workflows and SparkApplications.
var ttls = [][]string{
	{"ttlSecondsAfterFinished"}, {"runPolicy", "ttlSecondsAfterFinished"}, {"ttlStrategy"}, {"timeToLiveSeconds"},
}

// warnOfTTL warns of objects that are deleted after they finish. A later run with the key creates them
// again. The TTL of a RayJob deletes only its cluster.
func (s *Session) warnOfTTL(t *task) {
	for _, path := range ttls {
		ttl, _, _ := unstructured.NestedFieldNoCopy(t.document.Object.Object, slices.Concat([]string{"spec"}, path)...)
		if ttl != nil && t.place.Resource.Group != "ray.io" {
			s.warn("%s with %s are deleted after they finish. A later run with this key creates them again.",
				t.place.Resource, path[len(path)-1])
		}
	}
}

// changeTimeout is the time to read the object of a Change.
const changeTimeout = 10 * time.Second

// Change is a document that was changed after a run with the key created an object from it.
type Change struct {
	// Document is the document, and Object the object as arguments of kubectl.
	Document, Object string
	// Fields are the paths of the first fields of the document that the object lacks or
	// has with another value. If there are none, a field was removed from the document.
	Fields []string
}

// changeOf reads the object of a document, and compares each field of the document with it. changeOf returns nil if
// the object can't be read.
func (s *Session) changeOf(d *task, name string) *Change {
	ctx, cancel := context.WithTimeout(s.ctx, changeTimeout)
	defer cancel()
	stored, err := s.client.Get(ctx, d.document, name)
	if err != nil {
		return nil
	}
	return &Change{
		Document: d.document.Reference(""), Object: d.document.Argument(name),
		Fields: d.document.differences(stored),
	}
}

const (
	// findAtOnce is the number of places that are listed concurrently.
	findAtOnce = 8
	// lateAfter is the time after which Searching.Late is reported.
	lateAfter = 3 * time.Second
)

// find lists the objects of the key at all places, and reports progress. After an error, find lists no other place,
// and returns when all lists have ended.
func (s *Session) find() error {
	lists := make(chan error, len(s.places))
	group, ctx := errgroup.WithContext(s.ctx)
	group.SetLimit(findAtOnce)
	go func() {
		for _, at := range s.places {
			group.Go(func() error {
				err := s.key.At(ctx, at.in)
				lists <- err
				return err
			})
		}
	}()
	late := time.After(lateAfter)
	progress, left := Searching{Places: len(s.places)}, len(s.places)
	for s.emit(progress); left > 0; s.emit(progress) {
		progress.Late = false
		select {
		case err := <-lists:
			left--
			if err == nil {
				progress.Done++
			}
		case <-late:
			progress.Late = true
		}
	}
	return group.Wait()
}

// place is the state of a run for one place, which is a resource type in a namespace.
type place struct {
	idempotency.Place
	in         keyed.Place
	breaker    breaker
	permission permission
}

// placeOf returns the place of a document. s.places has all places, in the order of the input.
func (s *Session) placeOf(d *Document) *place {
	key := d.place()
	at := s.placeFor[key]
	if at == nil {
		at = &place{Place: key, in: keyed.Place{
			Resource: d.Mapping.Resource, Kind: d.Mapping.GroupVersionKind.GroupKind(), Namespace: d.Namespace,
			GenerateNames: map[string]bool{},
		}}
		s.placeFor[key] = at
		s.places = append(s.places, at)
	}
	if generateName := d.Object.GetGenerateName(); generateName != "" {
		at.in.GenerateNames[generateName] = true
	}
	return at
}
