package decode

import (
	"bytes"
	gojson "encoding/json"
	"errors"
	"io"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/json"
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
	// ResourceVersion is that of the object or the bookmark. A deleted object has that of its deletion.
	ResourceVersion string
	Object          *Object // nil for a bookmark
}

// StatusError is the Status with which a server ends a watch.
type StatusError struct {
	Code    int // HTTP status code
	Message string
}

func (s *StatusError) Error() string { return "the server ended the watch: " + s.Message }

// Gone reports whether a watch can't continue because the server no longer has the changes after its
// resourceVersion.
func Gone(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusGone
}

// Numbers of fields of k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto
// (WatchEvent, Status) and k8s.io/apimachinery/pkg/runtime/generated.proto
// (RawExtension).
const (
	eventType   protowire.Number = 1
	eventObject protowire.Number = 2

	extensionRaw protowire.Number = 1

	metaResourceVersion protowire.Number = 6

	statusMessage protowire.Number = 3
	statusCode    protowire.Number = 6
)

// frameHead is the size of the length that precedes each event of a protobuf watch
// (k8s.io/apimachinery/pkg/util/framer).
const frameHead = 4

// Watch reads the events of a metadata watch, in protobuf or JSON. buffer must have at least
// BufferSize bytes. It calls visit for each event. visit must not keep the object, and its error ends
// the reading. If the server ends the watch between two events, Watch returns nil. If the server ends
// it with a Status, Watch returns a StatusError.
func Watch(r io.Reader, buffer []byte, asked Asked, visit func(*Event) error) error {
	d := &eventDecoder{visit: visit}
	d.asked = asked
	d.asked.Creator = func(o *Object) When {
		isUpdated := d.event.Type == Modified
		if asked.Creator == nil || isUpdated && (asked.Updated == nil || !asked.Updated(o)) {
			return Never
		}
		return asked.Creator(o)
	}
	w := &wire{r: r, buf: buffer}
	if done, err := w.done(); done || err != nil {
		return err
	}
	if first := buffer[0]; first == 0 { // first byte of a length below 16 MiB; JSON never begins with 0
		return d.protobuf(w)
	}
	return d.json(io.MultiReader(bytes.NewReader(buffer[:w.end]), r))
}

// eventDecoder is the state of the reading of a watch.
type eventDecoder struct {
	decoder
	visit  func(*Event) error
	event  Event
	status StatusError
}

// beginEvent prepares the decoder for the next event, and returns the object of the previous one.
func (d *eventDecoder) beginEvent() (before Object) {
	d.event, d.status = Event{}, StatusError{}
	return d.begin()
}

// end passes the current event to visit.
func (d *eventDecoder) end() error {
	switch d.event.Type {
	case Error:
		status := d.status
		return &status
	case Bookmark:
	case Added, Modified, Deleted:
		if d.object.Name == "" {
			return Malformed("an event of an object without a name")
		}
		d.event.Object = &d.object
	default:
		return malformedf("an event of type %.64q", string(d.event.Type))
	}
	if d.event.ResourceVersion == "" {
		return Malformed("an event without a resourceVersion")
	}
	return d.visit(&d.event)
}

func (d *eventDecoder) protobuf(w *wire) error {
	for {
		if done, err := w.done(); done || err != nil {
			return err
		}
		for w.end-w.start < frameHead {
			if err := w.more(); err != nil {
				return err
			}
		}
		head := w.buf[w.start : w.start+frameHead]
		length := uint64(head[0])<<24 | uint64(head[1])<<16 | uint64(head[2])<<8 | uint64(head[3])
		w.advance(frameHead)
		frame := field{kind: protowire.BytesType, end: w.offset + length}
		before := d.beginEvent()
		err := w.message(frame, func(f field) error { return d.eventField(w, f, &before) })
		if err != nil {
			return err
		}
		if err := d.end(); err != nil {
			return err
		}
	}
}

func (d *eventDecoder) eventField(w *wire, f field, before *Object) error {
	switch f.number {
	case eventType:
		return w.string(f, maxString, (*string)(&d.event.Type), string(Modified))
	case eventObject:
		return w.message(f, func(f field) error {
			if f.number != extensionRaw {
				return nil
			}
			return d.envelope(w, f, before)
		})
	}
	return nil
}

// envelope reads the object of an event, which is a runtime.Unknown.
func (d *eventDecoder) envelope(w *wire, f field, before *Object) error {
	magic, err := w.head(f, len(protobufMagic))
	if err != nil {
		return err
	}
	if !bytes.Equal(magic, protobufMagic) {
		return Malformed("an object of an event that is not protobuf")
	}
	return w.message(f, func(f field) error {
		switch {
		case f.number == unknownContentEncoding && f.end > w.offset:
			return Malformed("encoded content")
		case f.number != unknownRaw:
			return nil
		}
		return w.message(f, func(f field) error {
			if d.event.Type == Error {
				return d.statusField(w, f)
			}
			if f.number != itemMetadata {
				return nil
			}
			return w.message(f, func(f field) error {
				if f.number == metaResourceVersion {
					return w.string(f, maxString, &d.event.ResourceVersion, "")
				}
				return d.meta(w, f, before)
			})
		})
	})
}

func (d *eventDecoder) statusField(w *wire, f field) error {
	switch f.number {
	case statusMessage:
		return w.beginning(f, &d.status.Message, "")
	case statusCode:
		d.status.Code = int(int32(f.value))
	}
	return nil
}

// jsonEvent holds the fields that are read of an event in JSON.
type jsonEvent struct {
	Type   EventType `json:"type"`
	Object struct {
		Metadata struct {
			jsonMeta
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Code    gojson.RawMessage `json:"code"`
		Message string            `json:"message"`
	} `json:"object"`
}

func (d *eventDecoder) json(r io.Reader) error {
	m := &meter{r: r}
	j := jsonReader{decoder: json.NewDecoderCaseSensitivePreserveInts(m), meter: m}
	for {
		m.left = maxObject
		var event jsonEvent
		err := j.decoder.Decode(&event)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return malformedJSON(err)
		}
		d.beginEvent()
		d.event.Type = event.Type
		d.event.ResourceVersion = event.Object.Metadata.ResourceVersion
		if event.Type == Error {
			_ = gojson.Unmarshal(event.Object.Code, &d.status.Code)
			d.status.Message = head(event.Object.Message)
		} else if err := d.jsonObject(&event.Object.Metadata.jsonMeta); err != nil {
			return err
		}
		if err := d.end(); err != nil {
			return err
		}
	}
}
