package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AuditReport is the report of kubectl genname audit. For each prefix of a cluster, it has the number of generated
// names, and the time at which creates will begin to fail.
type AuditReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata ReportMetadata `json:"metadata"`
	Server   AuditServer    `json:"server"`
	Scope    AuditScope     `json:"scope"`
	Summary  AuditSummary   `json:"summary"`
	// Verdict is the summary to read first; absent with --watch.
	Verdict *AuditVerdict `json:"verdict,omitempty"`
	// Items are the prefixes that the report shows, in the order of --sort-by.
	Items []AuditItem `json:"items"`
	// Folded are the objects that are not in items: one entry for each namespace, resource
	// type and creator. The creator is the kind of the controllers, or the field manager. The names
	// of items, of folded and of hidden are all objects that the audit read, without
	// --selector, --prefix, --watch and TYPE/PREFIX.
	Folded []AuditFolded `json:"folded,omitempty"`
	Hidden AuditHidden   `json:"hidden"`
	// ByNumber are resource types of which the audit has only the number of objects, most
	// objects first: Events and Leases, unless you named them, and with --watch the objects of
	// each type that are in no entry.
	ByNumber []TypeObjects `json:"byNumber,omitempty"`
	// Gone are prefixes of the audit of --compare that have no names now, or that can no
	// longer be recognized as prefixes.
	Gone []AuditGone `json:"gone,omitempty"`
	// Skipped lists the resource types that the audit did not read, and why.
	Skipped []Skipped `json:"skipped"`
	// Complete is true if the audit read everything that you asked for. Resource types
	// that you can't list make it false if you named them, if you can't list any, or if
	// you set a gate without --allow-unlisted.
	Complete bool `json:"complete"`
	// Gate holds the limits of the --fail-above flags, and the prefixes above them. It is
	// null if you set none.
	Gate *AuditGate `json:"gate"`
}

// AuditServer describes the API server.
type AuditServer struct {
	// GitVersion is the server's version.
	GitVersion string `json:"gitVersion"`
	// ClusterUID is the UID of the namespace kube-system, which identifies the cluster;
	// absent if it could not be read.
	ClusterUID string `json:"clusterUID,omitempty"`
	Retries    `json:",inline"`
}

// AuditScope holds the options that determine which objects the audit counts.
type AuditScope struct {
	// AllNamespaces is true if the audit counted all namespaces.
	AllNamespaces bool `json:"allNamespaces"`
	// Namespace is the namespace that the audit counted; empty for all.
	Namespace string `json:"namespace"`
	// Resources are the resource types that the audit counted, as RESOURCE.GROUP.
	Resources []string `json:"resources"`
	// LabelSelector is the value of --selector; empty for all objects.
	LabelSelector string `json:"labelSelector"`
	// MinCount is the value of --min-count: the report hides prefixes with fewer names.
	MinCount int64 `json:"minCount"`
	// MinStem is the number of names from which on the report shows a stem: 20, or the value
	// of --min-count if you set it.
	MinStem int64 `json:"minStem"`
	// Top is the value of --top: the largest number of prefixes that the report shows, or
	// 0 for all.
	Top int `json:"top"`
	// Prefixes are the effective prefixes that you named, as PREFIX or TYPE/PREFIX; empty for
	// all.
	Prefixes []string `json:"prefixes,omitempty"`
	// ComparedWith is the creationTimestamp of the audit of --compare; absent without the flag.
	ComparedWith *metav1.Time `json:"comparedWith,omitempty"`
}

// AuditSummary holds the totals of an audit.
type AuditSummary struct {
	// ResourceTypes is the number of resource types that the audit read.
	ResourceTypes int `json:"resourceTypes"`
	// Objects is the number of objects that the audit read, with and without generated
	// names.
	Objects int64 `json:"objects"`
	// Prefixes is the number of prefixes that have names.
	Prefixes int64 `json:"prefixes"`
	// Requests is the number of requests that the audit sent.
	Requests int64 `json:"requests"`
	// Seconds is the duration of the audit, in seconds.
	Seconds float64 `json:"seconds"`
	// Inconsistent are the resource types, as RESOURCE.GROUP, with inconsistent counts:
	// their list expired while the audit read it. The audit counted no object twice, but it might
	// have missed or included objects that were created or deleted during the audit.
	Inconsistent []string `json:"inconsistent"`
	// AheadSeconds is by how many seconds the newest creationTimestamp is after the end of the audit
	// by the server's clock. It is absent up to a minute. If it is present, the numbers of recent
	// objects are too high.
	AheadSeconds float64 `json:"aheadSeconds,omitempty"`
}

