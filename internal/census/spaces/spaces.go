// Package spaces finds the name spaces among the objects of one list and tallies
// what exists in each. It owns the rules of what counts, the count of a list in
// order (stems.go), and that of any list, some spaces at a time (sweep.go). It
// knows no server and no types; objects are dropped at once, so its memory grows
// neither with them nor with the spaces.
package spaces

import (
	"cmp"
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// ID names a space within one resource.
type ID struct {
	Namespace, Prefix string
	SuffixLength      int
}

// compare orders spaces as storage orders objects.
func (a ID) compare(b ID) int {
	return cmp.Or(
		StorageOrder(a.Namespace, a.Prefix, b.Namespace, b.Prefix),
		cmp.Compare(a.SuffixLength, b.SuffixLength),
	)
}

// server is the ID of a space of names as servers make them.
func server(namespace, prefix string) ID { return ID{namespace, prefix, names.SuffixLength} }

// StorageOrder compares two objects by the order in which storage has them, by
// the bytes of "namespace/name". That is not the order of namespaces: "a-b/"
// comes before "a/".
func StorageOrder(namespace1, name1, namespace2, name2 string) int {
	if namespace1 == namespace2 {
		return strings.Compare(name1, name2)
	}
	n := min(len(namespace1), len(namespace2))
	if c := strings.Compare(namespace1[:n], namespace2[:n]); c != 0 {
		return c
	}
	if len(namespace1) < len(namespace2) {
		return cmp.Compare('/', namespace2[n])
	}
	return cmp.Compare(namespace1[n], '/')
}

// Emit takes a space that has been counted. The tally is used again after it.
type Emit func(ID, *Tally)

// Count is what the objects of a list have come to, beside its spaces.
type Count struct {
	Objects  int64
	Prefixed int64 // of them, in spaces that count, chosen or not
	Spaces   int64 // that count, chosen or not
	// Uncounted are the objects that say a prefix which has not been counted.
	Uncounted int64
}

// add adds a space that counts.
func (c *Count) add(t *Tally) {
	c.Prefixed += t.Names
	c.Spaces++
}

// Rules are what is counted. A space counts if an object says its prefix, by
// generateName, or Prefixes has it, or its names evidently come from a client's
// generator, which only a list in order shows; and if Selector chooses it.
type Rules struct {
	Since    []int64         // Unix seconds from which an object is recent, at most MaxWindows
	Selector labels.Selector // of the prefixes; nil selects all
	Prefixes map[string]bool // count although nobody says them

	// MinCount is from how many names on a prefix that nobody says can be evident;
	// 10 at least.
	MinCount int64

	// CreatorsFrom is from how many names on it is of interest who made those of a
	// space: of fewer it is mostly not read, which saves time.
	CreatorsFrom int64

	// FoldBelow is below how many names the controllers of all objects of a space are read,
	// for Tally.OwnerKind; 0 for none.
	FoldBelow int64

	AtOnce int // how many spaces one sweep counts, which bounds its memory

	// All is whether spaces are emitted, too, that do not count, or that the
	// selector does not choose: those that a walk in order meets. Tally.Extra is
	// true for them.
	All bool
}

// Of returns the space of a server's names that the name of o is in, if it is in
// one, and the one that its generateName says, if it says one: mostly the same.
func Of(o *decode.Object) (in, said ID) {
	if prefix, _, ok := names.Split(o.Name); ok {
		in = server(o.Namespace, prefix)
	}
	if o.GenerateName != "" {
		said = server(o.Namespace, names.EffectivePrefix(o.GenerateName))
	}
	return in, said
}

// Long returns the space of names with a longer suffix that o is in, and reports
// whether there is one.
func Long(o *decode.Object) (ID, bool) {
	prefix, length, ok := longSuffix(o)
	return ID{o.Namespace, prefix, length}, ok && o.Marked
}

// MayBeLong reports whether Long depends on whether o is marked.
func MayBeLong(o *decode.Object) bool {
	_, _, ok := longSuffix(o)
	return ok
}

// MemberOf returns a hash of an object, as a member of a space of longer suffixes.
func MemberOf(o *decode.Object) uint64 {
	return maphash.Comparable(seed, [2]string{o.Namespace, o.Name})
}

// LabelKeys are the labels that the selector looks at.
func (r *Rules) LabelKeys() map[string]bool {
	if r.Selector == nil {
		return nil
	}
	requirements, _ := r.Selector.Requirements()
	keys := map[string]bool{}
	for _, requirement := range requirements {
		keys[requirement.Key()] = true
	}
	return keys
}

// creatorsFrom is from how many names on it is of interest who made them: also that is
// evidence.
func (r *Rules) creatorsFrom() int64 { return min(r.CreatorsFrom, max(r.MinCount, MinEvident)) }

// chooses reports whether the selector chooses the prefixes of o.
func (r *Rules) chooses(o *decode.Object) bool {
	return r.Selector == nil || r.Selector.Matches(labels.Set(o.Labels))
}
