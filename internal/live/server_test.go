package live

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// fakeServer is an API server in memory: lists by pages and at a state, watches with
// a history, and faults of both. It shares nothing with the engine. oncetest.Server has
// neither pages nor the faults of watches.
type fakeServer struct {
	*httptest.Server
	mu       sync.Mutex
	changed  *sync.Cond
	version  int64
	log      []logged // of all types, in order
	oldest   int64    // the state before which there is no history
	clock    int64
	random   *rand.Rand
	faults   bool
	restarts int // watches broken at once
	refuses  func(path string, watch bool) int
	watches  map[string]int // opened, by path
	lists    int            // begun, but for the first object alone
	loses    int            // so many events of objects that are new are not sent
	lies     bool           // each watch begins with an earlier state
	empty    bool           // each watch ends at once
	hung     int            // so many watches get no response
	mute     int            // so many are, and deliver nothing
	wordy    bool           // its versions of lists are no numbers
	selects  int            // requests with a selector
	torn     time.Duration  // how long first pages take, after which there is no other
	begun    []time.Time    // when the lists were
}

// logged is one change of one object.
type logged struct {
	version int64
	path    string // of the list of all namespaces
	what    string
	object  object
}

type object struct {
	Namespace, Name, GenerateName string
	version, created              int64
	labels                        map[string]string
}

func (o object) key() string { return o.Namespace + "/" + o.Name }

func (o object) json() map[string]any {
	meta := map[string]any{
		"name": o.Name, "resourceVersion": fmt.Sprint(o.version),
		"creationTimestamp": time.Unix(o.created, 0).UTC().Format(time.RFC3339),
	}
	if o.Namespace != "" {
		meta["namespace"] = o.Namespace
	}
	if o.GenerateName != "" {
		meta["generateName"] = o.GenerateName
	}
	if o.labels != nil {
		meta["labels"] = o.labels
	}
	return map[string]any{"kind": "PartialObjectMetadata", "metadata": meta}
}

func newFakeServer(t *testing.T, seed uint64) *fakeServer {
	s := &fakeServer{version: 100, clock: 1_700_000_000, random: rand.New(rand.NewPCG(seed, 1)), watches: map[string]int{}}
	s.changed = sync.NewCond(&s.mu)
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.wake()
		s.Close()
	})
	return s
}

func (s *fakeServer) config() *rest.Config {
	return &rest.Config{Host: s.URL, Timeout: 10 * time.Second}
}

func (s *fakeServer) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restarts++
	s.changed.Broadcast()
}

// change makes a change of an object.
func (s *fakeServer) change(path, what string, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += 1 + s.random.Int64N(3)
	s.clock += s.random.Int64N(2)
	o.version = s.version
	if what == "ADDED" {
		o.created = s.clock
	}
	s.log = append(s.log, logged{s.version, path, what, o})
	s.changed.Broadcast()
}

// end deletes objects at one state, as etcd does where a lease has ended.
func (s *fakeServer) end(path string, objects ...object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	for _, o := range objects {
		o.version = s.version
		s.log = append(s.log, logged{s.version, path, "DELETED", o})
	}
	s.changed.Broadcast()
}

// forget drops all history, including events that no watch has received.
func (s *fakeServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.oldest = s.version
	s.restarts++
	s.changed.Broadcast()
}

// backup returns a function that restores the current state, as a restored etcd does.
// Later changes are lost. The next resource version follows the current one.
func (s *fakeServer) backup() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, log := s.version, slices.Clone(s.log)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.version, s.log = version, log
		s.restarts++
		s.changed.Broadcast()
	}
}

// at returns the objects of a list at a state, in order.
func (s *fakeServer) at(path, namespace string, version int64) []object {
	found := map[string]object{}
	for _, l := range s.log {
		if l.version > version || l.path != path || namespace != "" && l.object.Namespace != namespace {
			continue
		}
		if l.what == "DELETED" {
			delete(found, l.object.key())
		} else {
			found[l.object.key()] = l.object
		}
	}
	var all []object
	for _, o := range found {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b object) int { return strings.Compare(a.key(), b.key()) })
	return all
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		_ = json.NewEncoder(w).Encode(map[string]string{"gitVersion": "v1.36.0"})
		return
	}
	path, namespace := r.URL.Path, ""
	if before, after, ok := strings.Cut(path, "/namespaces/"); ok {
		name, resource, _ := strings.Cut(after, "/")
		path, namespace = before+"/"+resource, name
	}
	watch := r.URL.Query().Get("watch") == "true"
	if r.URL.Query().Has("labelSelector") {
		s.mu.Lock()
		s.selects++
		s.mu.Unlock()
	}
	if s.refuses != nil {
		if code := s.refuses(path, watch); code != 0 {
			fail(w, code, "refused")
			return
		}
	}
	if watch {
		s.watch(w, r, path, namespace)
		return
	}
	s.list(w, r, path, namespace)
}

