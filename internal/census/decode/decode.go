// Package decode reads one page of a list, as a server answers it, from bytes as
// they arrive: protobuf through a buffer of fixed size, JSON one object at a
// time. It owns both formats and what is taken from an object; it keeps no
// object, sends no request, and counts nothing but the objects of the page.
package decode

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// BufferSize is the memory that List needs for a page, whatever its size.
	BufferSize = 64 << 10
	// maxString is the longest text of an object that is looked at. Names have
	// at most 253 bytes; a type without that rule is bounded by URLs.
	maxString = 4 << 10
	// maxToken is the longest continue token that is taken.
	maxToken = 32 << 10
)

// Object is what the census reads of one object.
type Object struct {
	Namespace, Name, GenerateName string

	Created int64             // Unix seconds; 0 if it is not known
	Labels  map[string]string // only those asked for

	Creator Creator // if it was asked for
	Marked  bool    // with a creation id, if the creator was asked for, now or later
	// Origin is what says who made it, for CreatorOf, if that was asked for later.
	// It is nil where the creator has been read nevertheless.
	Origin []byte

	Identity // if it was asked for

	// Raw is the whole object in JSON, if that was asked for. It is valid until visit
	// returns.
	Raw []byte
}

// When is when it is to be read who made an object, which costs as much as reading
// all else of it.
type When int8

// What says who made an object is passed over, kept, or read.
const (
	Never When = iota
	Later
	Now
)

// Asked is what List reads of an object beside its name, generateName and time.
type Asked struct {
	// Labels are the keys of labels.
	Labels map[string]bool
	// Creator returns when it is to be read who made an object, which it may not
	// keep. It is called once its name, generateName, namespace and time have
	// been read; nil returns Never. Protobuf must have its fields in the order of
	// their numbers for that, as all encoders of Kubernetes write them.
	Creator func(*Object) When
	// Updated reports whether Watch calls Creator for an object that was updated, too;
	// nil is false.
	Updated func(*Object) bool
	// Identity is whether Object.Identity is read.
	Identity bool
	// Whole is whether Object.Raw is kept, which only JSON has.
	Whole bool
}

// Page is what a server says about one page of a list.
type Page struct {
	Kind            string // of the list; empty if the response has none
	ResourceVersion string
	Continue        string // the token of the page after this one; empty on the last
	Remaining       int64  // objects after this page; 0 if it is not known
	Objects         int64  // on this page
}

// Malformed is the error of an answer that is not a list.
type Malformed string

func (m Malformed) Error() string { return "malformed answer: " + string(m) }

func malformedf(format string, args ...any) error { return Malformed(fmt.Sprintf(format, args...)) }

// protobufMagic is what protobuf from a Kubernetes server starts with
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// List reads a PartialObjectMetadataList, or in JSON any list, through buffer,
// of at least BufferSize bytes. It calls visit for every object, which visit may
// not keep, with what is asked for; an error of visit ends the reading. A stream
// that ends too early is an io.ErrUnexpectedEOF, one that is no list a
// Malformed. Along with an error it returns the part of the page that has been
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

// decoder is what is known while a page is read.
type decoder struct {
	asked   Asked
	visit   func(*Object) error
	page    Page
	object  Object // the one that is being read
	isAsked bool   // whether Asked.Creator has been called for it, and said when
	when    When
	oldest  int64  // the time of the entry of managedFields that Creator is of
	origin  []byte // the memory of Object.Origin

	// These are what is being read of managedFields.
	entry  managedEntry
	fields fieldsScan
	seen   []byte // what fields is of, if that came at once
}

// whenCreator returns when it is to be read who made the object.
func (d *decoder) whenCreator() When {
	if !d.isAsked && d.asked.Creator != nil {
		d.isAsked, d.when = true, d.asked.Creator(&d.object)
		if d.when == Later {
			d.object.Origin = d.origin[:0]
		}
	}
	return d.when
}

// begin makes the decoder ready for the next object, and returns the last one.
func (d *decoder) begin() (before Object) {
	before = d.object
	clear(before.Labels)
	d.object = Object{Labels: before.Labels}
	d.object.Owners = before.Owners[:0]
	d.isAsked, d.when, d.oldest = false, Never, 0
	return before
}

// found hands the object that has been read to visit.
func (d *decoder) found() error {
	if d.object.Name == "" {
		return Malformed("an object without a name")
	}
	d.page.Objects++
	return d.visit(&d.object)
}

// setLabel sets a label of the object, if it is one asked for.
func (d *decoder) setLabel(key, value string) {
	if !d.asked.Labels[key] {
		return
	}
	if d.object.Labels == nil {
		d.object.Labels = map[string]string{}
	}
	d.object.Labels[key] = value
}
