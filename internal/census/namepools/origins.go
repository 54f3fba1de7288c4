package namepools

import "github.com/kubectl-genname/kubectl-genname/internal/census/decode"

// maxOrigins is the number of bytes from which the creators of a name pool are read, although they may
// not matter.
const maxOrigins = 16 << 10

// origins are the Object.Origin of the newest objects of a name pool, not decoded yet. If each object
// has its own prefix, most name pools never have Rules.CreatorsFrom names. Decoding them would take as
// long as everything else.
type origins struct {
	objects []originOf
	bytes   []byte // of all objects, concatenated
}

type originOf struct {
	name  string
	hasID bool
	end   int // offset in bytes
}

// addOrigin records the creator of o before o is added, if the creator matters.
func (t *Tally) addOrigin(r *Rules, o *decode.Object) error {
	if t.isNewer(o) {
		if o.Origin == nil {
			if err := t.readOrigins(); err != nil {
				return err
			}
			t.addCreator(o.Name, o.Creator, o.HasCreationID)
			return nil
		}
		t.origins.add(o)
	}
	if t.Names+1 < r.creatorsFrom() && len(t.origins.bytes) < maxOrigins {
		return nil
	}
	return t.readOrigins()
}

func (all *origins) add(o *decode.Object) {
	all.bytes = append(all.bytes, o.Origin...)
	all.objects = append(all.objects, originOf{o.Name, o.HasCreationID, len(all.bytes)})
}

// readOrigins decodes the creators of the objects in their order.
func (t *Tally) readOrigins() error {
	begin := 0
	for _, o := range t.origins.objects {
		creator, err := decode.CreatorOf(t.origins.bytes[begin:o.end], t.Creator)
		if err != nil {
			return err
		}
		t.addCreator(o.name, creator, o.hasID)
		begin = o.end
	}
	t.origins = origins{t.origins.objects[:0], t.origins.bytes[:0]}
	return nil
}
