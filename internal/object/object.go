// Package object describes an object that the census has decoded, with its name, owners and creator, and the name pool
// to which it belongs. The package reads no responses, and sends no requests.
package object

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/stem"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Object holds those fields of an object that the census reads.
type Object struct {
	Namespace, Name string
	// GenerateName has at most 4 KiB of a longer generateName, followed by a hash. The hash makes it differ from all
	// others, and from the prefixes that users name.
	GenerateName string

	Created int64 // Unix seconds, or 0 if unknown
	Labels  map[string]string
	Job     JobRef // the Job in the labels, if decode.Options.Job is set

	Deleted    int64 // when the deletion was requested, in Unix seconds, or 0 if unknown
	Finalizers []string

	Creator       Creator
	HasCreationID bool // the object has a creation ID, which can be empty
	Identity

	// Raw is the whole object in JSON if decode.Options.Raw is set. Raw is valid until visit returns.
	Raw []byte
}

// Identity holds the fields that identify an object, and the object's owners.
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

// JobRef is the Job to which the labels of a Pod refer. Its fields can be empty.
type JobRef struct{ Name, UID string }

// Label reads one label of a Pod. The Job controller sets each label of a Job twice, with and without a prefix. The
// form without a prefix is older. Label ignores other labels, and allocates no memory for them.
func (j *JobRef) Label(key, value []byte) {
	switch string(key) {
	case batchv1.JobNameLabel:
		j.Name = string(value)
	case batchv1.ControllerUidLabel:
		j.UID = string(value)
	case "job-name":
		j.Name = cmp.Or(j.Name, string(value))
	case "controller-uid":
		j.UID = cmp.Or(j.UID, string(value))
	}
}

// HasController reports whether one of the owners is the controller of the object.
func (o *Object) HasController() bool {
	return slices.ContainsFunc(o.Owners, func(owner Owner) bool { return owner.Controller })
}

// FormerJob returns the Job of a Pod that has no controller. If this Job doesn't exist, the Pod is orphaned.
func (o *Object) FormerJob() (job JobRef, ok bool) {
	return o.Job, o.Job.Name != "" && o.Job.UID != "" && !o.HasController()
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

// Naming describes how the names in a pool were made.
type Naming string

// These are the values of Naming. pkg/api/v1alpha1 has the same values.
const (
	FromGenerateName Naming = "generateName"
	ByClient         Naming = "client" // a client might have generated the name as a server does
	ByStem           Naming = "stem"   // the name ends in a number, a time, a hash or a revision
	Fixed            Naming = "none"
)

// PoolOf returns the prefix of the pool to which an object belongs. The prefix is the effective prefix of its
// generateName, its stem, or its name without the last five characters. If naming is Fixed, the object belongs to no
// pool, and the prefix is empty.
func PoolOf(o *Object) (prefix string, naming Naming) {
	if derive.GeneratedFrom(o.Name, o.GenerateName) {
		return names.EffectivePrefix(o.GenerateName), FromGenerateName
	}
	s := stem.Of(o.Name)
	if s.Prefix != "" {
		return s.Prefix, ByStem
	}
	if prefix, _, ok := names.Split(o.Name); ok && s.Kind == stem.None {
		return prefix, ByClient
	}
	return "", Fixed
}

// EachText calls visit with each string in a JSON value, and with each key.
func EachText(value any, visit func(text string)) {
	switch v := value.(type) {
	case string:
		visit(v)
	case []any:
		for _, item := range v {
			EachText(item, visit)
		}
	case map[string]any:
		for key, item := range v {
			visit(key)
			EachText(item, visit)
		}
	}
}