// AuditVerdict reports whether a create is close to failing, and which prefixes have the most
// new objects. It includes hidden prefixes. If the attempts of an API are unknown, it assumes
// one.
type AuditVerdict struct {
	// CloseToFailing is the number of prefixes that are close to failing: the next create
	// fails with a probability above 0.1%, or failsInDays is not null.
	CloseToFailing int64 `json:"closeToFailing"`
	// Closest is the first prefix to fail, or if none is close to failing, the prefix with
	// the least room; null if there is no prefix.
	Closest *AuditClosest `json:"closest"`
	// AttemptsUnknown are the resource types, as RESOURCE.GROUP, for which the verdict
	// assumes one attempt.
	AttemptsUnknown []string `json:"attemptsUnknown"`
	// MostCreatedCount is the number of prefixes and folded entries with last10m of at least
	// 1,000, or of at least 100 and a tenth of names, or with last24h above 1,000.
	MostCreatedCount int64 `json:"mostCreatedCount"`
	// MostCreated are the first three of these prefixes and entries: first those that count
	// because of last10m, ordered by last10m, then the others, ordered by last24h.
	MostCreated []AuditMostCreated `json:"mostCreated"`
}

// AuditClosest is the prefix that is closest to failing.
type AuditClosest struct {
	PrefixRef `json:",inline"`
	// Names is the number of names that exist under the prefix.
	Names int64 `json:"names"`
	// Attempts is the number of names that are tried per create, 1 if that is unknown.
	Attempts int `json:"attempts"`
	// NextCreate is the probability that the next create fails.
	NextCreate float64 `json:"nextCreate"`
	// Room is the number of further creates until the chance of any failure exceeds 0.1%.
	Room int64 `json:"room"`
	// FailsInDays is the time until one failure is expected, as in items; null if it is more
	// than a year.
	FailsInDays *float64 `json:"failsInDays"`
}

// AuditMostCreated is a prefix, or a folded entry, with many objects of the last ten minutes, or of the
// last 24 hours.
type AuditMostCreated struct {
	PrefixRef `json:",inline"`
	// OwnerKind is the kind of the controllers of a folded entry; empty for a prefix, and
	// without controllers.
	OwnerKind string `json:"ownerKind,omitempty"`
	// Names is the number of names that exist.
	Names int64 `json:"names"`
	// Last10m is the number of these names that were created in the last ten minutes.
	Last10m int64 `json:"last10m"`
	// Last24h is the number of these names that were created in the last 24 hours.
	Last24h int64 `json:"last24h"`
	// Creator is the creator of the newest object, or for a folded entry the field manager with the
	// most names; null if unknown.
	Creator *Creator `json:"creator"`
}

// AuditFolded are objects of one creator that are in no item: under prefixes and stems with few
// names, or with fixed names.
type AuditFolded struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the resource type, in the plural: pods.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource, and for objects that a watch counts in all namespaces together.
	Namespace string `json:"namespace"`
	// OwnerKind is the kind of the controllers, like Job; empty if there are none.
	OwnerKind string `json:"ownerKind"`
	// Manager is the field manager that created the objects, if they have no controllers;
	// empty if it is unknown.
	Manager string `json:"manager"`
	// Owners is the number of controllers.
	Owners int64 `json:"owners"`
	// Prefixes is the number of prefixes and stems. Objects with fixed names are under none.
	Prefixes int64 `json:"prefixes"`
	// Names is the number of objects.
	Names int64 `json:"names"`
	// Largest is the prefix or stem with the most names; absent without prefixes.
	Largest *AuditLargest `json:"largest,omitempty"`
	// Last10m is the number of these names that were created in the last ten minutes; null with
	// --watch.
	Last10m *int64 `json:"last10m"`
	// Last24h is the number of these names that were created in the last 24 hours; null with
	// --watch.
	Last24h *int64 `json:"last24h"`
	// Creators are the field managers that created the objects, at most three. Those with the most
	// names come first.
	Creators []Creator `json:"creators"`
	// Measured holds the creates and deletes that a watch observed; absent without --watch. It
	// leaves out prefixes that have been empty for an hour.
	Measured *Measured `json:"measured,omitempty"`
	// Orphaned and Deleting are as in items.
	Orphaned *AuditOrphaned `json:"orphaned,omitempty"`
	Deleting *AuditDeleting `json:"deleting,omitempty"`
}

