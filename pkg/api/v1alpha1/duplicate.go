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

// DuplicateReport is the report of kubectl genname duplicates. The objects of each group were probably meant to be one
// object.
type DuplicateReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata ReportMetadata   `json:"metadata"`
	Scope    DuplicateScope   `json:"scope"`
	Summary  DuplicateSummary `json:"summary"`
	// Items are the groups: confirmed ones first, then likely ones, then possible ones.
	Items []DuplicateItem `json:"items"`
	// Skipped are the types that could not be read, and why.
	Skipped []Skipped `json:"skipped"`
	// Complete is false if a type could not be read, or if there is a gate and
	// summary.inconsistent has a type. Types that you can't list do not
	// matter unless you named a type, or can't list any.
	Complete bool `json:"complete"`
	// Gate is the gate of --fail-above-count, or null.
	Gate *DuplicateGate `json:"gate"`
}

// DuplicateScope is the scope of the comparison.
type DuplicateScope struct {
	// AllNamespaces is true if all namespaces were read.
	AllNamespaces bool `json:"allNamespaces"`
	// Namespace is the namespace that was read; empty for all.
	Namespace string `json:"namespace"`
	// Resources are the types whose objects were compared, as RESOURCE.GROUP.
	Resources []string `json:"resources"`
	// LabelSelector is the value of --selector; empty for all objects.
	LabelSelector string `json:"labelSelector"`
	// WithinSeconds is the longest time between the creation of one object of a group
	// and the next.
	WithinSeconds float64 `json:"withinSeconds"`
	// Since is the time before which objects were not compared.
	Since metav1.Time `json:"since"`
}

// DuplicateSummary has the numbers of objects that were read, and of groups that were found.
type DuplicateSummary struct {
	// ResourceTypes is the number of types that were read.
	ResourceTypes int `json:"resourceTypes"`
	// Objects is the number of objects whose metadata was read.
	Objects int64 `json:"objects"`
	// Recent is the number of these objects that were created since scope.since.
	Recent int64 `json:"recent"`
	// Compared is the number of objects that were read whole.
	Compared int64 `json:"compared"`
	// Confirmed is the number of confirmed groups.
	Confirmed int64 `json:"confirmed"`
	// Likely is the number of likely groups.
	Likely int64 `json:"likely"`
	// Possible is the number of possible groups.
	Possible int64 `json:"possible"`
	// Proposed is the number of objects that -o name prints.
	Proposed int64 `json:"proposed"`
	// Seconds is how long the search took.
	Seconds float64 `json:"seconds"`
	// Inconsistent are the types, as RESOURCE.GROUP, whose list has pages of different states, so
	// that groups might be missing.
	Inconsistent []string `json:"inconsistent"`
}

// DuplicateItem is one group of equal objects.
type DuplicateItem struct {
	// Grade is how much evidence there is.
	Grade DuplicateGrade `json:"grade"`
	// Reason is why a group is only possible, and empty for the others: moreThanTwo,
	// otherGroups (of the same owner), replicas (of a workload controller),
	// noFieldManager (managedFields are missing), unreferenced (nothing refers to them),
	// bothReferenced, creators (several), unread (references could not be read).
	Reason    string `json:"reason"`
	PrefixRef `json:",inline"`
	// Owners are the owners of all objects, as KIND.GROUP/NAME.
	Owners []string `json:"owners"`
	// Fields is the number of equal fields that the creating manager owns, or 0 without
	// managedFields.
	Fields int `json:"fields"`
	// Compared are the top-level fields that contain the equal fields.
	Compared []string `json:"compared"`
	// StatusDiffers are the fields of status in which the objects differ.
	StatusDiffers []string `json:"statusDiffers"`
	// ReferencesRead is false if something that may refer to the objects was not read. Then
	// no object is proposed. References are read for confirmed and likely groups, and for
	// those that might have been.
	ReferencesRead bool `json:"referencesRead"`
	// Objects are the members, the oldest first.
	Objects []DuplicateObject `json:"objects"`
}

// DuplicateObject is an object of a group.
type DuplicateObject struct {
	// Name is the object's name.
	Name string `json:"name"`
	// UID is the object's UID, or empty if it is no UUID.
	UID string `json:"uid"`
	// Created is the object's creationTimestamp.
	Created metav1.Time `json:"created"`
	// Creator is the field manager that created the object, or empty if that is unknown.
	Creator string `json:"creator"`
	// State is the object's state in one word, or empty if its status has none.
	State string `json:"state"`
	// ReferredBy are up to ten references to the object: owners and Pods that have its name
	// in a field outside of metadata, and the types of the objects that it owns.
	ReferredBy []DuplicateReference `json:"referredBy"`
	// Proposed is true if -o name prints the object. It is at least two minutes old, and at
	// least two seconds younger than the other object of its pair. Nothing refers to it, and
	// the owner of the pair names the other object.
	Proposed bool `json:"proposed"`
}

// DuplicateReference is something that refers to an object.
type DuplicateReference struct {
	// Object is the owner or the Pod that names the object, as KIND.GROUP/NAME, or empty.
	Object string `json:"object"`
	// Resource is the type of objects that the object owns, as RESOURCE.GROUP, or empty.
	Resource string `json:"resource"`
}

// DuplicateGate is the gate of --fail-above-count.
type DuplicateGate struct {
	// FailAboveCount is the largest number of confirmed and likely groups that passes.
	FailAboveCount int64 `json:"failAboveCount"`
	// Exceeded is true if there are more such groups.
	Exceeded bool `json:"exceeded"`
}

// DeepCopyObject implements runtime.Object, which kubectl's printers require.
func (r *DuplicateReport) DeepCopyObject() runtime.Object { return copyOf(r) }
