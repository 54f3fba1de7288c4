package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AuditReport is the report of kubectl genname audit. For each prefix, it has the number of names, and the probability
// that the next create fails because all names that are tried exist already. A prefix is the value of generateName, or
// a stem: the common beginning of names that end in a number, a time, a hash or a revision.
type AuditReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata ReportMetadata `json:"metadata"`
	Server   AuditServer    `json:"server"`
	Scope    AuditScope     `json:"scope"`
	Summary  AuditSummary   `json:"summary"`
	// Verdict describes how close creates are to failing, and which prefixes have the most new objects; absent with
	// --watch.
	Verdict *AuditVerdict `json:"verdict,omitempty"`
	// Items are the prefixes that the report shows, in the order of --sort-by.
	Items []AuditItem `json:"items"`
	// Folded are the objects that are not in items, such as those of prefixes with few names. They are combined by
	// namespace, resource type and creator, which is the kind of their controllers or their field manager. The numbers
	// of names in items, folded and hidden add up to all objects that the audit read, unless you use --selector,
	// --prefix, --watch or TYPE/PREFIX.
	Folded []AuditFolded `json:"folded,omitempty"`
	Hidden AuditHidden   `json:"hidden"`
	// ByNumber lists the resource types of which the audit has only the number of objects: Events and Leases, unless
	// you name them. With --watch, the list also has the numbers of objects that items, folded and hidden don't count,
	// by type. The largest number comes first.
	ByNumber []TypeObjects `json:"byNumber,omitempty"`
	// Gone are the prefixes of the earlier audit (--compare) that have no names now, or whose names the audit no longer
	// recognizes as generated.
	Gone []AuditGone `json:"gone,omitempty"`
	// Skipped lists the resource types that the audit did not read, and why.
	Skipped []Skipped `json:"skipped"`
	// Complete is true if the audit read everything that you asked for. Resource types that you have no permission to
	// list make it false if you named them, if you can't list any type, or if you set a --fail-above flag without
	// --allow-unlisted. With a --fail-above flag, an entry in summary.inconsistent makes it false, too.
	Complete bool `json:"complete"`
	// Gate holds the limits of the --fail-above flags, and the prefixes that exceed a limit; null without these flags.
	Gate *AuditGate `json:"gate"`
}

// AuditServer is the API server that the audit read.
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
	// MinCount is the value of --min-count. The list items has only prefixes with at least this number of names.
	MinCount int64 `json:"minCount"`
	// MinStem is the number of names that a stem needs to be in items: 20, or the value of --min-count if you set it.
	MinStem int64 `json:"minStem"`
	// Top is the value of --top, which is the largest number of prefixes in items; 0 for all.
	Top int `json:"top"`
	// Prefixes are the prefixes that you named, truncated to 58 bytes, as PREFIX or TYPE/PREFIX; absent if you named
	// none.
	Prefixes []string `json:"prefixes,omitempty"`
	// ComparedWith is the metadata.creationTimestamp of the earlier audit (--compare); absent without the flag.
	ComparedWith *metav1.Time `json:"comparedWith,omitempty"`
}

// AuditSummary holds the totals of an audit.
type AuditSummary struct {
	// ResourceTypes is the number of resource types that the audit read.
	ResourceTypes int `json:"resourceTypes"`
	// Objects is the number of objects that the audit read, with and without generated
	// names.
	Objects int64 `json:"objects"`
	// Prefixes is the number of prefixes that have names, including hidden prefixes.
	Prefixes int64 `json:"prefixes"`
	// Requests is the number of requests that the audit sent.
	Requests int64 `json:"requests"`
	// Seconds is the duration of the audit, in seconds.
	Seconds float64 `json:"seconds"`
	// Inconsistent are the resource types, as RESOURCE.GROUP, whose list expired while the audit read it. The audit
	// counted no object of these types twice. But it might have missed or included objects that were created or deleted
	// during the audit.
	Inconsistent []string `json:"inconsistent"`
	// AheadSeconds is the number of seconds by which the newest creationTimestamp is later than the end of the audit,
	// by the server's clock; absent up to 60. If the field is present, the numbers of recently created objects are too
	// high.
	AheadSeconds float64 `json:"aheadSeconds,omitempty"`
}

