// Package decode reads the metadata of objects from a list or a watch while the response arrives. The package reads
// protobuf and JSON. It splits a response into objects, so that it needs memory for only one object at a time. It keeps
// no object, and sends no request.
package decode

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

const (
	// MaxObject limits the memory of one object. etcd stores no object of more than 1.5 MiB. In JSON, the server
	// writes <, > and & as six bytes (\u003c), so the object can have 9 MiB.
	MaxObject = 10 << 20
	// maxString is the longest generateName that is kept whole. Names begin with its first 58 bytes. Types without a
	// rule for names, such as CertificateSigningRequests, accept a generateName of any length.
	maxString = 4 << 10
	// maxToken is the longest continue token that is accepted. A token contains the name of an object. A Go server
	// accepts URLs of up to 1 MiB.
	maxToken = 1 << 20
	// bufferSize is the size of the buffer for reading a response.
	bufferSize = 64 << 10
)

// Options selects the parts of each object that List reads.
type Options struct {
	// Raw makes List set object.Object.Raw. This works only for JSON.
	Raw bool
	// NoLabels makes List leave out object.Object.Labels. Labels take a third of the time of List.
	NoLabels bool
	// Job makes List read object.Object.Job, even with NoLabels.
	Job bool
}

// Page is the metadata of one page of a list.
type Page struct {
	Kind            string // kind of the list; empty if the response has none
	ResourceVersion string
	Continue        string // token of the next page; empty on the last
	Remaining       int64  // number of objects after this page; 0 if unknown
	Objects         int64  // on this page
}

// Malformed is the error of a response that is not a list.
type Malformed string

func (m Malformed) Error() string { return "malformed response: " + string(m) }

func malformedf(format string, args ...any) error { return Malformed(fmt.Sprintf(format, args...)) }

// protobufMagic is the prefix of protobuf from a Kubernetes server
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
const protobufMagic = "k8s\x00"

// List reads a PartialObjectMetadataList, or any list in JSON. List calls visit for each object. visit must not keep
// the object. If visit returns an error, List ends. If the stream is truncated, List returns io.ErrUnexpectedEOF. If
// the response is not a list, List returns Malformed. After an error, the Page can be incomplete.
func List(r io.Reader, options Options, visit func(*object.Object) error) (Page, error) {
	d := &decoder{r: bufio.NewReaderSize(r, bufferSize), options: options, visit: visit}
	magic, err := d.r.Peek(len(protobufMagic))
	switch {
	case err != nil:
		return d.page, unexpected(err)
	case string(magic) == protobufMagic:
		err = d.protobufList()
	default:
		err = d.jsonList()
	}
	return d.page, err
}

// decoder has the state of List or Watch while it reads a response.
type decoder struct {
	r       *bufio.Reader
	options Options
	visit   func(*object.Object) error
	page    Page

	object  object.Object   // the current one
	managed []managed       // its managedFields
	texts   [256]string     // recent texts of objects
	owns    map[string]bool // whether a FieldsV1 has metadata.generateName
}

// begin starts a new object.
func (d *decoder) begin() {
	last := &d.object
	d.object = object.Object{
		Identity: object.Identity{Owners: last.Owners[:0]}, Finalizers: last.Finalizers[:0],
	}
	d.managed = d.managed[:0]
}

// found passes the current object to visit.
func (d *decoder) found() error {
	o := &d.object
	if o.Name == "" {
		return Malformed("an object without a name")
	}
	if len(o.GenerateName) > maxString {
		o.GenerateName = fmt.Sprintf("%s%x", o.GenerateName[:maxString], sha256.Sum256([]byte(o.GenerateName)))
	}
	o.Creator = d.creator()
	d.page.Objects++
	return d.visit(o)
}

// creationID is the annotation with the creation ID of pkg/once and the plugin.
const creationID = "genname.dev/creation-id"

// owner adds an owner to the current object.
func (d *decoder) owner(o *metav1.OwnerReference) {
	d.object.Owners = append(d.object.Owners, object.Owner{
		APIVersion: head(o.APIVersion), Kind: head(o.Kind), Name: head(o.Name), UID: head(string(o.UID)),
		Controller: o.Controller != nil && *o.Controller,
	})
}

// maxCreator is the number of bytes that are kept of a text about a creator. The name of a controller or manager can be
// as long as etcd accepts.
const maxCreator = 253

// head truncates text to maxCreator bytes.
func head(text string) string {
	if len(text) <= maxCreator {
		return text
	}
	return strings.ToValidUTF8(text[:maxCreator], "")
}

// unexpected returns io.ErrUnexpectedEOF instead of io.EOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
