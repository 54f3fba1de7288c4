// Package decode reads one page of a list from the bytes of a response as they arrive. It reads
// protobuf through a buffer of fixed size, and JSON one object at a time. It owns both formats and the
// choice of the fields that are read. It keeps no object, sends no request, and counts only the
// objects of the page.
package decode

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// BufferSize is the size of the buffer that List needs for a page of any size.
	BufferSize = 64 << 10
	// maxString is the longest text of an object that is accepted. Names have at most 253 bytes. For types
	// without that rule, the length of URLs is the limit.
	maxString = 4 << 10
	// maxObject is the largest object of a list that is accepted, and any other value that is read at
	// once. etcd stores no object of more than 1.5 MiB.
	maxObject = 3 << 20
	// maxToken is the longest continue token that is accepted.
	maxToken = 32 << 10
)

// Object holds the fields that the census reads of one object.
type Object struct {
	Namespace, Name, GenerateName string

	Created int64             // Unix seconds; 0 if unknown
	Labels  map[string]string // only those of Asked.Labels

	Creator       Creator // if Asked.Creator returned Now
	HasCreationID bool    // it has a creation ID; read if Asked.Creator returned Now or Later
	// Origin is the input of CreatorOf, if Asked.Creator returned Later. It is nil if the creator was read
	// at once nevertheless.
	Origin []byte

	Identity // if Asked.Identity is set

	// Raw is the whole object in JSON, if Asked.Whole is set. It is valid until visit returns.
	Raw []byte
}

// When decides when to read the creator of an object. Reading the creator costs as much as reading
// everything else.
type When int8

// The fields that show the creator are skipped, kept for later, or read now.
const (
	Never When = iota
	Later
	Now
)

// Asked selects the fields that List reads of an object beside its namespace, name, generateName and
// time.
type Asked struct {
	// Labels are the keys of the labels to read.
	Labels map[string]bool
	// Creator decides when to read the creator of an object, which it must not keep. It is called after
	// the object's name, generateName, namespace and time were read. This requires protobuf fields in the
	// order of their numbers, as all Kubernetes encoders write them. A nil Creator means Never.
	Creator func(*Object) When
	// Updated reports whether Watch also calls Creator for an object that was updated. nil means false.
	Updated func(*Object) bool
	// Identity makes List read Object.Identity.
	Identity bool
	// Whole makes List keep Object.Raw. It works only for JSON.
	Whole bool
}

// Page is the metadata of one page of a list.
type Page struct {
	Kind            string // of the list; empty if the response has none
	ResourceVersion string
	Continue        string // token of the next page; empty on the last
	Remaining       int64  // objects after this page; 0 if unknown
	Objects         int64  // on this page
}

// Malformed is the error of a response that is not a list.
type Malformed string

func (m Malformed) Error() string { return "malformed response: " + string(m) }

func malformedf(format string, args ...any) error { return Malformed(fmt.Sprintf(format, args...)) }

// protobufMagic is the prefix of protobuf from a Kubernetes server
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// List reads a PartialObjectMetadataList, or in JSON any list. buffer must have at least BufferSize
// bytes. It calls visit for every object, with the fields that asked selects. visit must not keep the
// object. An error of visit ends the reading. A truncated stream gives io.ErrUnexpectedEOF, and a
// stream that is not a list gives Malformed. With an error, List returns the part of the page that was
// read.
func List(r io.Reader, buffer []byte, asked Asked, visit func(*Object) error) (Page, error) {
	w := &wire{r: r, buf: buffer}
	for w.end < len(protobufMagic) {
		if err := w.more(); err != nil {
			return Page{}, err
		}
	}
	d := decoder{asked: asked, visit: visit}
	var err error
	if head := buffer[:len(protobufMagic)]; bytes.Equal(head, protobufMagic) {
		w.advance(len(protobufMagic))
		err = d.decodeProtobuf(w)
	} else {
		err = d.decodeJSON(io.MultiReader(bytes.NewReader(buffer[:w.end]), r))
	}
	return d.page, err
}

// decoder is the state of the reading of a page.
type decoder struct {
	asked   Asked
	visit   func(*Object) error
	page    Page
	object  Object // the current one
	isAsked bool   // Asked.Creator was called for it and returned when
	when    When
	oldest  int64  // time of the managedFields entry that Creator comes from
	origin  []byte // memory of Object.Origin

	// The current entry of managedFields.
	entry  managedEntry
	fields fieldsScan
	seen   []byte // text of fields, if it was in the buffer as a whole
}

// whenCreator returns when to read the creator of the object.
func (d *decoder) whenCreator() When {
	if !d.isAsked && d.asked.Creator != nil {
		d.isAsked, d.when = true, d.asked.Creator(&d.object)
		if d.when == Later {
			d.object.Origin = d.origin[:0]
		}
	}
	return d.when
}

// begin prepares the decoder for the next object, and returns the previous one.
func (d *decoder) begin() (before Object) {
	before = d.object
	clear(before.Labels)
	d.object = Object{Labels: before.Labels}
	d.object.Owners = before.Owners[:0]
	d.isAsked, d.when, d.oldest = false, Never, 0
	return before
}

// found passes the current object to visit.
func (d *decoder) found() error {
	if d.object.Name == "" {
		return Malformed("an object without a name")
	}
	d.page.Objects++
	return d.visit(&d.object)
}

// setLabel sets a label of the object if Asked.Labels has its key.
func (d *decoder) setLabel(key, value string) {
	if !d.asked.Labels[key] {
		return
	}
	if d.object.Labels == nil {
		d.object.Labels = map[string]string{}
	}
	d.object.Labels[key] = value
}
