// Package manifest reads manifests as kubectl create does, and finds the position of each field. To read, it uses
// kubectl's decoders (k8s.io/apimachinery, and sigs.k8s.io/yaml for YAML 1.1). A second parser finds lines, columns and
// comments when a caller needs them. The package opens no file, and doesn't check the objects.
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

// Object is one object of a file. The items of a List are separate objects.
type Object struct {
	*unstructured.Unstructured
	Place

	// Embedded is true if another object contains this object.
	Embedded bool
}

// Place identifies an object in the input by its document and its path there.
type Place struct {
	Document *Document
	path     []any // path in the document, for an item of a List
}

// Position returns the position of a field's name, or of a list's item, in the object's file. path has a string for a
// field and an int for an item. For a missing field, Position returns the position of the parent. A field from an alias
// has the position of the anchor.
func (p Place) Position(path ...any) Position {
	return p.Document.position(append(p.path[:len(p.path):len(p.path)], path...))
}

// Comments returns the comments in the object's document, in their order.
func (p Place) Comments() []Comment { return p.Document.comments() }

// Path returns the path of the object in its document, as text.
func (p Place) Path() string { return fmt.Sprint(p.path) }

// Each visits the documents of a text in order. visit receives the objects that kubectl create would send, followed by
// the objects that they contain, and the error if the document is broken.
func Each(text []byte, visit func(objects []*Object, broken *Broken)) { visitNested(text, 0, visit) }

// maxNesting limits how deeply objects can contain other objects, because memory and time grow with the depth.
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

// Read returns the objects that kubectl create would send for a text, and the documents that can't be read.
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

// inYAML matches the line number in an error of the YAML parser.
var inYAML = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: line (\d+): `)

// broken returns an error with its position in the file. The parser's error has a line number that counts from the
// start of the document.
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
	// A document without these bytes and without an escape can't have the key.
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

// flatten appends an object, or all objects of a List, at every depth. After a bad item, flatten continues, as kubectl
// create does. In a Kubernetes List, an item without a kind makes the List unreadable. In other JSON, such as the
// response of another API, such an item is no Kubernetes object.
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
