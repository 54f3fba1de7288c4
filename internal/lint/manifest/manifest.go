package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Object is one object of a file, with Lists taken apart.
type Object struct {
	*unstructured.Unstructured

	Document *Document
	path     []any // in the document: of an item of a List
}

// Position returns where a field of the object stands in its file: that of its
// name, or of a list's item. path has a string for a field and an int for an item.
// Where the field is not there, it is the position of what would have it; a field
// that comes by an alias stands where the anchor is.
func (o *Object) Position(path ...any) Position {
	return o.Document.position(append(o.path[:len(o.path):len(o.path)], path...))
}

// Comments returns the comments in the object's document, in their order.
func (o *Object) Comments() []Comment { return o.Document.comments() }

// Broken is a document that cannot be read.
type Broken struct {
	Position
	Err error
}

// ErrForeign is the error of a document that is no Kubernetes object.
var ErrForeign = errors.New("no Kubernetes object")

// Read returns the objects of a file, which kubectl create would send, and the
// documents that are none: those cost only themselves.
func Read(file []byte) (objects []*Object, broken []Broken) {
	var preface []chunk
	for _, c := range split(decoded(file)) {
		found, err := c.objects(preface)
		if preface = append(preface, c); err != nil || len(found) > 0 {
			preface = nil
		}
		objects = append(objects, found...)
		if err != nil {
			broken = append(broken, c.broken(err))
		}
	}
	return objects, broken
}

// inYAML finds the line in an error of the YAML parser.
var inYAML = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: line (\d+): `)

// broken returns an error where it happened: the parser's lines are the document's.
func (c chunk) broken(err error) Broken {
	b := Broken{c.start, err}
	if said := inYAML.FindStringSubmatch(err.Error()); said != nil {
		if line, _ := strconv.Atoi(said[1]); line > 0 {
			b.Position = c.start.in(line, 1)
		}
		b.Err = errors.New(err.Error()[len(said[0]):])
	}
	return b
}

// toJSON returns a document as JSON, as kubectl reads it; empty if it has
// nothing.
func toJSON(c chunk) ([]byte, error) {
	text := c.text
	if !c.json {
		var err error
		if text, err = yaml.YAMLToJSON(text); err != nil {
			return nil, err
		}
	}
	text = bytes.TrimSpace(text)
	if bytes.Equal(text, []byte("null")) {
		return nil, nil
	}
	return text, nil
}

func (c chunk) objects(preface []chunk) ([]*Object, error) {
	if c.err != nil {
		return nil, c.err
	}
	// The key cannot be there without these bytes, but for escapes.
	if !bytes.Contains(c.text, []byte("kind")) && !bytes.Contains(c.text, []byte(`\`)) {
		if text, err := toJSON(c); err != nil || len(text) == 0 {
			return nil, err
		}
		return nil, ErrForeign
	}
	text, err := toJSON(c)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if text[0] != '{' {
		return nil, ErrForeign
	}
	object, _, err := unstructured.UnstructuredJSONScheme.Decode(text, nil, nil)
	if runtime.IsMissingKind(err) {
		return nil, ErrForeign
	}
	if err != nil {
		return nil, err
	}
	return flatten(nil, object, &Document{chunk: c, preface: preface}, nil)
}

// flatten adds an object, or those of a List, however deep.
func flatten(to []*Object, object runtime.Object, in *Document, path []any) ([]*Object, error) {
	switch object := object.(type) {
	case *unstructured.UnstructuredList:
		var err error
		for i := range object.Items {
			if to, err = flatten(to, &object.Items[i], in, append(path[:len(path):len(path)], "items", i)); err != nil {
				return to, err
			}
		}
		return to, nil
	case *unstructured.Unstructured:
		if object.IsList() {
			list, err := object.ToList()
			if err != nil {
				return to, err
			}
			return flatten(to, list, in, path)
		}
		if object.GetAPIVersion() == "" || object.GetKind() == "" {
			return to, ErrForeign
		}
		return append(to, &Object{Unstructured: object, Document: in, path: path}), nil
	}
	return to, fmt.Errorf("a %T", object) // the scheme knows no other
}
