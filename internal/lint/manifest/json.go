package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

func fieldsOfJSON(c chunk) field {
	j := jsonFields{chunk: c, decoder: json.NewDecoder(bytes.NewReader(c.text)), reached: c.start}
	j.decoder.UseNumber()
	root, err := j.value()
	if err != nil {
		return field{Position: c.start}
	}
	return root
}

// jsonFields reads the positions of all fields of a document, without their values. internal/census/decode shares no
// code with it, because that package reads a few values of a stream without positions.
type jsonFields struct {
	chunk   chunk
	decoder *json.Decoder

	offset  int // offset of the last token
	reached Position
}

func (j *jsonFields) next() (json.Token, Position, error) {
	begin := int(j.decoder.InputOffset())
	token, err := j.decoder.Token()
	if err != nil {
		return nil, Position{}, err
	}
	text := j.chunk.text[begin:]
	begin += len(text) - len(bytes.TrimLeft(text, " \t\r\n,:"))
	j.reached = j.reached.after(j.chunk.text[j.offset:begin])
	j.offset = begin
	return token, j.reached, nil
}

func (j *jsonFields) value() (field, error) {
	token, at, err := j.next()
	if err != nil {
		return field{}, err
	}
	f := field{Position: at}
	switch token {
	case json.Delim('{'):
		for j.decoder.More() && err == nil {
			err = j.member(&f)
		}
	case json.Delim('['):
		for j.decoder.More() && err == nil {
			var item field
			item, err = j.value()
			f.items = append(f.items, item)
		}
	default:
		return f, nil
	}
	if err == nil {
		_, _, err = j.next() // the closing bracket
	}
	return f, err
}

func (j *jsonFields) member(to *field) error {
	name, at, err := j.next()
	if err != nil {
		return err
	}
	f, err := j.value()
	f.name, f.Position = fmt.Sprint(name), at
	to.below = append(to.below, f)
	return err
}
