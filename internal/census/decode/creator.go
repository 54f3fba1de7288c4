package decode

import (
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Creator is the creator of an object. It is the controller, or a field manager if there is no controller.
type Creator struct {
	APIVersion, Kind, Name string // reference to the controller

	// Manager is the field manager that created the object, also beside a controller.
	Manager string
	// Certain is true for a controller, and for a Manager that owns the object's generateName. It is false if
	// Manager is only the manager of the oldest entry of managedFields.
	Certain bool
}

// creator returns the first controller of an object, and the manager that created it.
func (d *decoder) creator(owners []Owner, managed []metav1.ManagedFieldsEntry) Creator {
	creator := d.manager(managed)
	for _, o := range owners {
		if o.Controller && o.Kind != "" {
			creator.APIVersion, creator.Kind, creator.Name, creator.Certain = o.APIVersion, o.Kind, o.Name, true
			return creator
		}
	}
	return creator
}

// manager returns the first manager that owns generateName, or the oldest manager. Of managers with equal times,
// it returns the first.
func (d *decoder) manager(managed []metav1.ManagedFieldsEntry) Creator {
	var oldest *metav1.ManagedFieldsEntry
	for i := range managed {
		entry := &managed[i]
		if entry.Manager == "" || entry.Subresource != "" {
			continue
		}
		if entry.FieldsV1 != nil && d.ownsGenerateName(entry.FieldsV1.GetRawBytes()) {
			return Creator{Manager: head(entry.Manager), Certain: true}
		}
		if oldest == nil || !entry.Time.IsZero() && (oldest.Time.IsZero() || entry.Time.Before(oldest.Time)) {
			oldest = entry
		}
	}
	if oldest == nil {
		return Creator{}
	}
	return Creator{Manager: head(oldest.Manager)}
}

// maxOwns is the number of results of ownsGenerateName that are kept, and maxFields the length of a FieldsV1 up to
// which its result is kept.
const maxOwns, maxFields = 256, 4 << 10

// ownsGenerateName reports whether a FieldsV1 contains metadata.generateName. It remembers results, because most
// objects of a list have equal FieldsV1.
func (d *decoder) ownsGenerateName(fields []byte) bool {
	if !bytes.Contains(fields, []byte(`"f:generateName"`)) {
		return false
	}
	if owns, known := d.owns[string(fields)]; known {
		return owns
	}
	var parsed struct {
		Metadata map[string]json.RawMessage `json:"f:metadata"`
	}
	err := json.Unmarshal(fields, &parsed)
	_, owns := parsed.Metadata["f:generateName"]
	owns = owns && err == nil
	if len(fields) <= maxFields {
		if d.owns == nil || len(d.owns) == maxOwns {
			d.owns = map[string]bool{}
		}
		d.owns[string(fields)] = owns
	}
	return owns
}
