package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PruneReport is the report of kubectl genname prune. It has the numbers of objects that prune would delete, or has
// deleted.
type PruneReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata ReportMetadata `json:"metadata"`
	// DryRun is true if the report is only a plan, because you did not set --yes.
	DryRun   bool          `json:"dryRun"`
	Criteria PruneCriteria `json:"criteria"`
	Summary  PruneSummary  `json:"summary"`
	// Items are the results, one for each resource type, namespace and prefix that has objects.
	Items []PruneItem `json:"items"`
	// Skipped are the resource types that prune could not list. Their objects might use objects that the plan deletes.
	Skipped []Skipped `json:"skipped"`
	// Failures are the first 100 objects whose deletion failed or has an unknown outcome.
	Failures []PruneFailure `json:"failures"`
	// Complete is true if no deletion failed, all outcomes are known, and neither an interrupt nor an error stopped
	// prune. It is true for a plan.
	Complete bool `json:"complete"`
}

// PruneCriteria are the conditions that an object must meet to be deleted.
type PruneCriteria struct {
	// AllNamespaces is true if prune chooses objects in all namespaces.
	AllNamespaces bool `json:"allNamespaces"`
	// Namespace is the namespace in which prune chooses objects; empty for all.
	Namespace string `json:"namespace"`
	// Stem is true if you set --stem. The prefixes then are not generateNames, but the parts of names before a number,
	// a time, a hash or a revision.
	Stem bool `json:"stem"`
	// Orphaned is true if you set --orphaned. Prune then chooses only Pods that have no controller and whose labels
	// name a Job that doesn't exist. The prefix of all items is empty.
	Orphaned bool `json:"orphaned"`
	// LabelSelector is the value of --selector; empty for all objects.
	LabelSelector string `json:"labelSelector"`
	// CreatedBefore is the time that --older-than determines. Prune chooses only objects that were created before this
	// time. It is null without the flag.
	CreatedBefore *metav1.Time `json:"createdBefore"`
	// FinishedBefore is the time that --finished-for determines. Prune chooses only objects that finished before this
	// time. It is null without the flag.
	FinishedBefore *metav1.Time `json:"finishedBefore"`
	// Keep is the value of --keep, which is the number of newest objects to keep for each prefix in each namespace;
	// null without the flag.
	Keep *int `json:"keep"`
	// KeepFailed is the value of --keep-failed, which is the number of newest failed objects to keep; null without the
	// flag.
	KeepFailed *int `json:"keepFailed"`
	// Running is true if prune also chooses objects that have not finished (--running).
	Running bool `json:"running"`
	// Owned is true if prune also chooses objects that have a controller (--owned).
	Owned bool `json:"owned"`
	// InUse is true if prune also chooses ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims that other
	// objects use (--in-use).
	InUse bool `json:"inUse"`
}

// PruneSummary holds the sums of the numbers in items.
type PruneSummary struct {
	PruneCounts `json:",inline"`
	// Seconds is the duration of the command, in seconds.
	Seconds float64 `json:"seconds"`
}

// PruneItem is one name pool.
type PruneItem struct {
	PrefixRef   `json:",inline"`
	PruneCounts `json:",inline"`
	// Creators are up to 20 creators, with the numbers of their objects. The numbers leave out objects that prune keeps
	// whatever their age, such as running objects, objects with a controller and objects in use.
	Creators []PruneCreator `json:"creators"`
	// First are the names of the oldest chosen objects, up to five.
	First []string `json:"first"`
	// Ages are the numbers of chosen objects by their age at the time of the report.
	Ages PruneAges `json:"ages"`
	// Oldest is the creation time of the oldest chosen object; null if no object was chosen.
	Oldest *metav1.Time `json:"oldest"`
	// Newest is the creation time of the newest chosen object; null if no object was chosen.
	Newest *metav1.Time `json:"newest"`
}

