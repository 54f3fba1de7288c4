package decode

import (
	gojson "encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/json"
)

// jsonListMeta holds the fields that are read of a list's metadata.
type jsonListMeta struct {
	ResourceVersion    string            `json:"resourceVersion"`
	Continue           string            `json:"continue"`
	RemainingItemCount gojson.RawMessage `json:"remainingItemCount"`
}

// jsonItem holds the fields that are read of an object.
type jsonItem struct {
	Metadata jsonMeta `json:"metadata"`
}

type jsonMeta struct {
	Name              string `json:"name"`
	GenerateName      string `json:"generateName"`
	Namespace         string `json:"namespace"`
	CreationTimestamp string `json:"creationTimestamp"`
	UID               string `json:"uid"`
	DeletionTimestamp string `json:"deletionTimestamp"`
	// These are decoded only if asked selects a part of them.
	Labels          gojson.RawMessage `json:"labels"`
	Annotations     gojson.RawMessage `json:"annotations"`
	OwnerReferences gojson.RawMessage `json:"ownerReferences"`
	ManagedFields   gojson.RawMessage `json:"managedFields"`
}

// again returns empty metadata that reuses the memory of m.
func (m *jsonMeta) again() jsonMeta {
	return jsonMeta{
		Labels: m.Labels[:0], Annotations: m.Annotations[:0],
		OwnerReferences: m.OwnerReferences[:0], ManagedFields: m.ManagedFields[:0],
	}
}

// decodeJSON reads a list in JSON. It skips unknown fields, and treats null as missing. If a key
// repeats, the last one counts.
func (d *decoder) decodeJSON(r io.Reader) error {
	m := &meter{r: r}
	j := jsonReader{decoder: json.NewDecoderCaseSensitivePreserveInts(m), meter: m}
	var meta jsonListMeta
	complete := false
	err := j.object(func(key string) error {
		switch key {
		case "kind":
			return d.listKind(j)
		case "metadata":
			return d.jsonListMeta(j, &meta)
		case "items":
			complete = true
			return d.jsonItems(j)
		}
		var ignored gojson.RawMessage
		return j.value(&ignored)
	})
	if err == nil && !complete {
		return Malformed("no items")
	}
	return err
}

func (d *decoder) jsonListMeta(j jsonReader, meta *jsonListMeta) error {
	if err := j.value(meta); err != nil {
		return err
	}
	d.page.ResourceVersion, d.page.Continue = meta.ResourceVersion, meta.Continue
	remaining, _ := strconv.ParseInt(string(meta.RemainingItemCount), 10, 64)
	d.page.Remaining = max(0, remaining) // 0, unknown, if it is not a positive number
	return bounded(meta.ResourceVersion, meta.Continue)
}

func (d *decoder) jsonItems(j jsonReader) error {
	var item jsonItem
	var raw gojson.RawMessage
	return j.array(func() error {
		item.Metadata = item.Metadata.again()
		if d.asked.Whole {
			raw = raw[:0]
			if err := j.value(&raw); err != nil {
				return err
			}
			if err := json.UnmarshalCaseSensitivePreserveInts(raw, &item); err != nil {
				return malformedJSON(err)
			}
		} else if err := j.value(&item); err != nil {
			return err
		}
		if err := d.jsonObject(&item.Metadata); err != nil {
			return err
		}
		d.object.Raw = raw
		return d.found()
	})
}

// jsonObject makes the object from meta the current one.
func (d *decoder) jsonObject(meta *jsonMeta) error {
	d.begin()
	if err := bounded(meta.Name, meta.GenerateName, meta.Namespace); err != nil {
		return err
	}
	d.object.Name, d.object.GenerateName, d.object.Namespace = meta.Name, meta.GenerateName, meta.Namespace
	if meta.CreationTimestamp != "" {
		created, err := time.Parse(time.RFC3339, meta.CreationTimestamp)
		if err != nil {
			return malformedf("the time %.64q", meta.CreationTimestamp)
		}
		d.object.Created = created.Unix()
	}
	if len(d.asked.Labels) > 0 && len(meta.Labels) > 0 {
		if err := d.jsonLabels(meta.Labels); err != nil {
			return err
		}
	}
	if d.asked.Identity {
		if err := d.jsonIdentity(meta); err != nil {
			return err
		}
	}
	if d.whenCreator() == Never {
		return nil
	}
	d.object.Origin = nil // the raw fields have been read as a whole already
	return d.jsonCreator(meta)
}

