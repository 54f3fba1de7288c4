package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// watchEvent holds the fields of an event that the tests compare.
type watchEvent struct {
	Type         EventType
	Version      string
	Namespace    string
	Name         string
	GenerateName string
	Created      int64
	Manager      string
}

// watched reads a watch and returns its events.
func watched(r io.Reader) ([]watchEvent, error) {
	var all []watchEvent
	err := Watch(r, func(e *Event) error {
		t := watchEvent{Type: e.Type, Version: e.ResourceVersion}
		if o := e.Object; o != nil {
			t.Namespace, t.Name, t.GenerateName, t.Created, t.Manager = o.Namespace, o.Name, o.GenerateName, o.Created, o.Creator.Manager
		}
		all = append(all, t)
		return nil
	})
	return all, err
}

// frame encodes an event as a server does in protobuf: a length, and a WatchEvent whose object is a
// runtime.Unknown after a magic number.
func frame(t *testing.T, eventType, kind string, object interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	body, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	event := metav1.WatchEvent{Type: eventType, Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), body...)}}
	whole, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(whole))), whole...)
}

// partial returns the metadata of an object.
func partial(version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "run-bbbbb", Namespace: "prod", GenerateName: "run-", ResourceVersion: version,
		CreationTimestamp: metav1.Unix(1_700_000_000, 0),
		ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: "me"}},
	}}
}

var wantEvents = []watchEvent{
	{Added, "11", "prod", "run-bbbbb", "run-", 1_700_000_000, "me"},
	{Modified, "12", "prod", "run-bbbbb", "run-", 1_700_000_000, "me"},
	{Type: Bookmark, Version: "13"},
	{Deleted, "14", "prod", "run-bbbbb", "run-", 1_700_000_000, "me"},
}

func TestWatchInProtobuf(t *testing.T) {
	bookmark := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "13"}}
	const kind = "PartialObjectMetadata"
	stream := bytes.Join([][]byte{
		frame(t, "ADDED", kind, partial("11")), frame(t, "MODIFIED", kind, partial("12")),
		frame(t, "BOOKMARK", kind, bookmark), frame(t, "DELETED", kind, partial("14")),
	}, nil)
	for _, r := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream))} {
		got, err := watched(r)
		if diff := cmp.Diff(wantEvents, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	for cut := 1; cut < len(stream); cut += 7 { // only a cut between two events is a regular end
		got, err := watched(bytes.NewReader(stream[:cut]))
		if err == nil && len(got) == 0 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %d events, %v", cut, len(got), err)
		}
	}
	status := frame(t, "ERROR", "Status", &metav1.Status{Code: 410, Message: "too old resource version"})
	got, err := watched(bytes.NewReader(append(frame(t, "ADDED", kind, partial("11")), status...)))
	if len(got) != 1 || !Gone(err) || !strings.Contains(err.Error(), "too old") {
		t.Errorf("%d events and %v, want 1 and a 410 that says too old", len(got), err)
	}
}

func TestWatchInJSON(t *testing.T) {
	const meta = `"namespace":"prod","name":"run-bbbbb","generateName":"run-","creationTimestamp":"2023-11-14T22:13:20Z",` +
		`"managedFields":[{"manager":"me"}]`
	stream := `{"type":"ADDED","object":{"kind":"X","metadata":{` + meta + `,"resourceVersion":"11"}}}` + "\n" +
		`{"type":"MODIFIED","object":{"metadata":{` + meta + `,"resourceVersion":"12"}}}` + "\n" +
		`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"13"}}}` + "\n" +
		`{"type":"DELETED","object":{"metadata":{` + meta + `,"resourceVersion":"14"}}}` + "\n"
	got, err := watched(strings.NewReader(stream))
	if diff := cmp.Diff(wantEvents, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := watched(strings.NewReader(stream[:len(stream)-9])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut: %v", err)
	}
	_, err = watched(strings.NewReader(`{"type":"ERROR","object":{"kind":"Status","code":410,"message":"gone"}}`))
	if !Gone(err) {
		t.Errorf("%v, want a 410", err)
	}
}

func TestWatchOfNonsense(t *testing.T) {
	for _, stream := range []string{
		`{"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}}`,
		`{"type":"ADDED","object":{"metadata":{"name":"x"}}}`,
		`{"type":"SUNG","object":{"metadata":{"name":"x","resourceVersion":"1"}}}`,
		`[1]`, "\x00\x00\x00\x02xx",
	} {
		var bad Malformed
		if got, err := watched(strings.NewReader(stream)); !errors.As(err, &bad) || len(got) > 0 {
			t.Errorf("%q: %v, %v, want no event and Malformed", stream, got, err)
		}
	}
	if got, err := watched(strings.NewReader("")); err != nil || len(got) > 0 {
		t.Errorf("an empty watch: %v, %v", got, err)
	}
}

// For any bytes, Watch returns, and each event has a type and a resourceVersion.
func FuzzWatch(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"1"}}}`))
	f.Add([]byte("\x00\x00\x00\x02xx"))
	f.Add([]byte("\x00\x00\x00\x0c\x0a\x05ADDED\x12\x03\x0a\x01x"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		got, _ := watched(bytes.NewReader(stream))
		for _, e := range got {
			if e.Version == "" || e.Type == "" || e.Type != Bookmark && e.Name == "" {
				t.Errorf("%+v, want a type, a version and a name", e)
			}
		}
	})
}
