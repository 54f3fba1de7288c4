package intercept

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// members are the members of a JSON object, in their order. Each value is a slice of the input. So numbers keep all
// digits, unknown fields stay, and a large object isn't copied.
type members []member

type member struct {
	key   string
	value jsontext.Value
}

// membersOf returns the members of a valid JSON object, or nil for every other value.
func membersOf(object jsontext.Value) (all members) {
	if object.Kind() != jsontext.KindBeginObject {
		return nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(object))
	for {
		token, err := decoder.ReadToken()
		switch {
		case err != nil || token.Kind() == jsontext.KindEndObject:
			return all
		case token.Kind() != jsontext.KindString:
			continue
		}
		key := token.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return all
		}
		end := decoder.InputOffset()
		all = append(all, member{key, object[end-int64(len(value)) : end : end]}) // value is of the decoder
	}
}

// get returns nil if there is no such member.
func (m members) get(key string) jsontext.Value {
	for _, each := range m {
		if each.key == key {
			return each.value
		}
	}
	return nil
}

// in returns the members of the object that is the value of key. If the value isn't an object, in returns nil.
func (m members) in(key string) members { return membersOf(m.get(key)) }

// set returns a copy of the members in which key has this value.
func (m members) set(key string, value jsontext.Value) members {
	m = slices.Clone(m)
	for i := range m {
		if m[i].key == key {
			m[i].value = value
			return m
		}
	}
	return append(m, member{key, value})
}

func (m members) encode() jsontext.Value {
	encoded := []byte{'{'}
	for i, each := range m {
		if i > 0 {
			encoded = append(encoded, ',')
		}
		encoded = append(append(append(encoded, quoted(each.key)...), ':'), each.value...)
	}
	return append(encoded, '}')
}

func quoted(s string) jsontext.Value {
	encoded, _ := jsontext.AppendQuote(nil, s) // an error is about invalid UTF-8, which is replaced
	return encoded
}

// text stores a JSON string in into. null and a missing value store nothing. For any other value, text returns false.
func text(value jsontext.Value, into *string) bool {
	if value == nil || value.Kind() == jsontext.KindNull {
		return true
	}
	decoded, err := jsontext.AppendUnquote(nil, value)
	*into = string(decoded)
	return err == nil
}
