package decode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// EventType is the type of a watch event.
type EventType string

// The types of events.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK" // only a resourceVersion
	Error    EventType = "ERROR"
)

// Event is one event of a watch.
type Event struct {
	Type EventType
	// ResourceVersion is the version of the object or the bookmark. For a deleted object, it is the version of the
	// deletion.
	ResourceVersion string
	Object          *object.Object // nil for a bookmark
}

// StatusError is the error of a watch that the server ends with a Status.
type StatusError struct {
	Code    int // HTTP status code
	Message string
}

func (s *StatusError) Error() string { return "the server ended the watch: " + s.Message }

// Gone reports whether a watch can't continue because the server no longer has the changes since the resourceVersion of
// the watch.
func Gone(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusGone
}

// Watch reads the events of a metadata watch, in protobuf or JSON. Watch calls visit for each event. visit must not
// keep the object. If visit returns an error, Watch ends. If the server ends the watch between two events, Watch
// returns nil. If the server ends it with a Status, Watch returns a StatusError.
func Watch(r io.Reader, visit func(*Event) error) error {
	d := &decoder{r: bufio.NewReaderSize(r, bufferSize)}
	switch first, err := d.r.Peek(1); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case first[0] == 0: // first byte of a length below 16 MiB; JSON never begins with 0
		return d.protobufEvents(visit)
	}
	return d.jsonEvents(visit)
}

// event passes one event to visit. read decodes the object of the event into the given Status. If the Status is nil,
// read decodes into the current object.
func (d *decoder) event(what string, read func(*metav1.Status) error, visit func(*Event) error) error {
	event := Event{Type: EventType(what)}
	switch event.Type {
	case Error:
		var status metav1.Status
		if err := read(&status); err != nil {
			return err
		}
		return &StatusError{int(status.Code), head(status.Message)}
	case Bookmark, Added, Modified, Deleted:
	default:
		return malformedf("an event of type %.64q", what)
	}
	if err := read(nil); err != nil {
		return err
	}
	if event.ResourceVersion = d.object.ResourceVersion; event.ResourceVersion == "" {
		return Malformed("an event without a resourceVersion")
	}
	if event.Type == Bookmark {
		return visit(&event)
	}
	event.Object = &d.object
	d.visit = func(*object.Object) error { return visit(&event) }
	return d.found()
}

// protobufEvents reads protobuf events. The four bytes before each event are its length
// (k8s.io/apimachinery/pkg/util/framer).
func (d *decoder) protobufEvents(visit func(*Event) error) error {
	for {
		var length [4]byte
		switch _, err := io.ReadFull(d.r, length[:]); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var event metav1.WatchEvent
		if err := d.unmarshal(int64(binary.BigEndian.Uint32(length[:])), event.Unmarshal); err != nil {
			return err
		}
		err := d.event(event.Type, func(status *metav1.Status) error {
			if status != nil {
				return unmarshalUnknown(event.Object.Raw, status.Unmarshal)
			}
			return unmarshalUnknown(event.Object.Raw, d.metadata)
		}, visit)
		if err != nil {
			return err
		}
	}
}

// unmarshalUnknown calls read with the object in a runtime.Unknown.
func unmarshalUnknown(data []byte, read func([]byte) error) error {
	body, is := bytes.CutPrefix(data, []byte(protobufMagic))
	if !is {
		return Malformed("an object of an event that is not protobuf")
	}
	var unknown runtime.Unknown
	err := unknown.Unmarshal(body)
	if err == nil && unknown.ContentEncoding != "" {
		return Malformed("encoded content")
	}
	if err == nil {
		err = read(unknown.Raw)
	}
	if err != nil {
		return Malformed(err.Error())
	}
	return nil
}

func (d *decoder) jsonEvents(visit func(*Event) error) error {
	for j := newJSONReader(d.r); ; {
		var event struct {
			Type   string         `json:"type"`
			Object jsontext.Value `json:"object"`
		}
		j.left = MaxObject
		switch err := json.UnmarshalDecode(j.Decoder, &event); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.failed(err)
		}
		unmarshal := fromMemory(event.Object)
		err := d.event(event.Type, func(status *metav1.Status) error {
			if status != nil {
				return unmarshal(status)
			}
			return d.jsonObject(unmarshal)
		}, visit)
		if err != nil {
			return err
		}
	}
}
