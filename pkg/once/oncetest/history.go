package oncetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Change is one thing that has happened to an object on the server.
type Change struct {
	Time time.Time
	// Stored: the object came into being; Deleted: it ceased to be. With
	// neither, it was changed: by Put, or by a delete that waits for finalizers.
	Stored, Deleted bool
	Object          *unstructured.Unstructured

	at   key
	sent *unstructured.Unstructured // what the client sent to have it stored
}

// A Record is one request for objects, and what became of it.
type Record struct {
	Time      time.Time
	Verb      string
	Resource  schema.GroupVersionResource
	Namespace string
	// Name is that of the path, or of the object that was sent.
	Name string
	// Sent is the object of a create, as the client sent it.
	Sent *unstructured.Unstructured
	// Injured reports that the request met an injury.
	Injured bool
	// CarriedOut has what the server answered, each time that it carried out
	// the request; none if it never did.
	CarriedOut []string
	// Answer is what the client got: the code and the words, or an error.
	Answer string
}

// String returns the record in one line.
func (r Record) String() string {
	name := r.Name
	if r.Sent != nil && name == "" {
		name = r.Sent.GetGenerateName() + "*"
	}
	line := fmt.Sprintf("%s %s %s %s: answered %s", r.Time.UTC().Format("15:04:05.000"), r.Verb,
		r.Resource.GroupResource(), strings.Trim(r.Namespace+"/"+name, "/"), r.Answer)
	if !r.Injured {
		return line
	}
	return fmt.Sprintf("%s (injured; carried out: %s)", line, cmp.Or(strings.Join(r.CarriedOut, ", then "), "never"))
}

// Objects returns copies of the objects on the server, in the order of their
// creation.
func (s *Server) Objects() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []*unstructured.Unstructured
	for _, c := range s.changes {
		if held := s.objects[c.at]; c.Stored && held != nil && held.GetUID() == c.Object.GetUID() {
			objects = append(objects, held.DeepCopy())
		}
	}
	return objects
}

// Changes returns all that has happened to objects, in its order.
func (s *Server) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := slices.Clone(s.changes)
	for i := range changes {
		changes[i].Object = changes[i].Object.DeepCopy()
	}
	return changes
}

// Requests returns all requests for objects, in the order in which they came.
func (s *Server) Requests() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var records []Record
	for _, r := range s.records {
		record := *r
		record.CarriedOut = slices.Clone(r.CarriedOut)
		records = append(records, record)
	}
	return records
}

// begin begins the record of a request.
func (s *Server) begin(r *Request) {
	r.record = &Record{
		Time: time.Now(), Verb: r.Verb, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name,
	}
	if r.Verb == "" {
		return
	}
	if r.Object != nil {
		r.record.Sent = r.Object.DeepCopy()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r.record)
}

// note records what the client gets.
func (s *Server) note(r *Request, resp *http.Response, err error) {
	answer := describe(resp, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.record.Answer = answer
}

// objectsAt returns what was there at a time.
func (s *Server) objectsAt(then time.Time) map[key]*unstructured.Unstructured {
	objects := map[key]*unstructured.Unstructured{}
	for _, c := range s.changes {
		switch {
		case c.Time.After(then):
			return objects
		case c.Deleted:
			delete(objects, c.at)
		default:
			objects[c.at] = c.Object
		}
	}
	return objects
}

// Put stores an object past all injuries, or replaces the one of its name: what
// others do. It keeps the uid and the creationTimestamp that the object has; of
// one that it replaces, the new object takes them over where it has none. It
// panics if the server has no such type.
func (s *Server) Put(object *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.keyOf(object)
	object = object.DeepCopy()
	if held := s.objects[at]; held != nil {
		object.SetUID(cmp.Or(object.GetUID(), held.GetUID()))
		if created := object.GetCreationTimestamp(); created.IsZero() {
			object.SetCreationTimestamp(held.GetCreationTimestamp())
		}
		if object.GetUID() != held.GetUID() {
			s.drop(at)
		}
	}
	s.put(at, s.stamp(object), nil)
}

// Remove deletes the object of that type, namespace and name past all injuries,
// if there is one: what others do.
func (s *Server) Remove(object *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.keyOf(object); s.objects[at] != nil {
		s.drop(at)
	}
}

func (s *Server) keyOf(object *unstructured.Unstructured) key {
	for _, t := range s.types {
		if t.kind() == object.GroupVersionKind() {
			return key{t.resource(), object.GetNamespace(), object.GetName()}
		}
	}
	panic(fmt.Sprintf("oncetest: the server has no type %s: give it to NewServer", object.GroupVersionKind()))
}