// AuditOrphaned are Pods that have no controller, and labels of a Job that doesn't exist.
type AuditOrphaned struct {
	// Names is the number of Pods.
	Names int64 `json:"names"`
	// Unknown is true if the audit couldn't list Jobs. Then names includes Pods whose Job exists.
	Unknown bool `json:"unknown,omitempty"`
}

// AuditDeleting are objects that still exist, although their deletion was requested.
type AuditDeleting struct {
	// Names is the number of objects.
	Names int64 `json:"names"`
	// Since is the time of the first request, which is the deletionTimestamp without the grace
	// period; null if unknown.
	Since *metav1.Time `json:"since"`
	// Finalizer is the finalizer that most of these objects have; absent if none has one.
	Finalizer string `json:"finalizer,omitempty"`
	// Held is the number of objects with this finalizer.
	Held int64 `json:"held,omitempty"`
}

// AuditLargest is the prefix or stem of a folded entry with the most names.
type AuditLargest struct {
	// Prefix is the effective prefix or the stem.
	Prefix string `json:"prefix"`
	// Naming is generateName, client, stem or none.
	Naming Naming `json:"naming"`
	// Names is the number of its names.
	Names int64 `json:"names"`
}

// AuditItem is one prefix: a resource type, a namespace, an effective prefix or a stem, and the
// origin of its names.
type AuditItem struct {
	PrefixRef `json:",inline"`
	// Version is the API version that the audit listed.
	Version string `json:"version"`

	// Names is the number of names that exist under the prefix, whether the server
	// generated them or not.
	Names int64 `json:"names"`
	// Last10m is the number of those names whose object was created in the last ten minutes,
	// by the server's time; absent with --watch.
	Last10m *int64 `json:"last10m,omitempty"`
	// Last24h is the number of those names whose object was created in the last 24 hours, by
	// the server's time; absent with --watch.
	Last24h *int64 `json:"last24h,omitempty"`
	// Generated is the number of those names whose object has this prefix in its own
	// generateName.
	Generated int64 `json:"generated"`
	// RawPrefixes is the number of different generateNames that share the name pool,
	// because their first 58 bytes are the same; 64 means 64 or more.
	RawPrefixes int `json:"rawPrefixes"`
	// Oldest is the creation time of the oldest object; null if unknown.
	Oldest *metav1.Time `json:"oldest"`
	// Newest is the creation time of the newest object; null if unknown.
	Newest *metav1.Time `json:"newest"`
	// ClientGenerated is true if no object has this prefix in generateName, but the names
	// look generated by a client. Such a client makes one attempt per create.
	ClientGenerated bool `json:"clientGenerated,omitempty"`
	// GenerateNames are the first eight generateNames that share the name pool, if several
	// do.
	GenerateNames []string `json:"generateNames,omitempty"`
	// Creators holds the creator of the newest object; absent if unknown.
	Creators []Creator `json:"creators,omitempty"`
	// CreatorCount is the number of different creators; 64 means 64 or more.
	CreatorCount int `json:"creatorCount,omitempty"`
	// Measured holds the creates and deletes that --watch observed; absent without --watch,
	// and for resource types that can't be watched.
	Measured *Measured `json:"measured,omitempty"`
	// Growth is the change since the audit of --compare; absent without the flag.
	Growth  *Growth `json:"growth,omitempty"`
	Retries `json:",inline"`
	// NextCreate is the probability that the next create fails.
	NextCreate NextCreate `json:"nextCreate"`
	// Room is the number of further creates until the probability of a failure is no
	// longer small.
	Room AuditRoom `json:"room"`
	// FailsInDays is the time until one failure is expected if Names grows by Last24h every
	// day, with the attempts in force, or with one attempt if they are unknown; absent if it
	// is more than a year, and with --watch.
	FailsInDays *float64 `json:"failsInDays,omitempty"`
	// ReplicaBounded is true if a number of replicas limits the number of names: Pods of
	// ReplicaSets, ReplicationControllers and DaemonSets, EndpointSlices of Services.
	ReplicaBounded bool `json:"replicaBounded,omitempty"`
	// Orphaned are Pods that Kubernetes doesn't delete with their Job, because it no longer
	// exists; absent without such Pods, and with --watch.
	Orphaned *AuditOrphaned `json:"orphaned,omitempty"`
	// Deleting are the objects that are being deleted; absent without such objects, and with
	// --watch.
	Deleting *AuditDeleting `json:"deleting,omitempty"`
	// Notes are short remarks, such as truncated: shared by …a-, …b-.
	Notes []string `json:"notes"`
}

