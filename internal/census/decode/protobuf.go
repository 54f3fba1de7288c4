package decode

import (
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

	timeSeconds protowire.Number = 1

	entryKey   protowire.Number = 1
	entryValue protowire.Number = 2
)

const listKind = "PartialObjectMetadataList"

// decodeProtobuf reads the envelope, a runtime.Unknown, to the end of the
// stream.
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
		if err == nil && string(kind) != listKind {
			err = malformedf("a %.64q", kind)
		}
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

// item reads one object. Neighbours in a list mostly share their namespace and
// generateName, so these are not made anew.
func (d *decoder) item(w *wire, f field) error {
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
	case metaName:
		return w.string(f, maxString, &d.object.Name, "")
	case metaGenerateName:
		return w.string(f, maxString, &d.object.GenerateName, before.GenerateName)
	case metaNamespace:
		return w.string(f, maxString, &d.object.Namespace, before.Namespace)
	case metaCreationTimestamp:
		return w.message(f, func(f field) error {
			if f.number == timeSeconds {
				d.object.Created = int64(f.value)
			}
			return nil
		})
	case metaLabels:
		if len(d.labels) > 0 {
			return d.label(w, f)
		}
	}
	return nil
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

// string reads the content of f into s; it is likely to be guess, which then
// saves the making of another string.
func (w *wire) string(f field, limit int, s *string, guess string) error {
	b, err := w.text(f, limit)
	if err != nil {
		return err
	}
	if string(b) == guess {
		*s = guess
	} else {
		*s = string(b)
	}
	return nil
}