// AuditVerdict reports whether a create is close to failing, and which prefixes have the most
// new objects. It includes hidden prefixes. If the attempts of an API are unknown, it assumes
// one.
type AuditVerdict struct {
	// CloseToFailing is the number of prefixes that are close to failing. Their next create fails with a probability
	// above 0.1%, or a failure is expected within a year.
	CloseToFailing int64 `json:"closeToFailing"`
	// Closest is the prefix for which a failure is expected first. If none is expected within a year, it is the prefix
	// with the smallest room. It is null if there is no prefix.
	Closest *AuditClosest `json:"closest"`
	// AttemptsUnknown are the resource types, as RESOURCE.GROUP, whose number of attempts per create is unknown. The
	// verdict assumes one attempt for them.
	AttemptsUnknown []string `json:"attemptsUnknown"`
	// MostCreatedCount is the number of prefixes, and of entries of folded, with many new objects. Many means 1,000 or
	// more in the last ten minutes, 100 or more in the last ten minutes if they are at least a tenth of all names, or
	// more than 1,000 in the last 24 hours.
	MostCreatedCount int64 `json:"mostCreatedCount"`
	// MostCreated are up to three of the prefixes, and of the entries of folded, with many new objects. Those with many
	// objects of the last ten minutes come first, ordered by last10m. The others follow, ordered by last24h.
	MostCreated []AuditMostCreated `json:"mostCreated"`
}

// AuditClosest is the prefix that is closest to failing.
type AuditClosest struct {
	PrefixRef `json:",inline"`
	// Names is the number of names that exist under the prefix.
	Names int64 `json:"names"`
	// Attempts is the number of names that the server or the generating client tries per create. It is 1 if the number
	// is unknown.
	Attempts int `json:"attempts"`
	// NextCreate is the probability that the next create fails.
	NextCreate float64 `json:"nextCreate"`
	// Room is the number of further creates until the probability that any of them has failed exceeds 0.1%.
	Room int64 `json:"room"`
	// FailsInDays is the number of days until one failure is expected, if the names grow as in the last 24 hours; null
	// if the number is above 365 or can't be predicted.
	FailsInDays *float64 `json:"failsInDays"`
}

// AuditMostCreated is a prefix, or a folded entry, with many objects of the last ten minutes, or of the
// last 24 hours.
type AuditMostCreated struct {
	PrefixRef `json:",inline"`
	// OwnerKind is the kind of the objects' controllers, like Job, for an entry of folded; absent for a prefix, and for
	// objects without controllers.
	OwnerKind string `json:"ownerKind,omitempty"`
	// Names is the number of names that exist.
	Names int64 `json:"names"`
	// Last10m is the number of existing names that were created in the last ten minutes.
	Last10m int64 `json:"last10m"`
	// Last24h is the number of existing names that were created in the last 24 hours.
	Last24h int64 `json:"last24h"`
	// Creator is the creator of the newest object. For an entry of folded, it is the field manager that created the
	// most objects. It is null if unknown.
	Creator *Creator `json:"creator"`
}

// AuditFolded are objects of one creator that are in no item: under prefixes and stems with few
// names, or with fixed names.
type AuditFolded struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the plural name of the resource type, like pods.
	Resource string `json:"resource"`
	// Namespace is the namespace of the objects. It is empty for a cluster-scoped resource type, and for objects that
	// --watch counts in all namespaces together.
	Namespace string `json:"namespace"`
	// OwnerKind is the kind of the objects' controllers, like Job; empty if the objects have no controllers.
	OwnerKind string `json:"ownerKind"`
	// Manager is the field manager that created the objects; empty if it is unknown, or if the objects have
	// controllers.
	Manager string `json:"manager"`
	// Owners is the number of controllers that own the objects.
	Owners int64 `json:"owners"`
	// Prefixes is the number of prefixes and stems of the objects. Objects with fixed names have neither.
	Prefixes int64 `json:"prefixes"`
	// Names is the number of objects in this entry of folded.
	Names int64 `json:"names"`
	// Largest is the prefix or stem with the most names; absent if all objects have fixed names.
	Largest *AuditLargest `json:"largest,omitempty"`
	// Last10m is the number of objects that were created in the last ten minutes; null with --watch.
	Last10m *int64 `json:"last10m"`
	// Last24h is the number of objects that were created in the last 24 hours; null with --watch.
	Last24h *int64 `json:"last24h"`
	// Creators are up to three field managers that created the objects. The field manager of the most objects comes
	// first. The list has no controllers.
	Creators []Creator `json:"creators"`
	// Measured holds the creates and deletes that --watch observed; absent without --watch. Creates and deletes of
	// prefixes that have been empty for an hour are left out.
	Measured *Measured `json:"measured,omitempty"`
	// Orphaned are Pods that have no controller, and whose labels name a Job that doesn't exist; absent without such
	// Pods, and with --watch.
	Orphaned *AuditOrphaned `json:"orphaned,omitempty"`
	// Deleting are objects that still exist, although their deletion was requested; absent without such objects, and
	// with --watch.
	Deleting *AuditDeleting `json:"deleting,omitempty"`
}

