package derive

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Digest returns the digest of the content of an object with the ID. Digest returns "" if the content has no digest,
// because it has text that is not UTF-8, or a number that no 64-bit float is near. Digests of different versions can't
// be compared.
//
// content is from function Content. Without a secret, Digest also ignores the data and stringData of a Secret, because
// a short password can be found from its digest.
func (s Secret) Digest(id string, o Object, content map[string]any) string {
	text, ok := s.Canonical(o, content)
	if !ok {
		return ""
	}
	return s.DigestOf(id, text)
}

// DigestOf returns the digest of canonical content, for callers that create many objects with
// one content.
func (s Secret) DigestOf(id, canonical string) string {
	return s.digest(id, canonical)
}

// DigestOfKey returns the digest of canonical content for FromContent. This digest depends on the key, so the ID of an
// object can be computed from its annotations. In place of canonical content, the body of an object in another encoding
// can be used. DigestOfKey returns "" for a Secret without a secret, because its content leaves out the data.
func (s Secret) DigestOfKey(key string, o Object, canonical string) string {
	if s == (Secret{}) && o.isSecret() {
		return ""
	}
	return s.digest("content", key, canonical)
}

func (s Secret) digest(parts ...string) string {
	return "d" + strings.TrimPrefix(s.tag(), "v") + hex128(s.prf("digest", parts...))
}

// Comparable reports whether two digests have the same version. Only then do different digests mean different
// content.
func Comparable(a, b string) bool {
	version := func(digest string) string { before, _, _ := strings.Cut(digest, "-"); return before }
	return a != "" && b != "" && version(a) == version(b)
}

// leftOut are the fields of metadata that are no content.
var leftOut = []string{
	"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
}

// Canonical returns the text that is hashed: the content as JSON in the form of RFC 8785.
func (s Secret) Canonical(o Object, content map[string]any) (text string, ok bool) {
	content = Content(o, content)
	if s == (Secret{}) && o.isSecret() {
		delete(content, "data")
	}
	buffer, ok := appendCanonical(nil, content)
	return string(buffer), ok
}

// isSecret reports whether the object is a Secret of the core group.
func (o Object) isSecret() bool { return o.Group == "" && o.Kind == "Secret" }

// Content returns the content of an object. The content is the object's JSON without apiVersion, kind, the identity of
// the object, and all fields that servers and tools write. The stringData of a Secret is merged into data, as the
// server does it. Content keeps the values in status that an encoder of typed objects doesn't write by itself, because
// a server stores the status of types without the subresource status.
func Content(o Object, object map[string]any) map[string]any {
	content := maps.Clone(object)
	delete(content, "apiVersion")
	delete(content, "kind")
	if content["status"] = filled(content["status"]); content["status"] == nil {
		delete(content, "status")
	}
	if o.isSecret() {
		delete(content, "data")
		delete(content, "stringData")
		if data := SecretData(object); len(data) > 0 {
			content["data"] = data
		}
	}
	if metadata, isMap := content["metadata"].(map[string]any); isMap {
		if content["metadata"] = contentOf(metadata); content["metadata"] == nil {
			delete(content, "metadata")
		}
	}
	return content
}

// filled returns value without null, false, 0 and "", and without maps and lists that are empty after this. It returns
// nil if nothing is left.
func filled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		left := map[string]any{}
		for key, item := range v {
			if item = filled(item); item != nil {
				left[key] = item
			}
		}
		if len(left) > 0 {
			return left
		}
		return nil
	case []any:
		var left []any
		for _, item := range v {
			if item = filled(item); item != nil {
				left = append(left, item)
			}
		}
		if len(left) > 0 {
			return left
		}
		return nil
	case bool, string, int64, int, float64:
		if reflect.ValueOf(v).IsZero() || v == math.Copysign(0, -1) {
			return nil
		}
	}
	return value
}