// PruneCreator is a controller or a field manager, and its objects.
type PruneCreator struct {
	// Creator is a controller as KIND/NAME, or a field manager. Any client can set these values. If there are more than
	// 20 creators, others stands for the rest.
	Creator string `json:"creator"`
	// Chosen is the number of objects of this creator that prune chose for deletion.
	Chosen int64 `json:"chosen"`
	// Left is the number of objects of this creator that prune keeps because of --older-than, --finished-for, --keep or
	// --keep-failed, or as the newest revision of a Helm release.
	Left int64 `json:"left"`
}

// PruneCounts are numbers of objects.
type PruneCounts struct {
	// Chosen is the number of objects that prune chose for deletion.
	Chosen int64 `json:"chosen"`
	// Running is the number of chosen objects that had not finished when prune chose them.
	Running int64 `json:"running"`
	// Tied is the number of chosen objects that were created in the same second as an object that --keep keeps. Prune
	// chose between objects of the same second by their names.
	Tied int64 `json:"tied"`
	// Saved is the number of objects that --save wrote to files.
	Saved int64 `json:"saved"`
	// Deleted is the number of objects that were deleted and no longer exist.
	Deleted int64 `json:"deleted"`
	// Deleting is the number of objects that still exist after the delete request, because of a finalizer or a grace
	// period.
	Deleting int64 `json:"deleting"`
	// Failed is the number of objects that still exist because their deletion failed.
	Failed int64 `json:"failed"`
	// Unknown is the number of objects that might have been deleted or might still exist.
	Unknown int64 `json:"unknown"`
	// NotTried is the number of chosen objects that prune did not try to delete, because it ended before.
	NotTried int64 `json:"notTried"`
	// Left are the numbers of objects that prune keeps, by reason.
	Left []PruneLeft `json:"left"`
}

// PruneLeft is a number of objects that are left for one reason.
type PruneLeft struct {
	// Reason is why prune keeps the objects, as one word for scripts: tooYoung (--older-than), newest (--keep or
	// --keep-failed), notFinished (without --running), justFinished (--finished-for), unknownEnd (the status has no end
	// time), controlled (without --owned), inUse (without --in-use), active (a held Lease, a ReplicaSet with replicas,
	// or a revision of a Helm release that is deployed, pending or the newest), beingDeleted, notGenerated (the name
	// only looks generated from the prefix), notOrphaned (the Job of the Pod exists), unknownAge (no
	// creationTimestamp), notSelected (the labels changed after the plan), replaced (another client deleted and
	// recreated the object), gone (another client deleted the object) or changed (the object changed after the plan).
	Reason PruneReason `json:"reason"`
	// Objects is the number of objects that prune keeps for this reason.
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
	// UnderOneDay is the number of chosen objects younger than 24 hours.
	UnderOneDay int64 `json:"underOneDay"`
	// UnderOneWeek is the number of chosen objects from one to seven days old.
	UnderOneWeek int64 `json:"underOneWeek"`
	// UnderOneMonth is the number of chosen objects from seven to 30 days old.
	UnderOneMonth int64 `json:"underOneMonth"`
	// Older is the number of chosen objects that are more than 30 days old.
	Older int64 `json:"older"`
}

// PruneFailure is an object whose deletion failed or is unknown.
type PruneFailure struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the plural name of the resource type, like jobs.
	Resource string `json:"resource"`
	// Namespace is the namespace of the object; empty if the resource type is cluster-scoped.
	Namespace string `json:"namespace"`
	// Name is the object's name.
	Name string `json:"name"`
	// UID is the object's UID.
	UID string `json:"uid"`
	// Unknown is true if the object might have been deleted, and false if it still exists.
	Unknown bool `json:"unknown"`
	// Message is the cause, as text for people.
	Message string `json:"message"`
}

// DeepCopyObject implements runtime.Object, which kubectl's printers require.
func (r *PruneReport) DeepCopyObject() runtime.Object { return copyOf(r) }