// AuditOrphaned are Pods that have no controller, and labels of a Job that doesn't exist.
type AuditOrphaned struct {
	// Names is the number of these Pods.
	Names int64 `json:"names"`
	// Unknown is true if the audit couldn't list Jobs. Then the number of Pods includes Pods whose Job exists.
	Unknown bool `json:"unknown,omitempty"`
}

// AuditDeleting are objects that still exist, although their deletion was requested.
type AuditDeleting struct {
	// Names is the number of objects that are being deleted.
	Names int64 `json:"names"`
	// Since is the time of the earliest request to delete one of these objects; null if unknown.
	Since *metav1.Time `json:"since"`
	// Finalizer is the finalizer that most of these objects have; absent if none of them has a finalizer.
	Finalizer string `json:"finalizer,omitempty"`
	// Held is the number of these objects that have this finalizer.
	Held int64 `json:"held,omitempty"`
}

// AuditLargest is the prefix or stem of a folded entry with the most names.
type AuditLargest struct {
	// Prefix is the generateName, truncated to 58 bytes, or the stem.
	Prefix string `json:"prefix"`
	// Naming is the origin of the names, as in items: generateName, client, stem or none.
	Naming Naming `json:"naming"`
	// Names is the number of names under this prefix or stem.
	Names int64 `json:"names"`
}

// AuditItem is one prefix: a resource type, a namespace, an effective prefix or a stem, and the
// origin of its names.
type AuditItem struct {
	PrefixRef `json:",inline"`
	// Version is the API version in which the audit read the objects, like v1.
	Version string `json:"version"`

	// Names is the number of names that exist under the prefix, whether the server
	// generated them or not.
	Names int64 `json:"names"`
	// Last10m is the number of names whose object was created in the last ten minutes, by the server's clock; absent
	// with --watch.
	Last10m *int64 `json:"last10m,omitempty"`
	// Last24h is the number of names whose object was created in the last 24 hours, by the server's clock; absent with
	// --watch.
	Last24h *int64 `json:"last24h,omitempty"`
	// Generated is the number of names whose object has this prefix in metadata.generateName.
	Generated int64 `json:"generated"`
	// RawPrefixes is the number of different generateNames that have this prefix as their first 58 bytes, or as a
	// whole; 64 means 64 or more.
	RawPrefixes int `json:"rawPrefixes"`
	// Oldest is the creation time of the oldest object; null if unknown.
	Oldest *metav1.Time `json:"oldest"`
	// Newest is the creation time of the newest object; null if unknown.
	Newest *metav1.Time `json:"newest"`
	// ClientGenerated is true if the names look generated by a client, and no object has this prefix in
	// metadata.generateName. Such a client tries one name per create.
	ClientGenerated bool `json:"clientGenerated,omitempty"`
	// GenerateNames are the first eight of the different generateNames; absent if there are fewer than two.
	GenerateNames []string `json:"generateNames,omitempty"`
	// Creators is a list with one element, the creator of the newest object; absent if the creator is unknown.
	Creators []Creator `json:"creators,omitempty"`
	// CreatorCount is the number of different creators of the objects; 64 means 64 or more.
	CreatorCount int `json:"creatorCount,omitempty"`
	// Measured holds the creates and deletes that --watch observed; absent without --watch,
	// and for resource types that can't be watched.
	Measured *Measured `json:"measured,omitempty"`
	// Growth is the change since the earlier audit (--compare); absent without the flag, and if the earlier audit did
	// not read these objects.
	Growth  *Growth `json:"growth,omitempty"`
	Retries `json:",inline"`
	// NextCreate is the probability that the next create fails.
	NextCreate NextCreate `json:"nextCreate"`
	// Room is the number of further creates until the probability that any of them has failed exceeds 0.1%.
	Room AuditRoom `json:"room"`
	// FailsInDays is the number of days until one failure is expected, if every day adds Last24h names. If the number
	// of attempts per create is unknown, the forecast assumes one attempt. The field is absent if the number is above
	// 365 or can't be predicted, and with --watch.
	FailsInDays *float64 `json:"failsInDays,omitempty"`
	// ReplicaBounded is true if a number of replicas limits the number of names. This holds for Pods of ReplicaSets,
	// ReplicationControllers and DaemonSets, and for EndpointSlices of Services.
	ReplicaBounded bool `json:"replicaBounded,omitempty"`
	// Orphaned are Pods that have no controller, and whose labels name a Job that doesn't exist; absent without such
	// Pods, and with --watch.
	Orphaned *AuditOrphaned `json:"orphaned,omitempty"`
	// Deleting are objects that still exist, although their deletion was requested; absent without such objects, and
	// with --watch.
	Deleting *AuditDeleting `json:"deleting,omitempty"`
	// Notes are short remarks about the prefix, as in the column NOTES of the table.
	Notes []string `json:"notes"`
}

