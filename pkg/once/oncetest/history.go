package oncetest

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A change is one event in the life of an object.
type change struct {
	// stored means that the object was created, and deleted that it was deleted. If both are false, the object was
	// updated by Put, by an update, or by a delete that waits for finalizers.
	stored, deleted bool
	object          *unstructured.Unstructured
	before          *unstructured.Unstructured // the object that was replaced or deleted, or nil
	serial          int                        // resourceVersion of object

	at   key
	sent *unstructured.Unstructured // the object as the client sent it
}

// Objects returns copies of the objects on the server, in the order of their
// creation.
func (s *Server) Objects() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []*unstructured.Unstructured
	listed := map[key]bool{} // Put can store a deleted object again
	for _, c := range s.changes {
		if held := s.objects[c.at]; c.stored && held != nil && held.GetUID() == c.object.GetUID() && !listed[c.at] {
			listed[c.at] = true
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

// Put stores or replaces an object as another client would. No fault applies, and no request is recorded. If object
// has no uid and creationTimestamp, the stored object gets the uid and creationTimestamp of the object that it
// replaces, or new values. Put doesn't change object. Put panics if the server doesn't have the type.
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
