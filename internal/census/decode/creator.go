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

// creator returns the controller and the field manager that created the current object. An owner that has the same name
// as the object counts as its controller. Cilium gives a CiliumEndpoint such an owner, its Pod.
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

// manager returns the first manager that owns generateName. If there is none, it returns the manager with the oldest
// entry. If several managers have that time, it returns the first of them.
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

// maxOwns is the number of results of ownsGenerateName that the decoder keeps. The decoder keeps no result for a
// FieldsV1 of more than maxFields bytes.
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
