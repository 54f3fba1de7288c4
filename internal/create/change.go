package create

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// maxFields is the number of fields of a Change.
	maxFields = 3
	// changePatience is the time to read the object of a Change.
	changePatience = 10 * time.Second
)

// Change is a document that was probably changed after a run with the key created an
// object from it.
type Change struct {
	// Document is the document, and Object the object as arguments of kubectl.
	Document, Object string
	// Fields are the paths of the first fields of the document that the object lacks or
	// has with another value. If there are none, a field was removed from the document.
	Fields []string
}

// change finds an unexpected object and a document without an object that could have created it. It
// returns their differences. It returns nil if there is no such pair, or if the object can't be read.
func (k *keyed) change(documents []*Document, unexpected []named) *Change {
	for _, d := range documents {
		id := k.config.id(d, 0)
		if id == exactlyonce.Untracked() || len(k.existing[inPlace{d.place.Place, id.String()}]) > 0 {
			continue
		}
		for _, object := range unexpected {
			if object.place == d.place.Place && couldName(d, object.name) {
				return k.compareWith(d, object)
			}
		}
	}
	return nil
}

// couldName reports whether a document can create an object of a name.
func couldName(d *Document, name string) bool {
	if own := d.Object.GetName(); own != "" {
		return own == name
	}
	prefix := names.EffectivePrefix(d.Object.GetGenerateName())
	return strings.HasPrefix(name, prefix) && len(name) == len(prefix)+names.SuffixLength
}

// compareWith reads the object, and compares each field of the document with it.
func (k *keyed) compareWith(d *Document, object named) *Change {
	ctx, cancel := context.WithTimeout(k.ctx, changePatience)
	defer cancel()
	stored, err := k.config.client.Get(ctx, d, object.name)
	if err != nil {
		return nil
	}
	return &Change{
		Document: d.Reference(""), Object: d.Argument(object.name),
		Fields: digest.Differences(d.Object, stored, maxFields),
	}
}
