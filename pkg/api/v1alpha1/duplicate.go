package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DuplicateGrade is how much evidence there is that a group was meant to be one
// object.
type DuplicateGrade string

const (
	// DuplicateConfirmed means that all objects have one creation ID and the same content.
	DuplicateConfirmed DuplicateGrade = "confirmed"
	// DuplicateLikely means that other objects refer to exactly one of a pair, or that one field manager created a pair
	// without owners.
	DuplicateLikely DuplicateGrade = "likely"
	// DuplicatePossible means that the objects are equal, without further evidence.
	DuplicatePossible DuplicateGrade = "possible"
)

// DuplicateReport is the report of kubectl genname duplicates. It has groups of objects that were probably meant to be
// one object.
type DuplicateReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata ReportMetadata   `json:"metadata"`
	Scope    DuplicateScope   `json:"scope"`
	Summary  DuplicateSummary `json:"summary"`
	// Items are the groups. Confirmed groups come first, then likely groups, then possible groups.
	Items []DuplicateItem `json:"items"`
	// Skipped are the resource types that the command did not read, and why.
	Skipped []Skipped `json:"skipped"`
	// Complete is true if the command read everything that you asked for. Resource types that you have no permission to
	// list make it false only if you named a type, or if you can't list any type. With --fail-above-count, an entry in
	// summary.inconsistent makes it false, too.
	Complete bool `json:"complete"`
	// Gate is the limit of --fail-above-count; null without the flag.
	Gate *DuplicateGate `json:"gate"`
}

// DuplicateScope holds the options that determine which objects the command compares.
type DuplicateScope struct {
	// AllNamespaces is true if the command read all namespaces.
	AllNamespaces bool `json:"allNamespaces"`
	// Namespace is the namespace that the command read; empty for all.
	Namespace string `json:"namespace"`
	// Resources are the resource types whose objects the command compared, as RESOURCE.GROUP.
	Resources []string `json:"resources"`
	// LabelSelector is the value of --selector; empty for all objects.
	LabelSelector string `json:"labelSelector"`
	// WithinSeconds is the value of --within in seconds, which is the longest time between an object of a group and the
	// next object of the group.
	WithinSeconds float64 `json:"withinSeconds"`
	// Since is the time that --since determines. The command compared only objects that were created after this time.
	Since metav1.Time `json:"since"`
}

// DuplicateSummary holds the numbers of objects that the command read, and of groups that it found.
type DuplicateSummary struct {
	// ResourceTypes is the number of resource types that the command read.
	ResourceTypes int `json:"resourceTypes"`
	// Objects is the number of objects whose metadata the command read.
	Objects int64 `json:"objects"`
	// Recent is the number of these objects that were created after scope.since.
	Recent int64 `json:"recent"`
	// Compared is the number of objects that the command read completely, to compare their content.
	Compared int64 `json:"compared"`
	// Confirmed is the number of groups with the grade confirmed.
	Confirmed int64 `json:"confirmed"`
	// Likely is the number of groups with the grade likely.
	Likely int64 `json:"likely"`
	// Possible is the number of groups with the grade possible.
	Possible int64 `json:"possible"`
	// Proposed is the number of objects that -o name prints.
	Proposed int64 `json:"proposed"`
	// Seconds is the duration of the search, in seconds.
	Seconds float64 `json:"seconds"`
	// Inconsistent are the resource types, as RESOURCE.GROUP, whose list has pages from different times. Groups of
	// these types might be missing.
	Inconsistent []string `json:"inconsistent"`
}

// DuplicateItem is one group of equal objects.
type DuplicateItem struct {
	// Grade is how strong the evidence is that the objects of the group were meant to be one object.
	Grade DuplicateGrade `json:"grade"`
	// Reason is why the grade is only possible: moreThanTwo (more than two objects), otherGroups (the owner has other
	// groups), replicas (a workload controller owns the objects), noFieldManager (managedFields are missing),
	// unreferenced (nothing refers to the objects), bothReferenced (something refers to each object), creators (several
	// field managers created the objects) or unread (some references could not be read). It is empty for the other
	// grades.
	Reason    string `json:"reason"`
	PrefixRef `json:",inline"`
	// Owners are the owners that all objects of the group have, as KIND.GROUP/NAME.
	Owners []string `json:"owners"`
	// Fields is the number of fields that the creator of the objects set, and that are equal; 0 if managedFields are
	// missing.
	Fields int `json:"fields"`
	// Compared are the top-level fields whose values the command compared, like spec.
	Compared []string `json:"compared"`
	// StatusDiffers are the fields of status whose values differ between the objects.
	StatusDiffers []string `json:"statusDiffers"`
	// ReferencesRead is true if the command read all objects that might refer to the objects of the group. The command
	// does so only for groups that can be confirmed or likely. If the value is false, -o name prints no object of the
	// group.
	ReferencesRead bool `json:"referencesRead"`
	// Objects are the objects of the group, the oldest first.
	Objects []DuplicateObject `json:"objects"`
}

// DuplicateObject is an object of a group.
type DuplicateObject struct {
	// Name is the object's name.
	Name string `json:"name"`
	// UID is the object's UID; empty if the value is not a valid UUID.
	UID string `json:"uid"`
	// Created is the object's creationTimestamp.
	Created metav1.Time `json:"created"`
	// Creator is the field manager that created the object; empty if unknown.
	Creator string `json:"creator"`
	// State is the object's state in one word. If the kind of the object finishes, it is the phase or condition at the
	// end, like Succeeded or Complete, and running before. For other kinds, it is status.phase, or empty.
	State string `json:"state"`
	// ReferredBy lists up to ten reasons to think that the object is in use: owners and Pods that have the object's
	// name in a field outside of metadata, and types of objects that have the object as owner.
	ReferredBy []DuplicateReference `json:"referredBy"`
	// Proposed is true if -o name prints the object. The object then is at least two minutes old, and at least two
	// seconds younger than the other object of the group. Nothing refers to the object, and the spec of the owner has
	// the name of the other object.
	Proposed bool `json:"proposed"`
}

// DuplicateReference is something that refers to an object.
type DuplicateReference struct {
	// Object is the owner or the Pod that has the name of the object, as KIND.GROUP/NAME; empty if Resource is set.
	Object string `json:"object"`
	// Resource is a type of objects that the object owns, as RESOURCE.GROUP; empty if Object is set.
	Resource string `json:"resource"`
}

// DuplicateGate is the limit of --fail-above-count.
type DuplicateGate struct {
	// FailAboveCount is the value of --fail-above-count.
	FailAboveCount int64 `json:"failAboveCount"`
	// Exceeded is true if more groups than FailAboveCount are confirmed or likely.
	Exceeded bool `json:"exceeded"`
}

// DeepCopyObject implements runtime.Object, which kubectl's printers require.
func (r *DuplicateReport) DeepCopyObject() runtime.Object { return copyOf(r) }
