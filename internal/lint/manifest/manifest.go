// Package manifest reads manifests as kubectl create does, and finds the position of each field. The package uses
// kubectl's decoders (k8s.io/apimachinery, sigs.k8s.io/yaml: YAML 1.1). If a caller needs lines, columns or comments,
// a second parser finds them. The package opens no file, and doesn't evaluate the objects.
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

	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

// Object is one object of a file, with Lists taken apart.
type Object struct {
	*unstructured.Unstructured
	Place

	// Embedded is true of an object that is part of another one.
	Embedded bool
}

// Place is the place of an object in the input.
type Place struct {
	Document *Document
	path     []any // path in the document, for an item of a List
}

// Position returns the position of a field's name, or of a list's item, in the object's file. path
// has a string for a field and an int for an item. If the field is missing, the position is its
// parent object's. A field from an alias has the position of the anchor.
func (p Place) Position(path ...any) Position {
	return p.Document.position(append(p.path[:len(p.path):len(p.path)], path...))
}

// Comments returns the comments in the object's document, in their order.
func (p Place) Comments() []Comment { return p.Document.comments() }

// Path returns the path of the object in its document, as text.
func (p Place) Path() string { return fmt.Sprint(p.path) }

// Each visits the documents of a text in order. Each passes the objects that kubectl create would send, then the
// objects in them, and the error of a broken document.
func Each(text []byte, visit func(objects []*Object, broken *Broken)) { visitNested(text, 0, visit) }

// maxNesting is the number of objects around an object. The memory and the time for text grow with the number.
const maxNesting = 10

func visitNested(text []byte, nesting int, visit func(objects []*Object, broken *Broken)) {
	chunks := split(decoded(text))
	first := 0 // the comments before a document belong to it
	for i, c := range chunks {
		document := &Document{chunk: c, preface: chunks[first:i]}
		objects, err := c.objects(document)
		if err != nil || len(objects) > 0 {
			first = i + 1
		}
		var broken *Broken
		if err != nil {
			b := c.broken(err)
			broken = &b
		}
		for _, o := range objects {
			objects = append(objects, embedded(o, nesting)...)
		}
		if broken != nil || len(objects) > 0 {
			visit(objects, broken)
		}
	}
}

// Read returns the objects of a text, which kubectl create would send, and the documents that can't be read.
func Read(text []byte) (objects []*Object, broken []Broken) { return read(text, 0) }

func read(text []byte, nesting int) (objects []*Object, broken []Broken) {
	visitNested(text, nesting, func(found []*Object, failure *Broken) {
		objects = append(objects, found...)
		if failure != nil {
			broken = append(broken, *failure)
		}
	})
	return objects, broken
}

// Broken is a document that cannot be read.
type Broken struct {
	Position
	Err error
}

// ErrForeign is the error of a document that is no Kubernetes object.
var ErrForeign = errors.New("no Kubernetes object")

// inYAML finds the line in an error of the YAML parser.
var inYAML = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: line (\d+): `)

// broken returns an error with its position in the file. The parser counts lines from the
// document's start.
func (c chunk) broken(err error) Broken {
	b := Broken{c.start, err}
	if match := inYAML.FindStringSubmatch(err.Error()); match != nil {
		if line, _ := strconv.Atoi(match[1]); line > 0 {
			b.Position = c.start.in(line, 1)
		}
		b.Err = errors.New(err.Error()[len(match[0]):])
	}
	return b
}

// toJSON returns a document as JSON, as kubectl reads it. The result is empty if the document is empty.
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

func (c chunk) objects(document *Document) ([]*Object, error) {
	if c.err != nil {
		return nil, c.err
	}
	if err := untrusted.CheckAliases(c.text); err != nil {
		return nil, err
	}
	// Without these bytes or an escape, the document can't have the key.
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
	return flatten(nil, object, document, nil)
}

// flatten adds an object, or the objects of a List at every depth. After a bad item, flatten continues, as kubectl
// create does. An item without a kind makes a Kubernetes List unreadable. In other JSON, such as the response of
// another API, the item is foreign.
func flatten(to []*Object, object runtime.Object, in *Document, path []any) ([]*Object, error) {
	switch object := object.(type) {
	case *unstructured.UnstructuredList:
		if len(path)/2 > maxNesting {
			return to, fmt.Errorf("a List in more than %d Lists", maxNesting)
		}
		var failures []error
		for i := range object.Items {
			var err error
			to, err = flatten(to, &object.Items[i], in, append(path[:len(path):len(path)], "items", i))
			if errors.Is(err, ErrForeign) && object.GetAPIVersion() != "" {
				err = fmt.Errorf("items[%d] has no apiVersion or no kind", i)
			}
			failures = append(failures, err)
		}
		return to, errors.Join(failures...)
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
		return append(to, &Object{Unstructured: object, Place: Place{in, path}}), nil
	}
	return to, fmt.Errorf("a %T", object) // the scheme has no other types
}