// Creator is the creator of an object: its controller, or the field manager that created it.
type Creator struct {
	// Group is the API group of the controller; absent if it is empty.
	Group string `json:"group,omitempty"`
	// Kind is the kind of the controller; empty if the object has none.
	Kind string `json:"kind"`
	// Name is the name of the controller.
	Name string `json:"name"`
	// Manager is the field manager that owns metadata.generateName, or the manager of the
	// oldest entry of managedFields; empty if the object has a controller.
	Manager string `json:"manager"`
	// Guess is true if Manager is only the manager of the oldest entry.
	Guess bool `json:"guess,omitempty"`
}

// Measured holds the creates and deletes of one prefix that a watch observed.
type Measured struct {
	// Creates is the number of names that were created.
	Creates int64 `json:"creates"`
	// Deletes is the number of names that were deleted.
	Deletes int64 `json:"deletes"`
	// Seconds is the time since the watch of this prefix began, in seconds.
	Seconds float64 `json:"seconds"`
	// Gaps is the number of times that the watch lost events and counted the resource type
	// again. If it is above 0, creates and deletes are lower bounds. The number of names
	// is right.
	Gaps int `json:"gaps"`
	// RatePerDay is the rate at which names grows, in names per day: the average of creates
	// less deletes over a minute, ten minutes, an hour or a day, in which newer ones weigh
	// more. It takes the shortest of these times with at least ten creates and deletes, or
	// else a day. It is null before ten seconds.
	RatePerDay *float64 `json:"ratePerDay"`
}

// Growth is the change of a prefix since an earlier audit.
type Growth struct {
	// Days is the time between the two audits, in days of 24 hours.
	Days float64 `json:"days"`
	// Names is the change in the number of names, negative if there are fewer now. It is a
	// lower bound if the earlier audit hid the prefix, or couldn't recognize its
	// client-generated names. It is null if the earlier audit might have removed the
	// prefix by --top.
	Names *int64 `json:"names"`
	// PerDay is Names per day.
	PerDay *float64 `json:"perDay"`
	// PerDayMost is the upper bound of the growth per day. It is above PerDay if Names is
	// a lower bound.
	PerDayMost float64 `json:"perDayMost"`
	// New is true if the earlier audit certainly had no name under the prefix.
	New bool `json:"new"`
	// DaysToGate is the time until a gate is exceeded at this growth, in days; 0 if it is
	// exceeded now, null without a gate or without growth.
	DaysToGate *float64 `json:"daysToGate"`
}

// Exactly returns the growth per day, or nil if it is unknown or known only within bounds. The
// receiver may be nil.
func (g *Growth) Exactly() *float64 {
	if g == nil || g.PerDay == nil || *g.PerDay != g.PerDayMost {
		return nil
	}
	return g.PerDay
}

// AuditGone is a prefix of an earlier audit that has no names now.
type AuditGone struct {
	PrefixRef `json:",inline"`
	// Names is the number of names in the earlier audit.
	Names int64 `json:"names"`
}

// TypeObjects is the number of objects of one resource type.
type TypeObjects struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the resource type, in the plural: jobs.
	Resource string `json:"resource"`
	// Objects is the number of objects.
	Objects int64 `json:"objects"`
}