// jsonCreator reads the creator of the object.
func (d *decoder) jsonCreator(meta *jsonMeta) error {
	var annotations map[string]gojson.RawMessage
	var owners []struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		Controller bool   `json:"controller"`
	}
	var managed []jsonManaged
	for _, part := range []struct {
		raw []byte
		to  any
	}{{meta.Annotations, &annotations}, {meta.OwnerReferences, &owners}, {meta.ManagedFields, &managed}} {
		if len(part.raw) == 0 {
			continue
		}
		if err := json.UnmarshalCaseSensitivePreserveInts(part.raw, part.to); err != nil {
			return malformedJSON(err)
		}
	}
	_, d.object.HasCreationID = annotations[creationID]
	for _, o := range owners {
		if o.Controller {
			d.controlledBy(Creator{APIVersion: head(o.APIVersion), Kind: head(o.Kind), Name: head(o.Name)})
		}
	}
	if d.object.Creator.Kind != "" {
		return nil
	}
	for _, m := range managed {
		entry, err := m.entry()
		if err != nil {
			return err
		}
		d.managedBy(entry)
	}
	return nil
}

// jsonManaged holds the fields that are read of an entry of managedFields.
type jsonManaged struct {
	Manager     string            `json:"manager"`
	Time        string            `json:"time"`
	Subresource string            `json:"subresource"`
	FieldsV1    gojson.RawMessage `json:"fieldsV1"`
}

func (m *jsonManaged) entry() (managedEntry, error) {
	entry := managedEntry{manager: head(m.Manager), subresource: m.Subresource != ""}
	if m.Time != "" {
		at, err := time.Parse(time.RFC3339, m.Time)
		if err != nil {
			return entry, malformedf("the time %.64q", m.Time)
		}
		entry.time = at.Unix()
	}
	var scan fieldsScan
	scan.add(m.FieldsV1, true)
	entry.owner = scan.owns
	return entry, nil
}

// head truncates text to maxCreator bytes.
func head(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxCreator)], "")
}

func (d *decoder) jsonLabels(raw []byte) error {
	var all map[string]string
	if err := json.UnmarshalCaseSensitivePreserveInts(raw, &all); err != nil {
		return malformedJSON(err)
	}
	for key := range d.asked.Labels {
		if value, ok := all[key]; ok {
			d.setLabel(key, value)
		}
	}
	return nil
}

// bounded refuses texts that are longer than any text of a server.
func bounded(texts ...string) error {
	for _, text := range texts {
		if len(text) > maxToken {
			return malformedf("a text of %d bytes", len(text))
		}
	}
	return nil
}

// jsonReader reads JSON value by value. The end of the stream is always unexpected, because a reader
// of a complete list stops before it.
type jsonReader struct {
	decoder json.Decoder
	meter   *meter
}

// meter limits the bytes that are read, and therefore buffered, for one value.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, malformedf("a JSON value of more than %d bytes", maxObject)
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// listKind reads the kind, which must end in List.
func (d *decoder) listKind(j jsonReader) error {
	err := j.value(&d.page.Kind)
	if err == nil && !strings.HasSuffix(d.page.Kind, "List") {
		err = malformedf("a %.64q", d.page.Kind)
	}
	return err
}

// object calls visit for every key of an object. visit must read the value.
func (j jsonReader) object(visit func(key string) error) error {
	if some, err := j.open('{', "an object"); !some {
		return err
	}
	for {
		token, err := j.token()
		if err != nil || token == gojson.Delim('}') {
			return err
		}
		key, _ := token.(string) // the decoder accepts only strings as keys
		if err := visit(key); err != nil {
			return err
		}
	}
}

// array calls visit before every element of an array. visit must read the element.
func (j jsonReader) array(visit func() error) error {
	if some, err := j.open('[', "an array"); !some {
		return err
	}
	for j.more() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// open reads the beginning of an object or array, and reports whether there is one. null is none.
func (j jsonReader) open(delim gojson.Delim, expected string) (bool, error) {
	token, err := j.token()
	if err != nil || token == nil {
		return false, err
	}
	if token != delim {
		return false, malformedf("%T where %s was expected", token, expected)
	}
	return true, nil
}

// more reports whether another element of an array follows.
func (j jsonReader) more() bool {
	j.meter.left = maxObject
	return j.decoder.More()
}

// value reads one value into v.
func (j jsonReader) value(v any) error {
	j.meter.left = maxObject
	return malformedJSON(j.decoder.Decode(v))
}

// token reads a delimiter, a key or a simple value.
func (j jsonReader) token() (gojson.Token, error) {
	j.meter.left = maxObject
	token, err := j.decoder.Token()
	return token, malformedJSON(err)
}

// malformedJSON converts errors about the content to errors of this package.
func malformedJSON(err error) error {
	var mismatch *gojson.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case errors.As(err, &mismatch):
		expected := "an object"
		if mismatch.Type.Kind() == reflect.String {
			expected = "text"
		}
		return malformedf("a JSON %s where %s was expected", mismatch.Value, expected)
	}
	if syntax, _ := json.SyntaxErrorOffset(err); syntax {
		return Malformed(err.Error())
	}
	return err
}
