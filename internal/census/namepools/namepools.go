// Package namepools finds the name pools among the objects of one list, and tallies the names in each. It
// owns the rules for name pools that count. It counts a sorted list in one walk (stems.go), and any
// list in several walks (sweep.go). It knows no server and no types. It drops objects at once, so its
// memory grows neither with the objects nor with the name pools.
package namepools

import (
	"cmp"
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// ID identifies a name pool within one resource type.
type ID struct {
	Namespace, Prefix string
	SuffixLength      int
}

// compare orders name pools in the order of storage.
func (a ID) compare(b ID) int {
	return cmp.Or(
		StorageOrder(a.Namespace, a.Prefix, b.Namespace, b.Prefix),
		cmp.Compare(a.SuffixLength, b.SuffixLength),
	)
}

// server returns the ID of a name pool with the suffix length of server-generated names.
func server(namespace, prefix string) ID { return ID{namespace, prefix, names.SuffixLength} }

// StorageOrder compares two objects in the order of storage, by the bytes of "namespace/name". This is
// not the order of namespaces: "a-b/" comes before "a/".
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

// Emit receives a counted name pool. The tally is reused afterwards.
type Emit func(ID, *Tally)

// Count holds the counts of a list, without its name pools.
type Count struct {
	Objects  int64
	Prefixed int64 // objects in name pools that count, chosen or not
	Pools    int64 // name pools that count, chosen or not
	// Uncounted is the number of objects with a generateName whose prefix was not counted.
	Uncounted int64
}

// add adds a name pool that counts.
func (c *Count) add(t *Tally) {
	c.Prefixed += t.Names
	c.Pools++
}

// Rules decide which name pools count. Selector must choose a name pool, and there must be a reason to
// count it: a generateName has its prefix, Prefixes has it, or the evidence shows a client's
// generator. Only a sorted list has this evidence.
type Rules struct {
	Since    []int64         // Unix seconds from which an object is recent, at most MaxWindows
	Selector labels.Selector // chooses prefixes; nil chooses all
	Prefixes map[string]bool // count even if no generateName has them

	// MinCount is the number of names from which a prefix without a generateName can be evident. It is 10
	// at least.
	MinCount int64

	// FoldBelow is the number of names below which the controllers of all objects are read, for
	// Tally.OwnerKind. 0 means never.
	FoldBelow int64

	AtOnce int // number of name pools per sweep, which limits its memory

	// All also emits name pools that don't count or that Selector does not choose, with Tally.Extra set.
	// Only a walk in order finds them.
	All bool
}

// Of returns two name pools with the suffix length of servers, which are mostly equal. in is the name
// pool of o's name, and declared is the name pool of its generateName. Each is empty if there is none.
func Of(o *decode.Object) (in, declared ID) {
	if prefix, _, ok := names.Split(o.Name); ok {
		in = server(o.Namespace, prefix)
	}
	if o.GenerateName != "" {
		declared = server(o.Namespace, names.EffectivePrefix(o.GenerateName))
	}
	return in, declared
}

// Long returns the name pool with a longer suffix to which o belongs, and reports whether there is
// one.
func Long(o *decode.Object) (ID, bool) {
	prefix, length, ok := longSuffix(o)
	return ID{o.Namespace, prefix, length}, ok && o.HasCreationID
}

// MayBeLong reports whether the result of Long depends on o.HasCreationID.
func MayBeLong(o *decode.Object) bool {
	_, _, ok := longSuffix(o)
	return ok
}

// MemberOf returns a hash of an object, as a member of a name pool with longer suffixes.
func MemberOf(o *decode.Object) uint64 {
	return maphash.Comparable(seed, [2]string{o.Namespace, o.Name})
}

// chooses reports whether the selector chooses the prefixes of o.
func (r *Rules) chooses(o *decode.Object) bool {
	return r.Selector == nil || r.Selector.Matches(labels.Set(o.Labels))
}