// Creator is the creator of an object: its controller, or the field manager that created it.
type Creator struct {
	// Group is the API group of the controller; absent if the group is empty, or if the creator is a field manager.
	Group string `json:"group,omitempty"`
	// Kind is the kind of the controller; empty if the creator is a field manager.
	Kind string `json:"kind"`
	// Name is the name of the controller; empty if the creator is a field manager.
	Name string `json:"name"`
	// Manager is the field manager that owns metadata.generateName. If there is none, it is the manager of the oldest
	// entry of managedFields. It is empty if the creator is a controller.
	Manager string `json:"manager"`
	// Guess is true if Manager is from the oldest entry of managedFields.
	Guess bool `json:"guess,omitempty"`
}

// Measured holds the creates and deletes of one prefix that a watch observed.
type Measured struct {
	// Creates is the number of names that were created during the watch.
	Creates int64 `json:"creates"`
	// Deletes is the number of names that were deleted during the watch.
	Deletes int64 `json:"deletes"`
	// Seconds is the number of seconds since the watch of these names began.
	Seconds float64 `json:"seconds"`
	// Gaps is the number of times that the watch lost events, after which the audit counted the objects again. If this
	// number is above 0, creates and deletes are lower bounds. The number of names is exact.
	Gaps int `json:"gaps"`
	// RatePerDay is the number of creates less deletes per day, as an average in which newer events weigh more. The
	// average is over a minute, ten minutes, an hour or a day: the shortest of these times with at least ten creates
	// and deletes in total, or else a day. The value is null in the first ten seconds.
	RatePerDay *float64 `json:"ratePerDay"`
}

// Growth is the change of a prefix since an earlier audit.
type Growth struct {
	// Days is the time between the earlier audit and this audit, in days of 24 hours.
	Days float64 `json:"days"`
	// Names is the change in the number of names, negative if there are fewer now. It is a lower bound if the earlier
	// audit hid the prefix because of --min-count, or might not have recognized its client-generated names. It is null
	// if the earlier audit might have hidden the prefix because of --top.
	Names *int64 `json:"names"`
	// PerDay is the growth in names per day, which is Names divided by Days.
	PerDay *float64 `json:"perDay"`
	// PerDayMost is the upper bound of the growth in names per day. It equals PerDay if Names is exact.
	PerDayMost float64 `json:"perDayMost"`
	// New is true if the prefix certainly had no names in the earlier audit.
	New bool `json:"new"`
	// DaysToGate is the number of days until the prefix exceeds --fail-above or --fail-above-count, if it grows at this
	// rate. It is 0 if the prefix exceeds a limit now, and null without these flags or without growth.
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
	// Resource is the plural name of the resource type, like jobs.
	Resource string `json:"resource"`
	// Objects is the number of objects of this type.
	Objects int64 `json:"objects"`
}

// NextCreate is the probability that the next create fails.
type NextCreate struct {
	// NoRetry is the probability that one random name is taken, so that a create with one attempt fails.
	NoRetry float64 `json:"noRetry"`
	// ServerRetry is the probability that all names that a create tries (attempts) are taken; null if the number of
	// attempts is unknown.
	ServerRetry *float64 `json:"serverRetry"`
}