func fail(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message,
	})
}

// chance reports whether a fault is injected.
func (s *fakeServer) chance(one int) bool { return s.faults && s.random.IntN(one) == 0 }

func (s *fakeServer) list(w http.ResponseWriter, r *http.Request, path, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chance(10) {
		fail(w, http.StatusServiceUnavailable, "in a moment")
		return
	}
	q := r.URL.Query()
	version, from := s.version, 0
	if at := q.Get("resourceVersion"); at != "" {
		version, _ = strconv.ParseInt(at, 10, 64)
	}
	if token := q.Get("continue"); token != "" {
		_, _ = fmt.Sscanf(token, "%d-%d", &version, &from)
	}
	all := s.at(path, namespace, version)[from:]
	limit, _ := strconv.Atoi(q.Get("limit"))
	if limit != 1 && from == 0 {
		s.lists++
		s.begun = append(s.begun, time.Now())
	}
	if s.torn > 0 && from > 0 {
		fail(w, http.StatusBadRequest, "torn")
		return
	}
	time.Sleep(s.torn)
	meta := map[string]any{"resourceVersion": fmt.Sprint(version)}
	if s.wordy {
		meta["resourceVersion"] = fmt.Sprint("state-", version)
	}
	if limit > 0 && len(all) > limit {
		meta["continue"] = fmt.Sprintf("%d-%d", version, from+limit)
		meta["remainingItemCount"] = len(all) - limit
		all = all[:limit]
	}
	items := []any{}
	for _, o := range all {
		items = append(items, o.json())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PartialObjectMetadataList", "metadata": meta, "items": items})
}

func (s *fakeServer) watch(w http.ResponseWriter, r *http.Request, path, namespace string) {
	since, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches[path]++
	hangs := func(left *int) bool {
		*left--
		if *left < 0 {
			return false
		}
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return true
	}
	if hangs(&s.hung) {
		return
	}
	if since < s.oldest {
		fail(w, http.StatusGone, "too old resource version")
		return
	}
	restarts := s.restarts
	send := func(what string, o map[string]any) {
		line, _ := json.Marshal(map[string]any{"type": what, "object": o})
		if s.chance(40) { // in the middle of an event
			_, _ = w.Write(line[:len(line)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(append(line, '\n'))
		_ = http.NewResponseController(w).Flush()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	if s.empty || hangs(&s.mute) {
		return
	}
	if s.lies && len(s.log) > 0 {
		o := s.log[0].object
		o.version = since - 1
		send("MODIFIED", o.json())
		return
	}
	stop := time.AfterFunc(500*time.Millisecond, s.changed.Broadcast) // and the bookmark
	defer stop.Stop()
	began := time.Now()
	for next := 0; ; {
		for ; next < len(s.log); next++ {
			l := s.log[next]
			if l.version <= since || l.path != path || namespace != "" && l.object.Namespace != namespace {
				continue
			}
			if l.what == "ADDED" && s.loses > 0 {
				s.loses--
				continue
			}
			switch {
			case s.chance(60):
				send("ERROR", map[string]any{"kind": "Status", "code": 410, "message": "too old resource version"})
				return
			case s.chance(61): // of a server that knows less
				o := l.object
				o.version = since - 1
				send("MODIFIED", o.json())
				return
			case s.chance(30):
				return
			}
			send(l.what, l.object.json())
		}
		if r.Context().Err() != nil || s.restarts != restarts {
			return
		}
		if time.Since(began) > 500*time.Millisecond && s.version >= since { // no bookmark before the state exists
			send("BOOKMARK", map[string]any{"metadata": map[string]any{"resourceVersion": fmt.Sprint(s.version)}})
			return
		}
		s.changed.Wait()
	}
}
