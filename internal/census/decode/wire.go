package decode

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// wire reads protobuf from a stream through a buffer of fixed size.
type wire struct {
	r      io.Reader
	buf    []byte
	start  int // buf[start:end] has been read and not consumed
	end    int
	offset uint64 // of buf[start] in the stream
}

// field is one field of a message. value holds a number. Any other content follows in the stream up to
// end.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64
	end    uint64
}

// unbounded is the end of a message that extends to the end of the stream.
const unbounded = math.MaxUint64

// field reads the next field of a message that ends at end.
func (w *wire) field(end uint64) (field, error) {
	tag, err := w.varint()
	if err != nil {
		return field{}, err
	}
	number, kind := protowire.DecodeTag(tag)
	f := field{number: number, kind: kind}
	var length uint64
	switch kind {
	case protowire.VarintType:
		f.value, err = w.varint()
	case protowire.BytesType:
		length, err = w.varint()
	case protowire.Fixed32Type:
		length = 4
	case protowire.Fixed64Type:
		length = 8
	default:
		err = malformedf("wire type %d", kind)
	}
	if err != nil {
		return field{}, err
	}
	if number < protowire.MinValidNumber || w.offset > end || length > end-w.offset {
		return field{}, malformedf("field %d of %d bytes does not fit in its message", number, length)
	}
	f.end = w.offset + length
	return f, nil
}

func (w *wire) varint() (uint64, error) {
	if w.start < w.end && w.buf[w.start] < 1<<7 { // most have one byte
		w.advance(1)
		return uint64(w.buf[w.start-1]), nil
	}
	for {
		buffered := w.buf[w.start:w.end]
		if v, n := protowire.ConsumeVarint(buffered); n > 0 {
			w.advance(n)
			return v, nil
		}
		if len(buffered) >= binary.MaxVarintLen64 {
			return 0, Malformed("a number of more than 64 bits")
		}
		if err := w.more(); err != nil {
			return 0, err
		}
	}
}

// text reads the content of f, at most limit bytes. The result is valid until the next read.
func (w *wire) text(f field, limit int) ([]byte, error) {
	if f.kind != protowire.BytesType {
		return nil, malformedf("field %d is not text", f.number)
	}
	length := f.end - w.offset
	if length > uint64(limit) {
		return nil, malformedf("a text of %d bytes in field %d", length, f.number)
	}
	for w.end-w.start < int(length) {
		if err := w.more(); err != nil {
			return nil, err
		}
	}
	b := w.buf[w.start : w.start+int(length)]
	w.advance(int(length))
	return b, nil
}

// head reads the first bytes of the content of f, at most limit. The result is valid until the next
// read.
func (w *wire) head(f field, limit int) ([]byte, error) {
	if f.kind == protowire.BytesType && f.end-w.offset > uint64(limit) {
		f.end = w.offset + uint64(limit)
	}
	return w.text(f, limit)
}

// chunks passes the content of f to add in chunks.
func (w *wire) chunks(f field, add func(chunk []byte, last bool)) error {
	if f.kind != protowire.BytesType {
		return malformedf("field %d is not text", f.number)
	}
	for w.offset < f.end {
		if w.start == w.end {
			if err := w.more(); err != nil {
				return err
			}
		}
		n := int(min(f.end-w.offset, uint64(w.end-w.start)))
		add(w.buf[w.start:w.start+n], w.offset+uint64(n) == f.end)
		w.advance(n)
	}
	return nil
}

// skipTo skips the stream up to end.
func (w *wire) skipTo(end uint64) error {
	for w.offset < end {
		w.advance(int(min(end-w.offset, uint64(w.end-w.start))))
		if w.offset == end {
			break
		}
		if err := w.more(); err != nil {
			return err
		}
	}
	return nil
}

// message calls visit for every field of the message in f. It skips content that visit does not read.
func (w *wire) message(f field, visit func(field) error) error {
	if f.kind != protowire.BytesType {
		return malformedf("field %d is not a message", f.number)
	}
	for w.offset < f.end {
		inner, err := w.field(f.end)
		if err == nil {
			err = visit(inner)
		}
		if err == nil {
			err = w.skipTo(inner.end)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// done reports whether the stream has ended at a place where it can end.
func (w *wire) done() (bool, error) {
	if w.start < w.end {
		return false, nil
	}
	err := w.fill()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

func (w *wire) advance(n int) {
	w.start += n
	w.offset += uint64(n)
}

// more reads at least one byte. An end of the stream is an error.
func (w *wire) more() error {
	err := w.fill()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fill reads at least one byte, or returns io.EOF at the end of the stream.
func (w *wire) fill() error {
	if w.start > 0 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
	}
	n, err := io.ReadAtLeast(w.r, w.buf[w.end:], 1)
	w.end += n
	if n > 0 {
		return nil
	}
	return err
}
