package oncetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// watch responds with the changes after the resourceVersion of the request. If the request has none, or requests
// initial events, the existing objects come first.
func (r *served) watch() *http.Response {
	wanted, err := r.selection()
	if err != nil {
		return refuse(apierrors.NewBadRequest(err.Error()))
	}
	query := r.http.URL.Query()
	w := &watching{served: r, wanted: wanted, closed: make(chan struct{})}
	initial := query.Get("sendInitialEvents") == "true"
	since, err := strconv.Atoi(query.Get("resourceVersion"))
	if initial || err != nil || since == 0 {
		since = r.server.serial
		w.listObjects()
	}
	if initial {
		w.bookmark(since)
	}
	for w.next < len(r.server.changes) && r.server.changes[w.next].serial <= since {
		w.next++
	}
	resp := respond(http.StatusOK, "application/json", "")
	resp.Body, resp.ContentLength = w, -1
	return resp
}

// watching is the body of a watch.
type watching struct {
	*served
	wanted  func(*unstructured.Unstructured) bool
	next    int // index of the next change
	pending bytes.Buffer
	closing sync.Once
	closed  chan struct{}
}

// Read waits for the next event.
func (w *watching) Read(b []byte) (int, error) {
	for w.pending.Len() == 0 {
		w.server.mu.Lock()
		w.fill()
		changed := w.server.changed
		w.server.mu.Unlock()
		if w.pending.Len() > 0 {
			break
		}
		select {
		case <-changed:
		case <-w.closed:
			return 0, io.EOF
		case <-w.http.Context().Done():
			return 0, w.http.Context().Err()
		}
	}
	return w.pending.Read(b)
}

// Close ends the watch.
func (w *watching) Close() error {
	w.closing.Do(func() { close(w.closed) })
	return nil
}

// fill encodes the changes that the watch hasn't sent yet. If an object no longer matches the selectors, the watch gets
// its deletion, with the earlier object. The server is locked.
func (w *watching) fill() {
	for ; w.next < len(w.server.changes); w.next++ {
		c := w.server.changes[w.next]
		was, is := c.before != nil && w.wanted(c.before), !c.deleted && w.wanted(c.object)
		switch {
		case !w.covers(c.at):
		case was && is:
			w.encode(watch.Modified, w.shown(c.object))
		case is:
			w.encode(watch.Added, w.shown(c.object))
		case was:
			last := c.before.DeepCopy()
			last.SetResourceVersion(c.object.GetResourceVersion())
			w.encode(watch.Deleted, w.shown(last))
		}
	}
}

func (w *watching) listObjects() {
	for _, object := range w.matching(w.wanted) {
		w.encode(watch.Added, w.shown(object))
	}
}

func (w *watching) bookmark(serial int) {
	w.encode(watch.Bookmark, w.shown(&unstructured.Unstructured{Object: map[string]any{
		"kind": w.kind.Kind, "apiVersion": w.kind.groupVersion().String(),
		"metadata": map[string]any{
			"resourceVersion": strconv.Itoa(serial),
			"annotations":     map[string]any{metav1.InitialEventsAnnotationKey: "true"},
		},
	}}))
}

func (w *watching) encode(kind watch.EventType, object map[string]any) {
	_ = json.NewEncoder(&w.pending).Encode(map[string]any{"type": kind, "object": object}) // was decoded
}
