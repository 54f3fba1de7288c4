package fakeapi

import (
	"cmp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConfigMaps is the path of the list that Set sets.
const ConfigMaps = "/api/v1/configmaps"

// change is a change of one object, or the new objects of a list.
type change struct {
	version int64
	path    string // path of the list of all namespaces
	what    string // ADDED, MODIFIED or DELETED, or empty for all objects of the list
	object  metav1.ObjectMeta
	all     []metav1.ObjectMeta
}

// Key returns the position of an object in a list.
func Key(o metav1.ObjectMeta) string { return o.Namespace + "/" + o.Name }

func byKey(a, b metav1.ObjectMeta) int { return cmp.Compare(Key(a), Key(b)) }

// Set makes objects all ConfigMaps of a new state.
func (s *Server) Set(objects []metav1.ObjectMeta) {
	objects = slices.Clone(objects)
	if !s.Unsorted {
		slices.SortFunc(objects, byKey)
	}
	s.Lock()
	defer s.Unlock()
	s.Version++
	s.log = append(s.log, change{version: s.Version, path: ConfigMaps, all: objects})
}

// Change makes a change of an object in the list of a path.
func (s *Server) Change(path, what string, o metav1.ObjectMeta) {
	s.Lock()
	defer s.Unlock()
	s.Version++
	if s.Random != nil {
		s.Version += s.Random.Int64N(3)
		s.Clock += s.Random.Int64N(2)
	}
	if what == "ADDED" {
		o.CreationTimestamp = metav1.Unix(s.Clock, 0)
	}
	s.record(path, what, o)
}

// End deletes objects at one state, as etcd does when a lease ends.
func (s *Server) End(path string, objects ...metav1.ObjectMeta) {
	s.Lock()
	defer s.Unlock()
	s.Version++
	for _, o := range objects {
		s.record(path, "DELETED", o)
	}
}

func (s *Server) record(path, what string, o metav1.ObjectMeta) {
	o.ResourceVersion = strconv.FormatInt(s.Version, 10)
	s.log = append(s.log, change{version: s.Version, path: path, what: what, object: o})
	s.wake()
}

// Expire makes all earlier states expire.
func (s *Server) Expire() {
	s.Lock()
	defer s.Unlock()
	s.oldest = s.Version
}

// Forget drops all history, including events that no watch has received.
func (s *Server) Forget() {
	s.Lock()
	defer s.Unlock()
	s.Version++
	s.oldest = s.Version
	s.restart()
}

// Restart ends all watches.
func (s *Server) Restart() {
	s.Lock()
	defer s.Unlock()
	s.restart()
}

func (s *Server) restart() {
	s.restarts++
	s.wake()
}

func (s *Server) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Backup is a copy of the objects at one state.
type Backup struct {
	server  *Server
	version int64
	log     []change
}

// Backup copies the current objects.
func (s *Server) Backup() *Backup {
	s.Lock()
	defer s.Unlock()
	return &Backup{s, s.Version, slices.Clone(s.log)}
}

// Restore restores the objects and the state of the backup, as a restored etcd does. Later changes are lost, and all
// watches end.
func (b *Backup) Restore() {
	b.restore(b.version)
	b.server.Restart()
}

// RestoreAhead does the same as Restore, but watches stay open, and the state is later than before.
func (b *Backup) RestoreAhead(by int64) { b.restore(b.server.Version + by) }

func (b *Backup) restore(version int64) {
	b.server.Lock()
	defer b.server.Unlock()
	b.server.log, b.server.Version = slices.Clone(b.log), version
	b.server.histories++
}

// Objects returns the current objects in the list of a path.
func (s *Server) Objects(path string) []metav1.ObjectMeta {
	s.Lock()
	defer s.Unlock()
	return s.at(path, "", s.Version)
}

// at returns the objects of a list at a state, in order.
func (s *Server) at(path, namespace string, version int64) (all []metav1.ObjectMeta) {
	if path == "/api/v1/namespaces" {
		for _, name := range s.Namespaces {
			all = append(all, metav1.ObjectMeta{Name: name})
		}
		return all
	}
	found := map[string]metav1.ObjectMeta{}
	for _, c := range s.log {
		switch {
		case c.version > version || c.path != path:
		case c.what == "":
			all = c.all
		case c.what == "DELETED":
			delete(found, Key(c.object))
		default:
			found[Key(c.object)] = c.object
		}
	}
	if namespace == "" && len(found) == 0 {
		return all
	}
	all = slices.Clone(all)
	for _, o := range found {
		all = append(all, o)
	}
	if !s.Unsorted {
		slices.SortFunc(all, byKey)
	}
	return slices.DeleteFunc(all, func(o metav1.ObjectMeta) bool { return namespace != "" && o.Namespace != namespace })
}
