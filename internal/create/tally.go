package create

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// MaxNamed is the number of objects of one kind that a Tally names.
const MaxNamed = 10

// Totals count the objects of a run by outcome.
type Totals struct {
	Created, Existed, Failed, Unknown, NotAttempted int

	Renamed int // number of Created objects that were renamed
}

// Objects returns the number of objects.
func (t Totals) Objects() int { return t.Created + t.Existed + t.Failed + t.Unknown + t.NotAttempted }

// Tally sums up the outcomes of a run. The zero value of a Tally is ready for use.
type Tally struct {
	Totals

	Rest  Remainder // the objects that failed or were not attempted
	Maybe Remainder // without a key: the objects that might exist
	// Unverified reports that an earlier copy of a request might have created an object that failed.
	Unverified bool
	// Begun are the sources with at least one object that exists or might exist.
	Begun map[string]bool
	// Again counts the objects that the same command without a key would create a second time.
	Again int
	// Unknowns are the first outcomes that are unknown, without a key.
	Unknowns []Outcome
	// Holders and OtherIDs are for runs with a key. Holders are outcomes where an object without a creation ID has
	// the name. OtherIDs are outcomes where an object of the run has another creation ID than the run sent.
	Holders, OtherIDs []Outcome
}

// Add adds an outcome.
func (t *Tally) Add(c Config, o Outcome) {
	t.Unverified = t.Unverified || o.unverified()
	switch o.Kind {
	case Created:
		t.Created++
		t.begin(o)
	case Existed:
		t.Existed++
		t.exists(o)
	case Renamed:
		t.Created++
		t.Renamed++
		t.exists(o)
		t.Again++ // whatever its name
	case Unknown:
		t.addUnknown(c, o)
	case Failed:
		t.Failed++
		t.Rest.leave(o, 1)
		t.hold(c, o)
	case NotAttempted:
		t.NotAttempted += o.Copies
		t.Rest.leave(o, o.Copies)
	}
}

// addUnknown adds an object that may exist. In a dry run nothing exists, so it is a failure.
func (t *Tally) addUnknown(c Config, o Outcome) {
	if c.DryRun != NoDryRun {
		t.Failed++
		return
	}
	t.Unknown++
	t.begin(o)
	t.hold(c, o)
	if c.Key != "" {
		return
	}
	t.Maybe.leave(o, 1)
	if len(t.Unknowns) < MaxNamed {
		t.Unknowns = append(t.Unknowns, o)
	}
}

func (t *Tally) begin(o Outcome) {
	t.exists(o)
	if o.Document.Object.GetName() == "" {
		t.Again++
	}
}

func (t *Tally) exists(o Outcome) {
	if t.Begun == nil {
		t.Begun = map[string]bool{}
	}
	t.Begun[o.Document.Source] = true
}

// hold records an outcome in which an existing object has the name, and might belong to this run: the object has no
// creation ID, or it has the run's label.
func (t *Tally) hold(c Config, o Outcome) {
	object := o.Result.Object
	if object == nil || object.GetName() != o.Result.Name || c.Key == "" || len(t.Holders)+len(t.OtherIDs) >= MaxNamed {
		return
	}
	switch id := object.GetAnnotations()[exactlyonce.Annotation]; {
	case id == "":
		t.Holders = append(t.Holders, o)
	case id != o.ID.String() && object.GetLabels()[exactlyonce.RunLabel] == c.Key.RunLabel():
		t.OtherIDs = append(t.OtherIDs, o)
	}
}

// Remainder is the part of a run's input that was not created. Remainder has no numbers of documents, because users
// count the documents of a file differently.
type Remainder struct {
	Left   int
	shares []Share        // one for each object and source
	index  map[Share]int  // index of a share by its object and source
	files  map[string]int // number of the first remaining document, by source
}

// Share is the rest of similar documents of one source.
type Share struct {
	Object, Source string // Object is an argument of kubectl
	First, Left    int    // the number of the first document, and the number of objects
}

// maxShares is the largest number of different shares that a remainder keeps.
const maxShares = 64

// leave adds n copies of a document.
func (r *Remainder) leave(o Outcome, n int) {
	d := o.Document
	if r.index == nil {
		r.files, r.index = map[string]int{}, map[Share]int{}
	}
	r.Left += n
	if first, ok := r.files[d.Source]; !ok || o.Number < first {
		r.files[d.Source] = o.Number
	}
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

// Whole returns the sources that have uncreated documents, in the order of the input. Whole returns none unless all
// of these sources are files, and no object of them is in begun.
func (r *Remainder) Whole(begun map[string]bool) (files []string) {
	for source := range r.files {
		if begun[source] || source == "STDIN" {
			return nil
		}
		files = append(files, source)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(r.files[a], r.files[b]) })
	return files
}
