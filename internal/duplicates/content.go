package duplicates

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
)

// content is the part of an object that its creator wrote.
type content struct {
	hash    uint64
	manager string   // empty without managedFields
	fields  int      // number of fields that the manager owns
	of      []string // their top-level fields
}

// contentOf returns the content of an object: the fields that the creating manager owns. Without
// managedFields it is everything except metadata and status. The object's own name and UID are
// replaced by the same text in all objects. Clients write managedFields, so an object whose fields
// can't be compared is an error.
func contentOf(seed maphash.Seed, object *unstructured.Unstructured) (content, error) {
	var h maphash.Hash
	h.SetSeed(seed)
	own := placeholders(object)
	entry := creation(object.GetManagedFields())
	if entry == nil {
		of := authored(object.Object)
		for _, field := range of {
			write(&h, own, field, object.Object[field])
		}
		return content{hash: h.Sum64(), of: of}, nil
	}
	var set fieldpath.Set
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return content{}, err
	}
	c := content{manager: entry.Manager}
	of := map[string]bool{}
	for path := range set.Leaves().All() {
		if isCreationID(path) {
			continue
		}
		if !isOfObject(path) {
			return content{}, fmt.Errorf("%s is no field of an object", path)
		}
		of[*path[0].FieldName] = true
		c.fields++
		found, _ := at(object.Object, path)
		write(&h, own, path.String(), found)
	}
	c.of, c.hash = slices.Sorted(maps.Keys(of)), h.Sum64()
	return c, nil
}

// isOfObject reports whether a path begins with a field and has no negative index.
func isOfObject(path fieldpath.Path) bool {
	return len(path) > 0 && path[0].FieldName != nil &&
		!slices.ContainsFunc(path, func(e fieldpath.PathElement) bool { return e.Index != nil && *e.Index < 0 })
}

// write adds a field and its value to a hash.
func write(h *maphash.Hash, own *strings.Replacer, field string, v any) {
	text, _ := json.Marshal(v) // v was decoded from JSON
	_, _ = h.WriteString(own.Replace(field))
	_ = h.WriteByte(0)
	_, _ = h.WriteString(own.Replace(string(text)))
	_ = h.WriteByte(0)
}

// placeholders replaces the name and the UID, which differ in equal objects.
func placeholders(object *unstructured.Unstructured) *strings.Replacer {
	own := []string{object.GetName(), "\x00name"}
	if uid := string(object.GetUID()); uid != "" {
		own = append(own, uid, "\x00uid")
	}
	return strings.NewReplacer(own...)
}

// authored returns the sorted fields that authors write.
func authored(object map[string]any) []string {
	fields := slices.Sorted(maps.Keys(object))
	return slices.DeleteFunc(fields, func(field string) bool {
		return field == "apiVersion" || field == "kind" || field == "metadata" || field == "status"
	})
}

// isCreationID reports whether a path is that of the creation ID, which is compared separately.
func isCreationID(path fieldpath.Path) bool {
	names := []string{"metadata", "annotations", exactlyonce.Annotation}
	return len(path) == len(names) && slices.EqualFunc(path, names, func(e fieldpath.PathElement, name string) bool {
		return e.FieldName != nil && *e.FieldName == name
	})
}

// creation returns the managedFields entry of the create: the entry that owns generateName, or the
// oldest. It ignores entries of subresources like status. It returns nil if there is no entry.
func creation(entries []metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	var oldest *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		if ownsGenerateName(entry.FieldsV1) {
			return entry
		}
		if oldest == nil || entry.Time.Before(oldest.Time) {
			oldest = entry
		}
	}
	return oldest
}

func ownsGenerateName(fields *metav1.FieldsV1) bool {
	var owned struct {
		Metadata map[string]json.RawMessage `json:"f:metadata"`
	}
	if json.Unmarshal(fields.GetRawBytes(), &owned) != nil {
		return false
	}
	_, owns := owned.Metadata["f:generateName"]
	return owns
}

// at returns the value at a path of managedFields.
func at(in any, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		var ok bool
		if in, ok = step(in, element); !ok {
			return nil, false
		}
	}
	return in, true
}

func step(in any, element fieldpath.PathElement) (any, bool) {
	if element.FieldName != nil {
		object, _ := in.(map[string]any)
		v, ok := object[*element.FieldName]
		return v, ok
	}
	list, _ := in.([]any)
	if element.Index != nil {
		if *element.Index < len(list) {
			return list[*element.Index], true
		}
		return nil, false
	}
	for _, item := range list {
		if isElement(item, element) {
			return item, true
		}
	}
	return nil, false
}

// isElement reports whether an item of a list is the item of a path: it has these keys, or this value.
func isElement(item any, element fieldpath.PathElement) bool {
	if element.Value != nil {
		return value.Equals(value.NewValueInterface(item), *element.Value)
	}
	fields, _ := item.(map[string]any)
	for _, key := range *element.Key {
		if v, ok := fields[key.Name]; !ok || !value.Equals(value.NewValueInterface(v), key.Value) {
			return false
		}
	}
	return true
}

// failedAt returns when an object failed, or 0. The time is the latest one in its status. Objects
// created after that are intended retries.
func failedAt(object *unstructured.Unstructured) uint32 {
	if status, known := finished.Of(object); !known || status.State != finished.Failed {
		return 0
	}
	return latest(object.Object["status"])
}

// latest returns the latest time in a value, in Unix seconds, or 0.
func latest(v any) (last uint32) {
	switch v := v.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return uint32(at.Unix())
		}
	case []any:
		for _, item := range v {
			last = max(last, latest(item))
		}
	case map[string]any:
		for _, item := range v {
			last = max(last, latest(item))
		}
	}
	return last
}

// state returns the state of an object in one word, if its status has one.
func state(object *unstructured.Unstructured) string {
	if status, known := finished.Of(object); known {
		return cmp.Or(status.Word, string(status.State))
	}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return phase
}
