package decode

import (
	gojson "encoding/json"

	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/json"
)

// Identity holds the fields that identify an object, and its owners.
type Identity struct {
	UID        string
	CreationID string // the value of the creation ID annotation
	Deleting   bool   // a deletionTimestamp is set
	Owners     []Owner
}

// Owner is an entry of ownerReferences.
type Owner struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool
}

// Fields of ObjectMeta and OwnerReference that only Identity needs.
const (
	metaUID               protowire.Number = 5
	metaDeletionTimestamp protowire.Number = 9
	ownerUID              protowire.Number = 4
)

// identity reads a field of Identity.
func (d *decoder) identity(w *wire, f field, before *Object) error {
	o := &d.object
	switch f.number {
	case metaUID:
		return w.string(f, maxString, &o.UID, "")
	case metaDeletionTimestamp:
		o.Deleting = true
	case metaAnnotations:
		return d.creationID(w, f)
	case metaOwnerReferences:
		return d.ownedBy(w, f, before)
	}
	return nil
}

// creationID reads an annotation, and keeps it if it is the creation ID.
func (d *decoder) creationID(w *wire, f field) error {
	is := false
	return w.message(f, func(f field) error {
		switch {
		case f.number == entryKey:
			key, err := w.head(f, len(creationID)+1)
			is = string(key) == creationID
			return err
		case f.number == entryValue && is:
			return w.beginning(f, &d.object.CreationID, "")
		}
		return nil
	})
}

// ownedBy reads an owner reference. It reuses the strings of the previous object, whose owners are
// mostly equal.
func (d *decoder) ownedBy(w *wire, f field, before *Object) error {
	var owner, guess Owner
	if at := len(d.object.Owners); at < len(before.Owners) {
		guess = before.Owners[at]
	}
	err := w.message(f, func(f field) (err error) {
		switch f.number {
		case ownerKind:
			err = w.beginning(f, &owner.Kind, guess.Kind)
		case ownerName:
			err = w.beginning(f, &owner.Name, guess.Name)
		case ownerAPIVersion:
			err = w.beginning(f, &owner.APIVersion, guess.APIVersion)
		case ownerUID:
			err = w.beginning(f, &owner.UID, guess.UID)
		case ownerController:
			owner.Controller = f.value != 0
		}
		return err
	})
	d.object.Owners = append(d.object.Owners, owner)
	return err
}

// jsonIdentity reads the identity from metadata.
func (d *decoder) jsonIdentity(meta *jsonMeta) error {
	o := &d.object
	o.UID, o.Deleting = meta.UID, meta.DeletionTimestamp != ""
	if len(meta.Annotations) > 0 {
		var annotations map[string]gojson.RawMessage
		if err := json.UnmarshalCaseSensitivePreserveInts(meta.Annotations, &annotations); err != nil {
			return malformedJSON(err)
		}
		var id string
		if raw := annotations[creationID]; len(raw) > 0 {
			if err := json.UnmarshalCaseSensitivePreserveInts(raw, &id); err != nil {
				return malformedJSON(err)
			}
		}
		o.CreationID = head(id)
	}
	if len(meta.OwnerReferences) == 0 {
		return nil
	}
	var owners []struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		UID        string `json:"uid"`
		Controller bool   `json:"controller"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(meta.OwnerReferences, &owners); err != nil {
		return malformedJSON(err)
	}
	for _, from := range owners {
		o.Owners = append(o.Owners, Owner{
			head(from.APIVersion), head(from.Kind), head(from.Name), head(from.UID), from.Controller,
		})
	}
	return nil
}
