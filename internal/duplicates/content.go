package duplicates

import (
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
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// content is the data that the second pass keeps of an object.
type content struct {
	hash    uint64   // hash of the fields that the creator wrote
	manager string   // empty without managedFields
	fields  int      // number of fields that the manager owns
	of      []string // their top-level fields

	prefix string
	uid    string
	owners []metav1.OwnerReference
	failed uint32            // when it failed, in Unix seconds, or 0
	state  string            // its status in one word; empty if there is none
	status map[string]uint64 // hashes of the fields of its status
}

// contentOf returns the content of an object. contentOf hashes the fields that the creating field manager owns.
// Without managedFields, contentOf hashes everything except metadata and status. In both cases, contentOf replaces
// the object's name and UID by a fixed text. Clients can write any managedFields, so contentOf returns an error if
// they can't be read.
func contentOf(seed maphash.Seed, object *unstructured.Unstructured) (*content, error) {
	manager, owned, err := creation(object.GetManagedFields())
	if err != nil {
		return nil, err
	}
	c := &content{
		manager: manager, prefix: names.EffectivePrefix(object.GetGenerateName()),
		uid: string(object.GetUID()), owners: object.GetOwnerReferences(),
		failed: failedAt(object), state: state(object), status: map[string]uint64{},
	}
	status, _ := object.Object["status"].(map[string]any)
	for field, v := range status {
		text, _ := json.Marshal(v) // v was decoded from JSON
		c.status[field] = maphash.Bytes(seed, text)
	}
	if err := c.read(seed, object, owned); err != nil {
		return nil, err
	}
	return c, nil
}

// read hashes the owned fields of an object, or all of them if owned is nil.
func (c *content) read(seed maphash.Seed, object *unstructured.Unstructured, owned *fieldpath.Set) error {
	var h maphash.Hash
	h.SetSeed(seed)
	own := placeholders(object)
	if owned == nil {
		c.of = authored(object.Object)
		for _, field := range c.of {
			write(&h, own, field, object.Object[field])
		}
		c.hash = h.Sum64()
		return nil
	}
	of := sets.Set[string]{}
	var invalid error
	for path := range owned.Leaves().All() { // All panics if the loop ends early
		switch {
		case invalid != nil, path.Equals(creationIDPath): // the ID is compared separately
			continue
		case !isOfObject(path):
			invalid = fmt.Errorf("%s is no field of an object", path)
			continue
		}
		of.Insert(*path[0].FieldName)
		c.fields++
		write(&h, own, path.String(), at(object.Object, path))
	}
	c.of, c.hash = sets.List(of), h.Sum64()
	return invalid
}

var (
	creationIDPath   = fieldpath.MakePathOrDie("metadata", "annotations", exactlyonce.Annotation)
	generateNamePath = fieldpath.MakePathOrDie("metadata", "generateName")
)

func isOfObject(path fieldpath.Path) bool {
	return len(path) > 0 && path[0].FieldName != nil &&
		!slices.ContainsFunc(path, func(e fieldpath.PathElement) bool { return e.Index != nil && *e.Index < 0 })
}

func write(h *maphash.Hash, own *strings.Replacer, field string, v any) {
	text, _ := json.Marshal(v) // v was decoded from JSON
	_, _ = h.WriteString(own.Replace(field))
	_ = h.WriteByte(0)
	_, _ = h.WriteString(own.Replace(string(text)))
	_ = h.WriteByte(0)
}

func placeholders(object *unstructured.Unstructured) *strings.Replacer {
	own := []string{object.GetName(), "\x00name"}
	if uid := string(object.GetUID()); uid != "" {
		own = append(own, uid, "\x00uid")
	}
	return strings.NewReplacer(own...)
}

func authored(object map[string]any) []string {
	fields := slices.Sorted(maps.Keys(object))
	return slices.DeleteFunc(fields, func(field string) bool {
		return field == "apiVersion" || field == "kind" || field == "metadata" || field == "status"
	})
}

// creation returns the field manager that created the object, and the fields that it owns. These fields are in the
// entry that owns generateName, or in the oldest entry. Entries of subresources such as status are ignored. Without
// an entry, the fields are nil.
func creation(entries []metav1.ManagedFieldsEntry) (manager string, owned *fieldpath.Set, err error) {
	var oldest *metav1.Time
	for _, entry := range entries {
		if entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return "", nil, err
		}
		if set.Has(generateNamePath) {
			return entry.Manager, set, nil
		}
		if owned == nil || entry.Time.Before(oldest) {
			manager, owned, oldest = entry.Manager, set, entry.Time
		}
	}
	return manager, owned, nil
}

// at returns the value at a path of managedFields, or nil.
func at(in any, path fieldpath.Path) any {
	for _, element := range path {
		in = step(in, element)
	}
	return in
}

func step(in any, element fieldpath.PathElement) any {
	if element.FieldName != nil {
		object, _ := in.(map[string]any)
		return object[*element.FieldName]
	}
	list, _ := in.([]any)
	for i, item := range list {
		if element.Index != nil && *element.Index == i || element.Index == nil && isElement(item, element) {
			return item
		}
	}
	return nil
}

// isElement reports whether an item of a list is the one that a path names, by its keys or by its value.
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
	object.EachText(v, func(text string) {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			last = max(last, uint32(at.Unix()))
		}
	})
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
