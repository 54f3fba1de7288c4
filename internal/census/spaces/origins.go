package spaces

import "github.com/kubectl-genname/kubectl-genname/internal/census/decode"

// maxOrigins is from how many bytes on it is read who made the objects of a
// space, although it may be of no interest.
const maxOrigins = 16 << 10

// origins is what says who made the newest objects of a space, and has not been
// read: most spaces never have Rules.CreatorsFrom names, where each object has a
// prefix of its own, and reading it takes as long as all else.
type origins struct {
	objects []originOf
	bytes   []byte // all of them, one after the other
}

type originOf struct {
	name   string
	marked bool
	end    int // in bytes
}

// addOrigin notes who made o, which is to be added, if it matters.
func (t *Tally) addOrigin(r *Rules, o *decode.Object) error {
	if t.isNewer(o) {
		if o.Origin == nil {
			if err := t.readOrigins(); err != nil {
				return err
			}
			t.addCreator(o.Name, o.Creator, o.Marked)
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
	all.objects = append(all.objects, originOf{o.Name, o.Marked, len(all.bytes)})
}

// readOrigins reads who made the objects, in the order in which they came.
func (t *Tally) readOrigins() error {
	begin := 0
	for _, o := range t.origins.objects {
		creator, err := decode.CreatorOf(t.origins.bytes[begin:o.end], t.Creator)
		if err != nil {
			return err
		}
		t.addCreator(o.name, creator, o.marked)
		begin = o.end
	}
	t.origins = origins{t.origins.objects[:0], t.origins.bytes[:0]}
	return nil
}