// NextCreate is the probability that the next create fails.
type NextCreate struct {
	// NoRetry is the probability without retries: that one name is taken.
	NoRetry float64 `json:"noRetry"`
	// ServerRetry is the probability that all attempts of the server meet taken names;
	// null if the number of attempts is unknown.
	ServerRetry *float64 `json:"serverRetry"`
}

// AuditRoom is the number of further creates until the chance of any failure exceeds
// Probability.
type AuditRoom struct {
	// Probability is the limit for the chance of any failure, 0.001.
	Probability float64 `json:"probability"`
	// NoRetry is the number of creates without retries; null if unlimited.
	NoRetry *int64 `json:"noRetry"`
	// ServerRetry is the number of creates with the server's retries; null if unlimited,
	// or if the number of attempts is unknown.
	ServerRetry *int64 `json:"serverRetry"`
}

// AuditHidden describes the objects that are in no entry: those of small folded entries, and of
// prefixes that --top hides.
type AuditHidden struct {
	// Prefixes is the number of hidden prefixes and stems.
	Prefixes int64 `json:"prefixes"`
	// Names is the number of hidden objects.
	Names int64 `json:"names"`
	// BelowTop is the number of those prefixes that only --top hides.
	BelowTop int64 `json:"belowTop,omitempty"`
	// NamesBelowTop is the number of names of those prefixes.
	NamesBelowTop int64 `json:"namesBelowTop,omitempty"`
}

// Skipped is a resource type, or a resource type in one namespace, that the audit did not
// read.
type Skipped struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the resource type, in the plural; empty for a whole API group.
	Resource string `json:"resource"`
	// Namespace is the namespace that was skipped; empty for all.
	Namespace string `json:"namespace"`
	// Reason is one word for scripts: excluded, undiscovered, unauthorized, forbidden,
	// notFound, notListable, crowded, throttled, unreachable, timeout, malformed, expired,
	// interrupted or failed. In a DuplicateReport, incomparable stands for single objects.
	Reason SkipReason `json:"reason"`
	// Message is the cause.
	Message string `json:"message"`
}

// SkipReason is a reason to skip a resource type.
type SkipReason string

// AuditGate holds the limits of the --fail-above flags, and the prefixes above them.
type AuditGate struct {
	// FailAbove is the limit of --fail-above for the probability that the next create fails.
	// An equal value passes. It is null if you did not set the flag.
	FailAbove *float64 `json:"failAbove"`
	// FailAboveCount is the largest number of names that passes; null if you did not set the
	// flag.
	FailAboveCount *int64 `json:"failAboveCount"`
	// FailAboveGrowth is the largest growth per day since the audit of --compare that
	// passes; absent if you did not set the flag.
	FailAboveGrowth *float64 `json:"failAboveGrowth,omitempty"`
	// Undecided is the number of prefixes whose growth might be above FailAboveGrowth,
	// because the earlier audit knows only bounds, or has not read the type, namespace or prefix.
	Undecided int64 `json:"undecided,omitempty"`
	// ExceededCount is the number of prefixes above a limit, including hidden prefixes.
	ExceededCount int64 `json:"exceededCount"`
	// Exceeded are the first 1,000 of these prefixes, ordered by the probability that the next
	// create fails, then by the number of names.
	Exceeded []AuditExceeded `json:"exceeded"`
}

// AuditExceeded is one prefix above a limit.
type AuditExceeded struct {
	// Resource is the resource type, as RESOURCE.GROUP.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource.
	Namespace string `json:"namespace"`
	// Prefix is the effective prefix or the stem.
	Prefix string `json:"prefix"`
	// Naming is generateName, client, stem or none.
	Naming Naming `json:"naming"`
	// Names is the number of names under the prefix.
	Names int64 `json:"names"`
	// NextCreate is the probability that the next create fails, with the attempts in
	// force. If the attempts are unknown, it assumes no retries.
	NextCreate float64 `json:"nextCreate"`
	// GrowthPerDay is the growth since the audit of --compare, or its lower bound; absent
	// without the flag.
	GrowthPerDay *float64 `json:"growthPerDay,omitempty"`
}
