package census

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

const (
	// maxJSONToken bounds the memory that one token of JSON may take. etcd
	// stores no object of more than 1.5 MiB.
	maxJSONToken = 4 << 20
	// maxJSONDepth bounds the nesting of what is passed over.
	maxJSONDepth = 1000
)

// jsonReader reads JSON token by token.
type jsonReader struct {
	*json.Decoder
	meter *meter
}

// meter bounds what may be read, and so must be buffered, for one token.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, malformedf("a JSON token of more than %d bytes", maxJSONToken)
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// decodeJSON reads a list in JSON.
func (d *decoder) decodeJSON(r io.Reader) error {
	m := &meter{r: r}
	j := jsonReader{json.NewDecoder(m), m}
	j.UseNumber()
	complete := false
	err := j.object(func(key string) error {
		switch key {
		case "kind":
			return d.jsonKind(j)
		case "metadata":
			return d.jsonListMeta(j)
		case "items":
			complete = true
			return j.array(func() error { return d.jsonItem(j) })
		}
		return j.skip()
	})
	if err == nil && !complete {
		return malformed("no items")
	}
	return err
}

func (d *decoder) jsonKind(j jsonReader) error {
	var kind string
	err := j.string(&kind)
	if err == nil && !strings.HasSuffix(kind, "List") {
		err = malformedf("a %.64q", kind)
	}
	return err
}

func (d *decoder) jsonListMeta(j jsonReader) error {
	return j.object(func(key string) error {
		switch key {
		case "resourceVersion":
			return j.string(&d.page.resourceVersion)
		case "continue":
			return j.string(&d.page.next)
		case "remainingItemCount":
			return j.count(&d.page.remaining)
		}
		return j.skip()
	})
}

func (d *decoder) jsonItem(j jsonReader) error {
	clear(d.object.labels)
	d.object = object{labels: d.object.labels}
	err := j.object(func(key string) error {
		if key == "metadata" {
			return d.jsonMeta(j)
		}
		return j.skip()
	})
	if err != nil {
		return err
	}
	return d.found()
}

func (d *decoder) jsonMeta(j jsonReader) error {
	return j.object(func(key string) error {
		switch key {
		case "name":
			return j.string(&d.object.name)
		case "generateName":
			return j.string(&d.object.generateName)
		case "namespace":
			return j.string(&d.object.namespace)
		case "creationTimestamp":
			return j.time(&d.object.created)
		case "labels":
			return d.jsonLabels(j)
		}
		return j.skip()
	})
}

func (d *decoder) jsonLabels(j jsonReader) error {
	return j.object(func(key string) error {
		if !d.labels[key] {
			return j.skip()
		}
		var value string
		err := j.string(&value)
		d.setLabel(key, value)
		return err
	})
}

// object calls visit for every key of an object, to read the value. null is an
// object without keys.
func (j jsonReader) object(visit func(key string) error) error {
	token, err := j.token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('{') {
		return malformedf("%T where an object was expected", token)
	}
	for {
		token, err := j.token()
		if err != nil || token == json.Delim('}') {
			return err
		}
		key, _ := token.(string) // the decoder has made sure of it
		if err := visit(key); err != nil {
			return err
		}
	}
}

// array calls visit before every element of an array, to read it. null is an
// empty array.
func (j jsonReader) array(visit func() error) error {
	token, err := j.token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return malformedf("%T where an array was expected", token)
	}
	for {
		j.meter.left = maxJSONToken
		if !j.More() {
			_, err := j.token()
			return err
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

func (j jsonReader) string(s *string) error {
	token, err := j.token()
	if err != nil || token == nil {
		return err
	}
	text, ok := token.(string)
	if !ok {
		return malformedf("%T where text was expected", token)
	}
	if len(text) > maxToken {
		return malformedf("a text of %d bytes", len(text))
	}
	*s = text
	return nil
}

func (j jsonReader) count(n *int64) error {
	token, err := j.token()
	if err != nil {
		return err
	}
	if number, ok := token.(json.Number); ok {
		*n, _ = number.Int64() // 0, not known, if it is no such number
		*n = max(0, *n)
	}
	return nil
}

func (j jsonReader) time(seconds *int64) error {
	var text string
	if err := j.string(&text); err != nil || text == "" {
		return err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return malformedf("the time %.64q", text)
	}
	*seconds = t.Unix()
	return nil
}

// skip passes over one value.
func (j jsonReader) skip() error {
	for depth := 0; ; {
		token, err := j.token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		if depth > maxJSONDepth {
			return malformedf("JSON more than %d levels deep", maxJSONDepth)
		}
	}
}

// token reads the next token. The end of the stream is always unexpected: who
// has read the list does not ask for more.
func (j jsonReader) token() (json.Token, error) {
	j.meter.left = maxJSONToken
	token, err := j.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case errors.As(err, &syntax):
		return nil, malformed(err.Error())
	}
	return token, err
}
