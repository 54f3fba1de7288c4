package fakeapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lifetime is the time after which a watch sends a bookmark, and ends. Real servers send bookmarks each minute.
const lifetime = time.Minute

// chance reports whether to inject a fault, which it does once in so many calls.
func (s *Server) chance(one int) bool { return s.Faults && s.Random.IntN(one) == 0 }

// Open begins the response to a watch.
func Open(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

// Send sends an event of an object.
func Send(w http.ResponseWriter, what string, o metav1.ObjectMeta) {
	kind := metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
	write(w, eventOf(what, metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: o}))
}

func eventOf(what string, object any) []byte {
	line, err := json.Marshal(map[string]any{"type": what, "object": object})
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}

func write(w http.ResponseWriter, data []byte) {
	_, _ = w.Write(data)
	_ = http.NewResponseController(w).Flush()
}

// watch sends the changes since the state that the request names.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, path, namespace string) {
	since, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	if since < s.oldest {
		Fail(w, http.StatusGone, "too old resource version")
		return
	}
	Open(w)
	restarts, ends, ended := s.restarts, time.NewTimer(lifetime), false
	defer ends.Stop()
	sent := since
	for next, history := 0, s.histories; ; {
		if s.histories != history {
			next, history, since = 0, s.histories, sent
		}
		for ; next < len(s.log); next++ {
			c := s.log[next]
			if c.version <= since || c.path != path || namespace != "" && c.object.Namespace != namespace {
				continue
			}
			if sent = max(sent, c.version); !s.deliver(w, c, since) {
				return
			}
		}
		if r.Context().Err() != nil || s.restarts != restarts {
			return
		}
		if ended && s.Version >= since { // no bookmark for a state that doesn't exist yet
			Send(w, "BOOKMARK", metav1.ObjectMeta{ResourceVersion: strconv.FormatInt(s.Version, 10)})
			return
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		case <-ends.C:
			ended = true
		}
		s.Lock()
	}
}

// deliver sends an event, or a fault, and reports whether the watch goes on.
func (s *Server) deliver(w http.ResponseWriter, c change, since int64) (goesOn bool) {
	switch {
	case c.what == "ADDED" && s.Loses > 0:
		s.Loses--
		return true
	case s.chance(60):
		write(w, eventOf("ERROR", metav1.Status{Code: http.StatusGone, Message: "too old resource version"}))
		return false
	case s.chance(61): // an earlier state, of a server that lags
		c.object.ResourceVersion = strconv.FormatInt(since-1, 10)
		Send(w, "MODIFIED", c.object)
		return false
	case s.chance(30):
		return false
	case s.chance(40): // in the middle of an event
		line := eventOf(c.what, metav1.PartialObjectMetadata{ObjectMeta: c.object})
		write(w, line[:len(line)/2])
		panic(http.ErrAbortHandler)
	}
	Send(w, c.what, c.object)
	return true
}