// contentOf returns the content of metadata, or nil if there is none.
func contentOf(metadata map[string]any) any {
	metadata = maps.Clone(metadata)
	for _, field := range leftOut {
		delete(metadata, field)
	}
	for _, field := range []string{"labels", "annotations"} {
		entries, ok := metadata[field].(map[string]any)
		if !ok {
			continue
		}
		entries = maps.Clone(entries)
		maps.DeleteFunc(entries, func(key string, value any) bool { return value == nil || byTool(key) })
		if metadata[field] = any(entries); len(entries) == 0 {
			delete(metadata, field)
		}
	}
	maps.DeleteFunc(metadata, func(_ string, value any) bool { return value == nil })
	if len(metadata) == 0 {
		return nil
	}
	return metadata
}

// byTool reports whether a label or annotation is written by the plugin, by pkg/once or by kubectl.
func byTool(key string) bool {
	return strings.HasPrefix(key, "genname.dev/") ||
		key == "kubectl.kubernetes.io/last-applied-configuration" || key == "kubernetes.io/change-cause"
}

// SecretData returns the data of a Secret as the server stores it. SecretData removes line breaks from base64, and
// merges stringData in base64.
func SecretData(content map[string]any) map[string]any {
	data, _ := content["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range data {
		if text, ok := value.(string); ok {
			if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
				data[key] = base64.StdEncoding.EncodeToString(decoded)
			}
		}
	}
	texts, _ := content["stringData"].(map[string]any)
	for key, value := range texts {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	maps.DeleteFunc(data, func(_ string, value any) bool { return value == nil })
	return data
}

// appendCanonical appends a value in the form of RFC 8785, without the null members of maps. appendCanonical returns
// false for a value that has no digest.
func appendCanonical(to []byte, value any) ([]byte, bool) {
	switch v := value.(type) {
	case nil:
		return append(to, "null"...), true
	case bool:
		return strconv.AppendBool(to, v), true
	case string:
		return appendString(to, v)
	case []any:
		return appendList(to, v)
	case map[string]any:
		return appendMap(to, v)
	}
	return appendNumber(to, value)
}

func appendList(to []byte, list []any) (_ []byte, ok bool) {
	to = append(to, '[')
	for i, item := range list {
		if i > 0 {
			to = append(to, ',')
		}
		if to, ok = appendCanonical(to, item); !ok {
			return to, false
		}
	}
	return append(to, ']'), true
}

// appendMap appends the members of a map in the order of their names' UTF-16 code units.
func appendMap(to []byte, members map[string]any) (_ []byte, ok bool) {
	to = append(to, '{')
	first := true
	for _, name := range slices.SortedFunc(maps.Keys(members), byUTF16) {
		if members[name] == nil {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		if to, ok = appendString(to, name); !ok {
			return to, false
		}
		if to, ok = appendCanonical(append(to, ':'), members[name]); !ok {
			return to, false
		}
	}
	return append(to, '}'), true
}

// byUTF16 compares two texts by their UTF-16 code units. The order differs from that of bytes for characters above
// U+FFFF.
func byUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// escapes are the characters with a short escape sequence.
var escapes = map[byte]string{
	'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`, '"': `\"`, '\\': `\\`,
}

// appendString appends a text. appendString doesn't use encoding/json, which always escapes U+2028 and U+2029.
func appendString(to []byte, text string) ([]byte, bool) {
	to = append(to, '"')
	for i := range len(text) {
		c := text[i]
		switch escape := escapes[c]; {
		case escape != "":
			to = append(to, escape...)
		case c < 0x20:
			to = append(to, `\u00`...)
			to = append(to, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			to = append(to, c)
		}
	}
	return append(to, '"'), utf8.ValidString(text)
}

// appendNumber appends a number as ECMAScript writes a 64-bit float. encoding/json writes floats in the same way,
// except for -0.
func appendNumber(to []byte, value any) ([]byte, bool) {
	var n float64
	switch v := value.(type) {
	case int64:
		n = float64(v)
	case int:
		n = float64(v)
	case float64:
		n = v
	default:
		return to, false
	}
	if n == 0 {
		n = 0
	}
	text, err := json.Marshal(n)
	return append(to, text...), err == nil
}
