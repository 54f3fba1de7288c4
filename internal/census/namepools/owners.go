package namepools

import (
	"hash/maphash"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// owners are the controllers of the objects of a small name pool.
type owners struct {
	first  decode.Creator // the controller of the first object
	hashes hashes         // of their names
	unlike bool           // an object has no controller, there are several kinds, or there are too many objects
}

// OwnerKind returns the kind of the controllers if each object has one, all have one kind, and there
// are fewer objects than Rules.FoldBelow. Otherwise it returns "".
func (t *Tally) OwnerKind() string {
	if t.owners.unlike {
		return ""
	}
	return t.owners.first.Kind
}

// Owners returns hashes of these controllers, or nil if OwnerKind is empty. They are valid until Emit
// returns.
func (t *Tally) Owners() []uint64 {
	if t.OwnerKind() == "" {
		return nil
	}
	return t.owners.hashes
}

// wantsOwner reports whether the controller of the next object matters.
func (t *Tally) wantsOwner(r *Rules) bool { return !t.owners.unlike && t.Names+1 < r.FoldBelow }

// addOwner records the controller of an object before the object is added.
func (t *Tally) addOwner(r *Rules, o *decode.Object) {
	if !t.wantsOwner(r) {
		t.owners.unlike = true
		return
	}
	owner, all := o.Creator, &t.owners
	if t.Names == 0 {
		all.first = owner
	}
	if owner.Kind == "" || owner.Kind != all.first.Kind || owner.APIVersion != all.first.APIVersion {
		all.unlike = true
		return
	}
	all.hashes.add(hashOf(o.Namespace, owner.APIVersion, owner.Kind, owner.Name), int(r.FoldBelow))
}

// hashOf returns a hash of texts.
func hashOf(texts ...string) uint64 {
	var hash maphash.Hash
	hash.SetSeed(seed)
	for _, text := range texts {
		_, _ = hash.WriteString(text)
		_ = hash.WriteByte(0)
	}
	return hash.Sum64()
}
