package decode

import (
	"bytes"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of k8s.io/apimachinery/pkg/runtime/generated.proto (Unknown,
// TypeMeta) and k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto.
const (
	unknownTypeMeta        protowire.Number = 1
	unknownRaw             protowire.Number = 2
	unknownContentEncoding protowire.Number = 3

	typeMetaKind protowire.Number = 2

	listMetadata protowire.Number = 1
	listItems    protowire.Number = 2

	listMetaResourceVersion    protowire.Number = 2
	listMetaContinue           protowire.Number = 3
	listMetaRemainingItemCount protowire.Number = 4

	itemMetadata protowire.Number = 1

	metaName              protowire.Number = 1
	metaGenerateName      protowire.Number = 2
	metaNamespace         protowire.Number = 3
	metaCreationTimestamp protowire.Number = 8
	metaLabels            protowire.Number = 11
	metaAnnotations       protowire.Number = 12
	metaOwnerReferences   protowire.Number = 13
	metaManagedFields     protowire.Number = 17

	ownerKind       protowire.Number = 1
	ownerName       protowire.Number = 3
	ownerAPIVersion protowire.Number = 5
	ownerController protowire.Number = 6

	managedManager     protowire.Number = 1
	managedTime        protowire.Number = 4
	managedFieldsV1    protowire.Number = 7
	managedSubresource protowire.Number = 8

	fieldsRaw protowire.Number = 1

	timeSeconds protowire.Number = 1

	entryKey   protowire.Number = 1
	entryValue protowire.Number = 2
)

// MetadataList is the kind of a list of metadata.
const MetadataList = "PartialObjectMetadataList"

// decodeProtobuf reads the envelope, a runtime.Unknown, to the end of the stream.
func (d *decoder) decodeProtobuf(w *wire) error {
	complete := false
	for {
		if done, err := w.done(); err != nil {
			return err
		} else if done {
			break
		}
		f, err := w.field(unbounded)
		if err != nil {
			return err
		}
		switch f.number {
		case unknownTypeMeta:
			err = d.typeMeta(w, f)
		case unknownRaw:
			err = d.list(w, f)
			complete = true
		case unknownContentEncoding:
			if f.end > w.offset {
				err = Malformed("encoded content")
			}
		}
		if err == nil {
			err = w.skipTo(f.end)
		}
		if err != nil {
			return err
		}
	}
	if !complete {
		return Malformed("an envelope without content")
	}
	return nil
}

func (d *decoder) typeMeta(w *wire, f field) error {
	return w.message(f, func(f field) error {
		if f.number != typeMetaKind {
			return nil
		}
		kind, err := w.text(f, maxString)
		if err == nil && string(kind) != MetadataList {
			err = malformedf("a %.64q", kind)
		}
		d.page.Kind = MetadataList
		return err
	})
}

func (d *decoder) list(w *wire, f field) error {
	return w.message(f, func(f field) error {
		switch f.number {
		case listMetadata:
			return d.listMeta(w, f)
		case listItems:
			return d.item(w, f)
		}
		return nil
	})
}

func (d *decoder) listMeta(w *wire, f field) error {
	return w.message(f, func(f field) (err error) {
		switch f.number {
		case listMetaResourceVersion:
			err = w.string(f, maxString, &d.page.ResourceVersion, "")
		case listMetaContinue:
			err = w.string(f, maxToken, &d.page.Continue, "")
		case listMetaRemainingItemCount:
			d.page.Remaining = max(0, int64(f.value))
		}
		return err
	})
}

// item reads one object. It reuses the namespace and generateName of the previous object, which are
// mostly equal.
func (d *decoder) item(w *wire, f field) error {
	if size := f.end - w.offset; size > maxObject {
		return malformedf("an object of %d bytes", size)
	}
	before := d.begin()
	err := w.message(f, func(f field) error {
		if f.number != itemMetadata {
			return nil
		}
		return w.message(f, func(f field) error { return d.meta(w, f, &before) })
	})
	if err != nil {
		return err
	}
	return d.found()
}

func (d *decoder) meta(w *wire, f field, before *Object) error {
	switch f.number {
	case metaUID, metaDeletionTimestamp, metaAnnotations, metaOwnerReferences:
		if d.asked.Identity {
			return d.identity(w, f, before)
		}
	}
	switch f.number {
	case metaName:
		return w.string(f, maxString, &d.object.Name, "")
	case metaGenerateName:
		return w.string(f, maxString, &d.object.GenerateName, before.GenerateName)
	case metaNamespace:
		return w.string(f, maxString, &d.object.Namespace, before.Namespace)
	case metaCreationTimestamp:
		return d.seconds(w, f, &d.object.Created)
	case metaLabels:
		if len(d.asked.Labels) > 0 {
			return d.label(w, f)
		}
	case metaAnnotations:
		if d.whenCreator() != Never {
			return d.annotation(w, f)
		}
	case metaOwnerReferences, metaManagedFields:
		switch d.whenCreator() {
		case Later:
			return d.keep(w, f, &before.Creator)
		case Now:
			return d.creator(w, f, &before.Creator)
		}
	}
	return nil
}

// keep appends a field to Object.Origin. If that becomes too long, it reads the creator now.
func (d *decoder) keep(w *wire, f field, before *Creator) error {
	o := &d.object
	if f.kind != protowire.BytesType || uint64(len(o.Origin))+f.end-w.offset > maxOrigin {
		d.when = Now
		if err := d.readOrigin(before); err != nil {
			return err
		}
		return d.creator(w, f, before)
	}
	o.Origin = protowire.AppendTag(o.Origin, f.number, f.kind)
	o.Origin = protowire.AppendVarint(o.Origin, f.end-w.offset)
	err := w.chunks(f, func(chunk []byte, _ bool) { o.Origin = append(o.Origin, chunk...) })
	d.origin = o.Origin
	return err
}

// readOrigin reads the creator from Object.Origin.
func (d *decoder) readOrigin(before *Creator) error {
	origin := d.object.Origin
	d.object.Origin = nil
	w := &wire{r: strings.NewReader(""), buf: origin, end: len(origin)}
	err := w.message(field{kind: protowire.BytesType, end: uint64(len(origin))}, func(f field) error {
		return d.creator(w, f, before)
	})
	if err != nil {
		return malformedf("who made an object: %v", err)
	}
	return nil
}

// CreatorOf returns the creator from an Object.Origin. If it equals guess, its strings are reused.
func CreatorOf(origin []byte, guess Creator) (Creator, error) {
	d := decoder{object: Object{Origin: origin}}
	err := d.readOrigin(&guess)
	return d.object.Creator, err
}

// ControllerOf returns the controller from an Object.Origin. It is empty if the object has none. If it
// equals guess, its strings are reused. ControllerOf is much faster than CreatorOf.
func ControllerOf(origin []byte, guess Creator) (Creator, error) {
	var d decoder
	w := &wire{r: strings.NewReader(""), buf: origin, end: len(origin)}
	err := w.message(field{kind: protowire.BytesType, end: uint64(len(origin))}, func(f field) error {
		if f.number != metaOwnerReferences {
			return nil
		}
		return d.owner(w, f, &guess)
	})
	return d.object.Creator, err
}

// creator reads a field that shows the creator of the object.
func (d *decoder) creator(w *wire, f field, before *Creator) error {
	if f.number == metaOwnerReferences {
		return d.owner(w, f, before)
	}
	if d.object.Creator.Kind != "" { // a controller takes precedence over a manager
		return nil
	}
	return d.managed(w, f, before)
}

func (d *decoder) annotation(w *wire, f field) error {
	return w.message(f, func(f field) error {
		if f.number != entryKey {
			return nil
		}
		key, err := w.head(f, len(creationID)+1)
		d.object.HasCreationID = d.object.HasCreationID || string(key) == creationID
		return err
	})
}

func (d *decoder) owner(w *wire, f field, before *Creator) error {
	var owner Creator
	controller := false
	err := w.message(f, func(f field) (err error) {
		switch f.number {
		case ownerKind:
			err = w.beginning(f, &owner.Kind, before.Kind)
		case ownerName:
			err = w.beginning(f, &owner.Name, before.Name)
		case ownerAPIVersion:
			err = w.beginning(f, &owner.APIVersion, before.APIVersion)
		case ownerController:
			controller = f.value != 0
		}
		return err
	})
	if controller {
		d.controlledBy(owner)
	}
	return err
}

func (d *decoder) managed(w *wire, f field, before *Creator) error {
	entry := &d.entry
	*entry = managedEntry{}
	err := w.message(f, func(f field) (err error) {
		switch f.number {
		case managedManager:
			err = w.beginning(f, &entry.manager, before.Manager)
		case managedTime:
			err = d.seconds(w, f, &entry.time)
		case managedSubresource:
			entry.subresource = f.end > w.offset
		case managedFieldsV1:
			err = w.message(f, func(f field) error {
				if f.number != fieldsRaw {
					return nil
				}
				entry.owner, err = d.owns(w, f)
				return err
			})
		}
		return err
	})
	d.managedBy(*entry)
	return err
}

// owns reports whether the FieldsV1 in f has metadata.generateName. If the previous object had the
// same FieldsV1, owns reuses the result.
func (d *decoder) owns(w *wire, f field) (bool, error) {
	length := f.end - w.offset
	ahead := w.buf[w.start:w.end]
	if length > 0 && length <= uint64(len(ahead)) {
		ahead = ahead[:length]
		if bytes.Equal(ahead, d.seen) {
			w.advance(len(ahead))
			return d.fields.owns, nil
		}
		d.seen = append(d.seen[:0], ahead...)
	} else {
		d.seen = d.seen[:0]
	}
	d.fields = fieldsScan{}
	err := w.chunks(f, d.fields.add)
	return d.fields.owns, err
}

// seconds reads a time.
func (d *decoder) seconds(w *wire, f field, to *int64) error {
	return w.message(f, func(f field) error {
		if f.number == timeSeconds {
			*to = int64(f.value)
		}
		return nil
	})
}

func (d *decoder) label(w *wire, f field) error {
	var key, value string
	err := w.message(f, func(f field) (err error) {
		switch f.number {
		case entryKey:
			err = w.string(f, maxString, &key, "")
		case entryValue:
			err = w.string(f, maxString, &value, "")
		}
		return err
	})
	d.setLabel(key, value)
	return err
}

// string reads the content of f into s. If it equals guess, no new string is allocated.
func (w *wire) string(f field, limit int, s *string, guess string) error {
	b, err := w.text(f, limit)
	if err != nil {
		return err
	}
	setText(s, b, guess)
	return nil
}

// beginning reads at most maxCreator bytes of a text into s, and skips the rest.
func (w *wire) beginning(f field, s *string, guess string) error {
	b, err := w.head(f, maxCreator)
	if err != nil {
		return err
	}
	setText(s, b, guess)
	if len(b) == maxCreator { // the cut may split a character
		*s = strings.ToValidUTF8(*s, "")
	}
	return nil
}

func setText(s *string, b []byte, guess string) {
	if string(b) == guess {
		*s = guess
	} else {
		*s = string(b)
	}
}