// AuditRoom is the number of further creates until the chance of any failure exceeds
// Probability.
type AuditRoom struct {
	// Probability is the limit for the probability that any of the creates fails, always 0.001.
	Probability float64 `json:"probability"`
	// NoRetry is the number of further creates within this limit, with one attempt per create; null if unlimited.
	NoRetry *int64 `json:"noRetry"`
	// ServerRetry is the number of further creates within this limit, with all attempts of each create; null if
	// unlimited, or if the number of attempts is unknown.
	ServerRetry *int64 `json:"serverRetry"`
}

// AuditHidden describes the objects that are neither in items nor in folded. Either --top hides their prefix, or their
// entry in folded would have too few objects.
type AuditHidden struct {
	// Prefixes is the number of prefixes and stems of the hidden objects.
	Prefixes int64 `json:"prefixes"`
	// Names is the number of hidden objects.
	Names int64 `json:"names"`
	// BelowTop is the number of prefixes and stems that are hidden only because of --top.
	BelowTop int64 `json:"belowTop,omitempty"`
	// NamesBelowTop is the number of names that are hidden only because of --top.
	NamesBelowTop int64 `json:"namesBelowTop,omitempty"`
}

// Skipped is a resource type, or a resource type in one namespace, that the audit did not
// read.
type Skipped struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the plural name of the resource type; empty if a whole API group was skipped.
	Resource string `json:"resource"`
	// Namespace is the namespace in which the type was skipped; empty for all namespaces.
	Namespace string `json:"namespace"`
	// Reason is why the type was skipped, as one word for scripts: excluded (its objects have no generated names),
	// undiscovered (the server's discovery lacks the API group), unauthorized (HTTP status 401), forbidden (no
	// permission), notFound (the type no longer exists), notListable (no verb list, or no metadata), crowded (too many
	// prefixes), throttled (HTTP status 429), unreachable (no connection, or HTTP status 502, 503 or 504), timeout (no
	// response in time), malformed (the response is not a list), expired (the list expired repeatedly), interrupted
	// (the command ended before) or failed (any other cause). In a DuplicateReport, incomparable means that only some
	// objects of the type were skipped.
	Reason SkipReason `json:"reason"`
	// Message is the cause, as text for people.
	Message string `json:"message"`
}

// SkipReason is a reason to skip a resource type.
type SkipReason string

// AuditGate holds the limits of the --fail-above flags, and the prefixes above them.
type AuditGate struct {
	// FailAbove is the value of --fail-above. A prefix exceeds this limit if its next create fails with a higher
	// probability. The limit is null if you did not set the flag.
	FailAbove *float64 `json:"failAbove"`
	// FailAboveCount is the value of --fail-above-count. A prefix exceeds this limit if it has more names. The limit is
	// null if you did not set the flag.
	FailAboveCount *int64 `json:"failAboveCount"`
	// FailAboveGrowth is the value of --fail-above-growth. A prefix exceeds this limit if it has grown by more names
	// per day since the earlier audit (--compare). The limit is absent if you did not set the flag.
	FailAboveGrowth *float64 `json:"failAboveGrowth,omitempty"`
	// Undecided is the number of prefixes that might exceed FailAboveGrowth. Their exact growth is unknown, because the
	// earlier audit hid them or did not read them.
	Undecided int64 `json:"undecided,omitempty"`
	// ExceededCount is the number of prefixes that exceed a limit, including hidden prefixes.
	ExceededCount int64 `json:"exceededCount"`
	// Exceeded are up to 1,000 of the prefixes that exceed a limit. The highest probability that the next create fails
	// comes first. Prefixes with the same probability are ordered by their number of names.
	Exceeded []AuditExceeded `json:"exceeded"`
}

// AuditExceeded is one prefix above a limit.
type AuditExceeded struct {
	// Resource is the resource type, as RESOURCE.GROUP.
	Resource string `json:"resource"`
	// Namespace is the namespace of the objects; empty if the resource type is cluster-scoped.
	Namespace string `json:"namespace"`
	// Prefix is the generateName, truncated to 58 bytes, or the stem.
	Prefix string `json:"prefix"`
	// Naming is the origin of the names, as in items: generateName, client, stem or none.
	Naming Naming `json:"naming"`
	// Names is the number of names under the prefix.
	Names int64 `json:"names"`
	// NextCreate is the probability that the next create fails. If the number of attempts per create is unknown, the
	// value is for one attempt.
	NextCreate float64 `json:"nextCreate"`
	// GrowthPerDay is the growth in names per day since the earlier audit (--compare), or a lower bound of this growth;
	// absent if it is unknown.
	GrowthPerDay *float64 `json:"growthPerDay,omitempty"`
}
