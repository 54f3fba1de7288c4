package decode

import (
	"bytes"
	"encoding/json"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// managed is an entry of managedFields.
type managed struct {
	manager, subresource string
	at                   int64  // Unix seconds, or 0 if unknown
	fields               []byte // its FieldsV1, valid until visit returns
}

// creator returns the first controller of the current object, and the manager that created it. An owner with the name
// of the object counts as its controller, because Cilium names a CiliumEndpoint after its Pod, which isn't one.
func (d *decoder) creator() object.Creator {
	creator := d.manager()
	for _, o := range d.object.Owners {
		if (o.Controller || o.Name == d.object.Name) && o.Kind != "" {
			creator.APIVersion, creator.Kind, creator.Name, creator.Certain = o.APIVersion, o.Kind, o.Name, true
			return creator
		}
	}
	return creator
}

// manager returns the first manager that owns generateName, or the oldest manager. Of managers with equal times,
// it returns the first.
func (d *decoder) manager() object.Creator {
	var oldest *managed
	for i := range d.managed {
		entry := &d.managed[i]
		if entry.manager == "" || entry.subresource != "" {
			continue
		}
		if d.ownsGenerateName(entry.fields) {
			return object.Creator{Manager: head(entry.manager), Certain: true}
		}
		if oldest == nil || entry.at != 0 && (oldest.at == 0 || entry.at < oldest.at) {
			oldest = entry
		}
	}
	if oldest == nil {
		return object.Creator{}
	}
	return object.Creator{Manager: head(oldest.manager)}
}

// maxOwns is the number of results of ownsGenerateName that are kept, and maxFields the length of a FieldsV1 up to
// which its result is kept.
const maxOwns, maxFields = 256, 4 << 10

// ownsGenerateName reports whether a FieldsV1 contains metadata.generateName. ownsGenerateName remembers results,
// because most objects of a list have equal FieldsV1.
func (d *decoder) ownsGenerateName(fields []byte) bool {
	if owns, known := d.owns[string(fields)]; known {
		return owns
	}
	if !bytes.Contains(fields, []byte(`"f:generateName"`)) {
		return false
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
