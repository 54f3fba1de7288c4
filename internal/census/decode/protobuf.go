package decode

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Field numbers of k8s.io/apimachinery/pkg/runtime/generated.proto (Unknown) and
// k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto (PartialObjectMetadataList).
const (
	unknownTypeMeta        protowire.Number = 1
	unknownRaw             protowire.Number = 2
	unknownContentEncoding protowire.Number = 3

	listMetadata protowire.Number = 1
	listItems    protowire.Number = 2
)

// MetadataList is the kind of a list of metadata.
const MetadataList = "PartialObjectMetadataList"

// protobufList reads the envelope to the end of the stream. The envelope is a runtime.Unknown that contains the
// list.
func (d *decoder) protobufList() error {
	_, _ = d.r.Discard(len(protobufMagic))
	complete := false
	err := d.message(math.MaxInt64, func(number protowire.Number, length int64) error {
		switch number {
		case unknownTypeMeta:
			var kind runtime.TypeMeta
			err := d.unmarshal(length, kind.Unmarshal)
			if d.page.Kind = MetadataList; err == nil && kind.Kind != MetadataList {
				err = malformedf("a %.64q", kind.Kind)
			}
			return err
		case unknownRaw:
			complete = true
			return d.message(length, d.listField)
		case unknownContentEncoding:
			if length > 0 {
				return Malformed("encoded content")
			}
		}
		return d.skip(length)
	})
	if err == nil && !complete {
		return Malformed("an envelope without content")
	}
	return err
}

func (d *decoder) listField(number protowire.Number, length int64) error {
	switch number {
	case listMetadata:
		var meta metav1.ListMeta
		if err := d.unmarshal(length, meta.Unmarshal); err != nil {
			return err
		}
		return d.listMeta(&meta)
	case listItems:
		if err := d.unmarshal(length, d.metadata); err != nil {
			return err
		}
		return d.found()
	}
	return d.skip(length)
}

// listMeta records the metadata of the list.
func (d *decoder) listMeta(meta *metav1.ListMeta) error {
	d.page.ResourceVersion, d.page.Continue = meta.ResourceVersion, meta.Continue
	if meta.RemainingItemCount != nil {
		d.page.Remaining = max(0, *meta.RemainingItemCount)
	}
	if size := len(meta.ResourceVersion) + len(meta.Continue); size > maxToken {
		return malformedf("a continue token of %d bytes", size)
	}
	return nil
}

// message reads a message of the given length. message calls visit for each field, and visit must read the content. The
// length is negative if the field is a number, which has already been read.
func (d *decoder) message(length int64, visit func(number protowire.Number, length int64) error) error {
	if length < 0 {
		return Malformed("a number instead of a message")
	}
	for left := length; left > 0; {
		if _, err := d.r.Peek(1); length == math.MaxInt64 && errors.Is(err, io.EOF) {
			return nil
		}
		number, size, head, err := d.field()
		if err != nil {
			return err
		}
		if left -= int64(head) + max(size, 0); left < 0 {
			return malformedf("field %d of %d bytes does not fit in its message", number, size)
		}
		if err := visit(number, size); err != nil {
			return err
		}
	}
	return nil
}

// field reads the head of a field, and returns the length of the content. If the field is a number, field reads it
// completely, and returns a negative length.
func (d *decoder) field() (number protowire.Number, length int64, head int, err error) {
	tag, n, err := d.varint()
	if err != nil {
		return 0, 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	switch {
	case number < protowire.MinValidNumber:
		return 0, 0, 0, malformedf("field %d", number)
	case kind == protowire.BytesType:
		size, more, err := d.varint()
		return number, int64(min(size, math.MaxInt64-binary.MaxVarintLen64)), n + more, err
	case kind == protowire.VarintType:
		_, more, err := d.varint()
		return number, -1, n + more, err
	case kind == protowire.Fixed32Type, kind == protowire.Fixed64Type:
		size := 4
		if kind == protowire.Fixed64Type {
			size = 8
		}
		_, err := d.r.Discard(size)
		return number, -1, n + size, unexpected(err)
	}
	return 0, 0, 0, malformedf("wire type %d of field %d", kind, number)
}

func (d *decoder) varint() (v uint64, length int, err error) {
	head, err := d.r.Peek(binary.MaxVarintLen64)
	if v, length = protowire.ConsumeVarint(head); length > 0 {
		_, _ = d.r.Discard(length)
		return v, length, nil
	}
	if err == nil {
		err = Malformed("a number of more than 64 bits")
	}
	return 0, 0, unexpected(err)
}

func (d *decoder) skip(length int64) error {
	_, err := d.r.Discard(int(max(length, 0)))
	return unexpected(err)
}

// unmarshal reads a message of the given length, and passes it to read.
func (d *decoder) unmarshal(length int64, read func([]byte) error) error {
	var message []byte
	var err error
	switch {
	case length < 0 || length > MaxObject:
		return malformedf("a message of %d bytes", length)
	case length <= bufferSize:
		message, err = d.r.Peek(int(length))
		defer func() { _, _ = d.r.Discard(len(message)) }()
	default:
		message = make([]byte, length)
		_, err = io.ReadFull(d.r, message)
	}
	if err != nil {
		return unexpected(err)
	}
	if err := read(message); err != nil {
		return Malformed(err.Error())
	}
	return nil
}
