package decode

import (
	gojson "encoding/json"
	"errors"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
)

// jsonReader reads JSON value by value, and limits the bytes that are read for one value.
type jsonReader struct {
	json.Decoder
	r    io.Reader
	left int
	err  error // error of r, or of the limit
}

func newJSONReader(r io.Reader) *jsonReader {
	j := &jsonReader{r: r, left: maxObject}
	j.Decoder = json.NewDecoderCaseSensitivePreserveInts(j)
	return j
}

// Read implements io.Reader for the decoder.
func (j *jsonReader) Read(p []byte) (n int, err error) {
	if j.left == 0 {
		j.err = malformedf("a JSON value of more than %d bytes", maxObject)
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
	j.left = maxObject
	return j.failed(j.Decode(into))
}

// token reads a delimiter, a key or a simple value.
func (j *jsonReader) token() (gojson.Token, error) {
	j.left = maxObject
	token, err := j.Token()
	return token, j.failed(err)
}

// failed returns the error of the stream, or that its content is wrong.
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

// jsonList reads a list. It skips unknown fields, and treats null as missing.
func (d *decoder) jsonList() error {
	j, complete := newJSONReader(d.r), false
	if token, err := j.token(); err != nil || token != gojson.Delim('{') {
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
		case key == gojson.Delim('}') && !complete:
			return Malformed("no items")
		case key == gojson.Delim('}'):
			return nil
		case key == "items":
			complete = true
			err = d.jsonItems(j)
		default:
			err = d.jsonField(j, key)
		}
		if err != nil {
			return err
		}
	}
}

// jsonField reads a field of the list.
func (d *decoder) jsonField(j *jsonReader, key gojson.Token) error {
	switch key {
	case "kind":
		err := j.value(&d.page.Kind)
		if err == nil && !strings.HasSuffix(d.page.Kind, "List") {
			err = malformedf("a %.64q", d.page.Kind)
		}
		return err
	case "metadata":
		var meta struct {
			metav1.ListMeta
			RemainingItemCount gojson.RawMessage `json:"remainingItemCount"` // 0 if it is no number
		}
		if err := j.value(&meta); err != nil {
			return err
		}
		_ = gojson.Unmarshal(meta.RemainingItemCount, &meta.ListMeta.RemainingItemCount)
		return d.listMeta(&meta.ListMeta)
	}
	var ignored gojson.RawMessage
	return j.value(&ignored)
}

func (d *decoder) jsonItems(j *jsonReader) error {
	switch begin, err := j.token(); {
	case err != nil || begin == nil:
		return err
	case begin != gojson.Delim('['):
		return malformedf("%v instead of items", begin)
	}
	var raw gojson.RawMessage
	for j.left = maxObject; j.More(); j.left = maxObject {
		raw = raw[:0]
		if err := d.jsonItem(j, &raw); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

func (d *decoder) jsonItem(j *jsonReader, raw *gojson.RawMessage) error {
	var item struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	var err error
	if d.asked.Whole {
		if err = j.value(raw); err == nil {
			err = j.failed(json.UnmarshalCaseSensitivePreserveInts(*raw, &item))
		}
	} else {
		err = j.value(&item)
	}
	if err != nil {
		return err
	}
	d.read(&item.Metadata)
	d.object.Raw = *raw
	return d.found()
}
