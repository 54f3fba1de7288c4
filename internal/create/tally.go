package create

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// MaxNamed is the maximum number of objects that a Tally names for each reason, such as an unknown outcome.
const MaxNamed = 10

// Totals is the number of objects by their outcome.
type Totals map[protocol.Outcome]int

// Of returns the number of objects with one of the outcomes.
func (t Totals) Of(outcomes ...protocol.Outcome) (n int) {
	for _, is := range outcomes {
		n += t[is]
	}
	return n
}

// Began reports whether at least one object exists or might exist.
func (t Totals) Began() bool {
	return t.Of(protocol.Created, protocol.Found, Renamed, protocol.Unknown) > 0
}

// Objects returns the number of objects, without those of a client's dry run.
func (t Totals) Objects() (n int) {
	for _, count := range t {
		n += count
	}
	return n
}

// Tally sums up the outcomes of a run. The zero value of a Tally is ready for use.
type Tally struct {
	Totals

	Rest  Remainder // the objects that failed or were not attempted
	Maybe Remainder // without a key: the objects that might exist
	// Unverified reports that an earlier copy of a request might have created an object that failed.
	Unverified bool
	// Again counts the objects of a run without a key that the same command would create a second time.
	Again int
	// Unknowns are the first outcomes that are unknown, without a key.
	Unknowns []Outcome
	// Holders and OtherIDs are for runs with a key. Holders are outcomes where an object without a creation ID has
	// the name. OtherIDs are outcomes where an object with the run's label, but another creation ID, has the name.
	Holders, OtherIDs []Outcome
	// Clash has objects that this run was to create, and that a concurrent run with other content created.
	Clash Clash
}

// Add adds an outcome.
func (t *Tally) Add(c Config, o Outcome) {
	if c.DryRun != NoDryRun && o.Outcome == protocol.Unknown { // nothing exists
		o.Outcome = protocol.Failed
	}
	if t.Totals == nil {
		t.Totals = Totals{}
	}
	if o.Outcome != Shown {
		t.Totals[o.Outcome] += max(1, o.Copies)
	}
	t.Unverified = t.Unverified || o.unverified()
	switch o.Outcome {
	case protocol.Created:
		t.countAgain(o)
	case Renamed:
		t.Again++ // even if the object has another name then
	case protocol.Unknown:
		t.countAgain(o)
		t.hold(c, o)
		if c.Key == "" {
			t.Maybe.add(o, 1)
			if len(t.Unknowns) < MaxNamed {
				t.Unknowns = append(t.Unknowns, o)
			}
		}
	case protocol.Failed:
		t.Rest.add(o, 1)
		t.hold(c, o)
	case NotAttempted:
		t.Rest.add(o, o.Copies)
	}
}

func (t *Tally) countAgain(o Outcome) {
	if o.Document.Object.GetName() == "" {
		t.Again++
	}
}

// hold records an outcome in which an existing object has the name and might belong to this run. It has no
// creation ID, or it has the run's label, or it has the ID and other content.
func (t *Tally) hold(c Config, o Outcome) {
	object := o.Object
	if object == nil || object.GetName() != o.Name || c.Key == "" {
		return
	}
	switch id := object.GetAnnotations()[exactlyonce.Annotation]; {
	case id != "" && id == o.ID.String():
		t.Clash.add(o.Document.place(), o.Name)
	case len(t.Holders)+len(t.OtherIDs) >= MaxNamed:
	case id == "":
		t.Holders = append(t.Holders, o)
	case object.GetLabels()[exactlyonce.RunLabel] == c.Key.RunLabel():
		t.OtherIDs = append(t.OtherIDs, o)
	}
}

// Remainder is the part of a run's input that was not created. Remainder has no numbers of documents, because users
// count the documents of a file differently.
type Remainder struct {
	Left   int
	shares []Share       // one for each object and source
	index  map[Share]int // index of a share by its object and source
}

// Share is the rest of similar documents of one source.
type Share struct {
	Object, Source string // Object is an argument of kubectl
	First, Left    int    // the number of the first document, and the number of objects
}

// maxShares is the largest number of different shares that a remainder keeps.
const maxShares = 64

func (r *Remainder) add(o Outcome, n int) {
	d := o.Document
	if r.index == nil {
		r.index = map[Share]int{}
	}
	r.Left += n
	key := Share{Object: d.Argument(""), Source: d.Source}
	at, ok := r.index[key]
	switch {
	case ok:
		r.shares[at].Left += n
		r.shares[at].First = min(r.shares[at].First, o.Number)
	case len(r.shares) < maxShares:
		r.index[key] = len(r.shares)
		r.shares = append(r.shares, Share{key.Object, key.Source, o.Number, n})
	}
}

// Shares returns the first shares in the order of the input. The others are in Left only.
func (r *Remainder) Shares() []Share {
	shares := slices.SortedFunc(slices.Values(r.shares), func(a, b Share) int { return cmp.Compare(a.First, b.First) })
	return shares[:min(len(shares), MaxNamed)]
}
