package decode

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jsonMeta has the fields of an ObjectMeta that the census needs. The generated type has more fields, and its methods
// parse times and FieldsV1 a second time.
type jsonMeta struct {
	Name              string         `json:"name"`
	GenerateName      string         `json:"generateName"`
	Namespace         string         `json:"namespace"`
	UID               string         `json:"uid"`
	ResourceVersion   string         `json:"resourceVersion"`
	CreationTimestamp time.Time      `json:"creationTimestamp"`
	DeletionTimestamp *time.Time     `json:"deletionTimestamp"`
	GracePeriod       jsontext.Value `json:"deletionGracePeriodSeconds"` // 0 if it is no number
	Finalizers        jsontext.Value `json:"finalizers"`                 // none if they aren't strings
	Labels            jsontext.Value `json:"labels"`
	Annotations       struct {
		CreationID *string `json:"genname.dev/creation-id"`
	} `json:"annotations"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	ManagedFields   []struct {
		Manager     string         `json:"manager"`
		Subresource string         `json:"subresource"`
		Time        time.Time      `json:"time"`
		FieldsV1    jsontext.Value `json:"fieldsV1"`
	} `json:"managedFields"`
}

// jsonReader reads JSON value by value, and limits the bytes that are read for one value.
type jsonReader struct {
	*jsontext.Decoder
	r    io.Reader
	left int
	err  error // error of r, or of the limit
}

func newJSONReader(r io.Reader) *jsonReader {
	j := &jsonReader{r: r, left: MaxObject}
	j.Decoder = jsontext.NewDecoder(j, lenient)
	return j
}

// lenient accepts duplicate names and invalid UTF-8, as encoding/json does.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Read implements io.Reader for the decoder.
func (j *jsonReader) Read(p []byte) (n int, err error) {
	if j.left == 0 {
		j.err = malformedf("a JSON value of more than %d bytes", MaxObject)
		return 0, j.err
	}
	n, err = j.r.Read(p[:min(len(p), j.left)])
	j.left -= n
	if err != nil {
		j.err = err
	}
	return n, err
}

// value reads one value.
func (j *jsonReader) value(into any) error {
	j.left = MaxObject
	return j.failed(json.UnmarshalDecode(j.Decoder, into))
}

// token reads a delimiter, a key or a simple value.
func (j *jsonReader) token() (jsontext.Token, error) {
	j.left = MaxObject
	token, err := j.ReadToken()
	return token, j.failed(err)
}

// failed returns the error of the stream, or otherwise an error about its content.
func (j *jsonReader) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	case j.err != nil && !errors.Is(j.err, io.EOF):
		return j.err
	}
	return Malformed(err.Error())
}

// jsonList reads a list. jsonList skips unknown fields, and treats null as missing.
func (d *decoder) jsonList() error {
	j, complete := newJSONReader(d.r), false
	if token, err := j.token(); err != nil || token.Kind() != jsontext.KindBeginObject {
		if err == nil {
			err = malformedf("%v instead of an object", token)
		}
		return err
	}
	for {
		key, err := j.token()
		switch {
		case err != nil:
			return err
		case key.Kind() == jsontext.KindEndObject && !complete:
			return Malformed("no items")
		case key.Kind() == jsontext.KindEndObject:
			return nil
		case key.String() == "items":
			complete = true
			err = d.jsonItems(j)
		default:
			err = d.jsonField(j, key.String())
		}
		if err != nil {
			return err
		}
	}
}

// jsonField reads a field of the list.
func (d *decoder) jsonField(j *jsonReader, key string) error {
	switch key {
	case "kind":
		err := j.value(&d.page.Kind)
		if err == nil && !strings.HasSuffix(d.page.Kind, "List") {
			err = malformedf("a %.64q", d.page.Kind)
		}
		return err
	case "metadata":
		var meta struct {
			ResourceVersion    string         `json:"resourceVersion"`
			Continue           string         `json:"continue"`
			RemainingItemCount jsontext.Value `json:"remainingItemCount"` // 0 if it is no number
		}
		if err := j.value(&meta); err != nil {
			return err
		}
		list := metav1.ListMeta{ResourceVersion: meta.ResourceVersion, Continue: meta.Continue}
		_ = json.Unmarshal(meta.RemainingItemCount, &list.RemainingItemCount)
		return d.listMeta(&list)
	}
	j.left = MaxObject
	return j.failed(j.SkipValue())
}

func (d *decoder) jsonItems(j *jsonReader) error {
	switch begin, err := j.token(); {
	case err != nil || begin.Kind() == jsontext.KindNull:
		return err
	case begin.Kind() != jsontext.KindBeginArray:
		return malformedf("%v instead of items", begin)
	}
	for j.left = MaxObject; j.PeekKind() != jsontext.KindEndArray; j.left = MaxObject {
		if err := d.jsonItem(j); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

func (d *decoder) jsonItem(j *jsonReader) error {
	unmarshal := j.value
	var raw jsontext.Value
	if d.options.Raw {
		var err error
		if raw, err = j.ReadValue(); err != nil {
			return j.failed(err)
		}
		unmarshal = fromMemory(raw)
	}
	if err := d.jsonObject(unmarshal); err != nil {
		return err
	}
	d.object.Raw = raw
	return d.found()
}

// fromMemory returns a function that decodes a value that is already in memory.
func fromMemory(value jsontext.Value) func(into any) error {
	return func(into any) error {
		if err := json.Unmarshal(value, into, lenient); err != nil {
			return Malformed(err.Error())
		}
		return nil
	}
}

// jsonObject reads an object into d.object.
func (d *decoder) jsonObject(unmarshal func(into any) error) error {
	var object struct {
		Metadata jsonMeta `json:"metadata"`
	}
	if err := unmarshal(&object); err != nil {
		return err
	}
	d.begin()
	m, o := &object.Metadata, &d.object
	o.Namespace, o.Name, o.GenerateName = m.Namespace, m.Name, m.GenerateName
	if err := d.jsonLabels(m.Labels); err != nil {
		return err
	}
	o.UID, o.ResourceVersion = m.UID, m.ResourceVersion
	if o.Deleting = m.DeletionTimestamp != nil; o.Deleting {
		var grace int64
		_ = json.Unmarshal(m.GracePeriod, &grace)
		o.Deleted = unix(*m.DeletionTimestamp) - grace
	}
	var finalizers []string
	_ = json.Unmarshal(m.Finalizers, &finalizers)
	for _, finalizer := range finalizers {
		o.Finalizers = append(o.Finalizers, head(finalizer))
	}
	if id := m.Annotations.CreationID; id != nil {
		o.CreationID, o.HasCreationID = head(*id), true
	}
	o.Created = unix(m.CreationTimestamp)
	for i := range m.OwnerReferences {
		d.owner(&m.OwnerReferences[i])
	}
	for _, entry := range m.ManagedFields {
		d.managed = append(d.managed, managed{entry.Manager, entry.Subresource, unix(entry.Time), entry.FieldsV1})
	}
	return nil
}

func (d *decoder) jsonLabels(value jsontext.Value) error {
	if value == nil || d.options.NoLabels && !d.options.Job {
		return nil
	}
	var labels map[string]string
	if err := fromMemory(value)(&labels); err != nil {
		return err
	}
	if d.options.Job {
		for key, value := range labels {
			d.object.Job.Label([]byte(key), []byte(value))
		}
	}
	if !d.options.NoLabels {
		d.object.Labels = labels
	}
	return nil
}

// unix returns a time as Unix seconds, or 0.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
