package create

import (
	"context"
	"time"
)

// changePatience is the time to read the object of a Change.
const changePatience = 10 * time.Second

// Change is a document that was changed after a run with the key created an object from it.
type Change struct {
	// Document is the document, and Object the object as arguments of kubectl.
	Document, Object string
	// Fields are the paths of the first fields of the document that the object lacks or
	// has with another value. If there are none, a field was removed from the document.
	Fields []string
}

// changeOf reads the object of a document, and compares each field of the document with it. It
// returns nil if the object can't be read.
func (k *keyed) changeOf(d *Document, name string) *Change {
	ctx, cancel := context.WithTimeout(k.ctx, changePatience)
	defer cancel()
	stored, err := k.config.client.Get(ctx, d, name)
	if err != nil {
		return nil
	}
	return &Change{
		Document: d.Reference(""), Object: d.Argument(name),
		Fields: d.differences(stored),
	}
}
