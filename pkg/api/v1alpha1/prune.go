package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PruneReport is the report of kubectl genname prune. It has the objects that prune would delete, or has deleted.
type PruneReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata ReportMetadata `json:"metadata"`
	// DryRun is true for a plan: without --yes nothing is deleted.
	DryRun   bool          `json:"dryRun"`
	Criteria PruneCriteria `json:"criteria"`
	Summary  PruneSummary  `json:"summary"`
	// Items are the name pools with objects under the prefixes that were named.
	Items []PruneItem `json:"items"`
	// Skipped are the types that can't be listed. Objects of these types might use objects of the plan.
	Skipped []Skipped `json:"skipped"`
	// Failures are the first 100 objects whose deletion failed or is unknown.
	Failures []PruneFailure `json:"failures"`
	// Complete is true if nothing failed, nothing is unknown, and nothing was left out
	// because of an interrupt or an error. It is true for a plan.
	Complete bool `json:"complete"`
}

// PruneCriteria are the conditions that an object must meet to be deleted.
type PruneCriteria struct {
	// AllNamespaces is true if objects of all namespaces are chosen.
	AllNamespaces bool `json:"allNamespaces"`
	// Namespace is the only namespace; empty for all.
	Namespace string `json:"namespace"`
	// Stem is true if the prefixes are stems of names, and not generateNames.
	Stem bool `json:"stem"`
	// Orphaned is true if only Pods are chosen that have no controller, and labels of a Job
	// that doesn't exist. The prefix of their items is empty.
	Orphaned bool `json:"orphaned"`
	// LabelSelector is the value of --selector; empty for all objects.
	LabelSelector string `json:"labelSelector"`
	// CreatedBefore is the time of --older-than; null if it was not given.
	CreatedBefore *metav1.Time `json:"createdBefore"`
	// FinishedBefore is the time of --finished-for; null if it was not given.
	FinishedBefore *metav1.Time `json:"finishedBefore"`
	// Keep is the number of newest objects to keep per namespace and prefix; null if
	// --keep was not given.
	Keep *int `json:"keep"`
	// KeepFailed is the number of newest failed objects to keep; null if --keep-failed was
	// not given.
	KeepFailed *int `json:"keepFailed"`
	// Running is true if objects that have not finished are chosen, too.
	Running bool `json:"running"`
	// Owned is true if objects that have a controller are chosen, too.
	Owned bool `json:"owned"`
	// InUse is true if objects that a Pod or a template of Pods uses are chosen, too.
	InUse bool `json:"inUse"`
}

// PruneSummary is the sum of all items.
type PruneSummary struct {
	PruneCounts `json:",inline"`
	// Seconds is how long the run took.
	Seconds float64 `json:"seconds"`
}

// PruneItem is one name pool.
type PruneItem struct {
	PrefixRef   `json:",inline"`
	PruneCounts `json:",inline"`
	// Creators are the creators of the objects, up to 20. Objects that are running, owned
	// or of another generateName don't count.
	Creators []PruneCreator `json:"creators"`
	// First are the names of up to five chosen objects.
	First []string `json:"first"`
	// Ages has the ages of the chosen objects at the time of the report.
	Ages PruneAges `json:"ages"`
	// Oldest is when the oldest chosen object was created; null if there is none.
	Oldest *metav1.Time `json:"oldest"`
	// Newest is when the newest chosen object was created; null if there is none.
	Newest *metav1.Time `json:"newest"`
}

// PruneCreator is a controller or a field manager, and its objects.
type PruneCreator struct {
	// Creator is KIND/NAME of a controller, or a field manager, as the creator claims.
	Creator string `json:"creator"`
	// Chosen is how many of its objects the plan chose.
	Chosen int64 `json:"chosen"`
	// Left is how many of its objects are kept.
	Left int64 `json:"left"`
}

