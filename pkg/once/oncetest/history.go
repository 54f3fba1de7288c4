package oncetest

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A change is one event in the life of an object.
type change struct {
	// stored: the object was created. deleted: it was deleted. With neither, it was
	// updated, by Put, an update, or a delete that waits for finalizers.
	stored, deleted bool
	object          *unstructured.Unstructured
	serial          int // its resourceVersion

	at   key
	sent *unstructured.Unstructured // the object as the client sent it
}

// Objects returns copies of the objects on the server, in the order of their
// creation.
func (s *Server) Objects() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []*unstructured.Unstructured
	for _, c := range s.changes {
		if held := s.objects[c.at]; c.stored && held != nil && held.GetUID() == c.object.GetUID() {
			objects = append(objects, held.DeepCopy())
		}
	}
	return objects
}

// history returns the changes until now.
func (s *Server) history() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes[:len(s.changes):len(s.changes)]
}

// Put stores or replaces an object as another client would. No fault applies, and no
// record is made. The object keeps its uid and creationTimestamp. If it has none, it
// gets those of the object that it replaces, or new ones, and object itself doesn't
// change. Put panics if the server doesn't have the type.
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

// Remove deletes the object of that type, namespace and name, if it exists, as
// another client would.
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
