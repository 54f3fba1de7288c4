// Package object describes an object that the census has decoded: its name, owners and creator, and the name pool to
// which it belongs. The package knows no server, and no format of responses.
package object

import (
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Object holds the fields that the census reads of one object.
type Object struct {
	Namespace, Name string
	// GenerateName ends after 4 KiB. Then a hash follows, so that GenerateName differs from all others, and from the
	// prefixes that users name.
	GenerateName string

	Created int64 // Unix seconds, or 0 if unknown
	Labels  map[string]string

	Creator       Creator
	HasCreationID bool // it has a creation ID, which can be empty
	Identity

	// Raw is the whole object in JSON if decode.Asked.Whole is set. Raw is valid until visit returns.
	Raw []byte
}

// Identity holds the fields that identify an object, and its owners.
type Identity struct {
	UID, ResourceVersion string

	CreationID string // the value of the creation ID annotation
	Deleting   bool   // a deletionTimestamp is set
	Owners     []Owner
}

// Owner is an entry of ownerReferences.
type Owner struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool
}

// Creator is the creator of an object. Creator is the controller, or a field manager if there is no controller.
type Creator struct {
	APIVersion, Kind, Name string // reference to the controller

	// Manager is the field manager that created the object, also beside a controller.
	Manager string
	// Certain is true for a controller, and for a Manager that owns the object's generateName. Certain is false if
	// Manager is only the manager of the oldest entry of managedFields.
	Certain bool
}

// PoolOf returns the effective prefix of the pool to which an object belongs. The prefix is empty if the object
// belongs to no pool. generated reports whether the name was generated from the object's generateName.
func PoolOf(o *Object) (prefix string, generated bool) {
	if derive.GeneratedFrom(o.Name, o.GenerateName) {
		return names.EffectivePrefix(o.GenerateName), true
	}
	prefix, _, _ = names.Split(o.Name)
	return prefix, false
}
