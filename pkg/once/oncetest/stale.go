package oncetest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StaleRead hides an object from gets, lists and watches until the object is as old as age. Use it on watches for
// a cache that lags. With an age of an hour, a cache that has started doesn't see any object that is created
// during the test. On gets, it makes the uncached reader stale, which no kube-apiserver does.
//
// Creation times are whole seconds. Deleted objects don't come back. A stale cache causes a duplicate only if the
// controller reconciles a second time.
func StaleRead(age time.Duration) Fault {
	return func(r *Request) (*http.Response, error) {
		r.http = r.http.Clone(r.Context())
		r.http.Header.Set("Accept", strings.ReplaceAll(r.http.Header.Get("Accept"), "vnd.kubernetes.protobuf", "json"))
		resp, err := r.Send()
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		v := view{age: age, ahead: time.Duration(0)}
		if now, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			v.ahead = time.Until(now).Truncate(time.Second)
		}
		switch r.Verb {
		case "get":
			return v.get(r, resp)
		case "list":
			return v.list(resp)
		case "watch":
			resp.Body = v.watch(resp.Body)
		}
		return resp, nil
	}
}

// view decides when an object is visible.
type view struct {
	age, ahead time.Duration // ahead is the time by which the server's clock is ahead
}

// shownAt returns the time from which an object is visible. This time is the same for all events of an object, so the
// events stay in order.
func (v view) shownAt(object json.RawMessage) time.Time {
	var o metav1.PartialObjectMetadata
	if json.Unmarshal(object, &o) != nil || o.CreationTimestamp.IsZero() {
		return time.Time{}
	}
	return o.CreationTimestamp.Add(v.age - v.ahead)
}

func (v view) hides(object json.RawMessage) bool { return v.shownAt(object).After(time.Now()) }

func (v view) get(r *Request, resp *http.Response) (*http.Response, error) {
	body, err := bodyOf(resp)
	if err == nil && v.hides(body) {
		return refuse(apierrors.NewNotFound(r.Resource.GroupResource(), r.Name)), nil
	}
	return resp, err
}

func (v view) list(resp *http.Response) (*http.Response, error) {
	body, err := bodyOf(resp)
	var list map[string]json.RawMessage
	var items []json.RawMessage
	if err != nil || json.Unmarshal(body, &list) != nil || json.Unmarshal(list["items"], &items) != nil {
		return resp, err
	}
	var about metav1.ListMeta
	_ = json.Unmarshal(list["metadata"], &about) // without it, the list has no version
	items = slices.DeleteFunc(items, func(item json.RawMessage) bool {
		if !v.hides(item) {
			return false
		}
		about.ResourceVersion = before(item, about.ResourceVersion)
		return true
	})
	if list["metadata"], err = json.Marshal(about); err != nil {
		return nil, err
	}
	if list["items"], err = json.Marshal(append([]json.RawMessage{}, items...)); err != nil {
		return nil, err
	}
	if body, err = json.Marshal(list); err != nil {
		return nil, err
	}
	return withBody(resp, body), nil
}

// before returns the version just before a hidden object, or the version of the list if that is smaller. A watch from
// this version gets the hidden object.
func before(hidden json.RawMessage, list string) string {
	var o metav1.PartialObjectMetadata
	_ = json.Unmarshal(hidden, &o) // has been decoded
	version, err := strconv.Atoi(o.ResourceVersion)
	now, listErr := strconv.Atoi(list)
	if err != nil || listErr != nil || version > now {
		return list
	}
	return strconv.Itoa(version - 1)
}

// event is an event of a watch, and the time when it becomes visible.
type event struct {
	due time.Time
	raw json.RawMessage
}

// watch returns the watch, in which each event is delayed until its object is visible.
func (v view) watch(below io.ReadCloser) io.ReadCloser {
	shown, out := io.Pipe()
	events := make(chan event)
	done := make(chan struct{})
	go func() {
		defer close(events)
		from := json.NewDecoder(below)
		for {
			var raw json.RawMessage
			if from.Decode(&raw) != nil {
				return
			}
			if e, ok := v.event(raw); ok {
				select {
				case events <- e:
				case <-done:
					return
				}
			}
		}
	}()
	go func() { _ = out.CloseWithError(showInTime(events, out)) }()
	return &watchBody{shown, sync.OnceValue(func() error {
		close(done)
		return below.Close()
	})}
}

// event returns the event. event returns false for a bookmark that is only a checkpoint, because the bookmark can be
// ahead of delayed events.
func (v view) event(raw json.RawMessage) (event, bool) {
	var e struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	_ = json.Unmarshal(raw, &e) // no error: the decoder has read it
	if e.Type == "BOOKMARK" {
		return event{time.Time{}, raw}, strings.Contains(string(e.Object), metav1.InitialEventsAnnotationKey)
	}
	return event{v.shownAt(e.Object), raw}, true
}

// showInTime writes each event when it becomes visible, until there are no more events.
func showInTime(events <-chan event, out io.Writer) error {
	var waiting []event
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for len(waiting) > 0 && !waiting[0].due.After(time.Now()) {
			if _, err := out.Write(waiting[0].raw); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
		if len(waiting) > 0 {
			timer.Reset(time.Until(waiting[0].due))
		}
		select {
		case e, ok := <-events:
			if !ok {
				return io.EOF
			}
			waiting = append(waiting, e)
			slices.SortStableFunc(waiting, func(a, b event) int { return a.due.Compare(b.due) })
		case <-timer.C:
		}
	}
}

// watchBody is the body of a watch. Close also ends the watch of the server.
type watchBody struct {
	*io.PipeReader
	end func() error
}

// Close implements io.Closer.
func (w *watchBody) Close() error {
	_ = w.PipeReader.Close()
	return w.end()
}