// PruneCounts are numbers of objects.
type PruneCounts struct {
	// Chosen is the number of objects that the plan chose for deletion.
	Chosen int64 `json:"chosen"`
	// Running is how many of the chosen objects had not finished when the plan was made.
	Running int64 `json:"running"`
	// Tied is the number of chosen objects that were created in the same second as an object that --keep keeps. The
	// names decided.
	Tied int64 `json:"tied"`
	// Saved is the number of objects that --save wrote to files.
	Saved int64 `json:"saved"`
	// Deleted is the number of objects that are gone.
	Deleted int64 `json:"deleted"`
	// Deleting is the number of objects that wait for a finalizer or a grace period.
	Deleting int64 `json:"deleting"`
	// Failed is the number of objects that still exist because their deletion failed.
	Failed int64 `json:"failed"`
	// Unknown is the number of objects of which it is unknown whether they were deleted.
	Unknown int64 `json:"unknown"`
	// NotTried is the number of chosen objects that the run ended without trying to delete.
	NotTried int64 `json:"notTried"`
	// Left are the objects that are not deleted, by reason.
	Left []PruneLeft `json:"left"`
}

// PruneLeft is a number of objects that are left for one reason.
type PruneLeft struct {
	// Reason is the reason why the objects are not deleted.
	Reason PruneReason `json:"reason"`
	// Objects is the number of objects with this reason.
	Objects int64 `json:"objects"`
}

// PruneReason is why an object is left.
type PruneReason string

// The reasons. Prune finds PruneReplaced, PruneGone and PruneChanged only when it deletes, so these objects count as
// chosen.
const (
	PruneTooYoung     PruneReason = "tooYoung"
	PruneNewest       PruneReason = "newest" // kept by --keep or --keep-failed
	PruneNotFinished  PruneReason = "notFinished"
	PruneJustFinished PruneReason = "justFinished" // it finished after the time of --finished-for
	PruneUnknownEnd   PruneReason = "unknownEnd"   // the status has no end time
	PruneControlled   PruneReason = "controlled"
	PruneInUse        PruneReason = "inUse"  // a Pod or a template of Pods uses it
	PruneActive       PruneReason = "active" // a held Lease, a ReplicaSet with replicas, a current release of Helm
	PruneBeingDeleted PruneReason = "beingDeleted"
	PruneNotGenerated PruneReason = "notGenerated" // the name only looks generated from the prefix
	PruneNotOrphaned  PruneReason = "notOrphaned"  // its Job exists
	PruneUnknownAge   PruneReason = "unknownAge"   // no creationTimestamp
	PruneNotSelected  PruneReason = "notSelected"  // its labels changed after the list
	PruneReplaced     PruneReason = "replaced"     // deleted and created again by another client
	PruneGone         PruneReason = "gone"         // deleted by another client
	PruneChanged      PruneReason = "changed"      // it changed before each DELETE, or finished, so --keep counts it
)

// PruneAges are numbers of objects by age.
type PruneAges struct {
	// UnderOneDay is the number of objects younger than 24 hours.
	UnderOneDay int64 `json:"underOneDay"`
	// UnderOneWeek is the number of objects from one to seven days old.
	UnderOneWeek int64 `json:"underOneWeek"`
	// UnderOneMonth is the number of objects from seven to 30 days old.
	UnderOneMonth int64 `json:"underOneMonth"`
	// Older is the number of all older objects.
	Older int64 `json:"older"`
}

// PruneFailure is an object whose deletion failed or is unknown.
type PruneFailure struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the type, in the plural: jobs.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource.
	Namespace string `json:"namespace"`
	// Name is the object's name.
	Name string `json:"name"`
	// UID is the object's UID.
	UID string `json:"uid"`
	// Unknown is true if the object might have been deleted, and false if it still exists.
	Unknown bool `json:"unknown"`
	// Message is the cause.
	Message string `json:"message"`
}

// DeepCopyObject implements runtime.Object, which kubectl's printers require.
func (r *PruneReport) DeepCopyObject() runtime.Object { return copyOf(r) }
