package census

import (
	"bytes"
	"io"
)

// object is what the census reads of one object.
type object struct {
	namespace, name, generateName string
	created                       int64             // Unix seconds; 0 if it is not known
	labels                        map[string]string // only those asked for
}

// page is what a server says about one page of a list.
type page struct {
	resourceVersion string
	next            string // the continue token, empty on the last page
	remaining       int64  // objects after this page; 0 if it is not known
	objects         int64  // on this page
}

// decoder reads one page as its bytes arrive.
type decoder struct {
	// labels are the keys of the labels to read.
	labels map[string]bool
	// visit is called for every object, which it may not keep. What it returns
	// ends the reading.
	visit func(*object) error

	page   page
	object object
}

// protobufMagic is what protobuf from a Kubernetes server starts with
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// decode reads a PartialObjectMetadataList, protobuf or JSON, through buf, of
// at least bufferSize bytes. A stream that ends too early is an
// io.ErrUnexpectedEOF, one that is no list a malformed.
func (d *decoder) decode(r io.Reader, buf []byte) (page, error) {
	w := &wire{r: r, buf: buf}
	for w.end < len(protobufMagic) {
		if err := w.more(); err != nil {
			return page{}, err
		}
	}
	var err error
	if head := buf[:len(protobufMagic)]; bytes.Equal(head, protobufMagic) {
		w.advance(len(protobufMagic))
		err = d.decodeProtobuf(w)
	} else {
		err = d.decodeJSON(io.MultiReader(bytes.NewReader(buf[:w.end]), r))
	}
	return d.page, err
}

// found hands the object that has been read to visit.
func (d *decoder) found() error {
	if d.object.name == "" {
		return malformed("an object without a name")
	}
	d.page.objects++
	return d.visit(&d.object)
}

// setLabel sets a label of the object, if it is one asked for.
func (d *decoder) setLabel(key, value string) {
	if !d.labels[key] {
		return
	}
	if d.object.labels == nil {
		d.object.labels = map[string]string{}
	}
	d.object.labels[key] = value
}
