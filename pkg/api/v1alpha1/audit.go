package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AuditReport is the generated names that exist on a cluster, by prefix, and
// what they mean.
type AuditReport struct {
	metav1.TypeMeta `json:",inline"`

	Metadata AuditMetadata `json:"metadata"`
	Server   AuditServer   `json:"server"`
	Scope    AuditScope    `json:"scope"`
	Summary  AuditSummary  `json:"summary"`
	// Items are the name spaces that are shown, in the order of --sort-by.
	Items  []AuditItem `json:"items"`
	Hidden AuditHidden `json:"hidden"`
	// Unprefixed are the types with objects whose names are under no prefix that
	// counts, most objects first.
	Unprefixed []TypeObjects `json:"unprefixed,omitempty"`
	// Gone are the prefixes that the audit of --compare had and that do not count any
	// more: they have no name, or nobody says them and they are not evident.
	Gone []AuditGone `json:"gone,omitempty"`
	// Skipped is what was not counted, and why.
	Skipped []Skipped `json:"skipped"`
	// Complete is false if anything that was to be counted could not be. Types
	// that the user may not list do not matter unless they were named, or none
	// may be listed, or there is a gate without --allow-unlisted.
	Complete bool `json:"complete"`
	// Gate is what the --fail-above flags asked for; null if none was given.
	Gate *AuditGate `json:"gate"`
}

// AuditMetadata is when the report was made.
type AuditMetadata struct {
	// CreationTimestamp is the time of the counts: when the audit began, or with --watch
	// when the report was made.
	CreationTimestamp metav1.Time `json:"creationTimestamp"`
}

// AuditServer is the server that was asked.
type AuditServer struct {
	// GitVersion is the server's version.
	GitVersion string `json:"gitVersion"`
	Retries    `json:",inline"`
}

// AuditScope is what was counted.
type AuditScope struct {
	// AllNamespaces is true if all namespaces were counted.
	AllNamespaces bool `json:"allNamespaces"`
	// Namespace is the one that was counted; empty for all.
	Namespace string `json:"namespace"`
	// Resources are the types that were counted, as RESOURCE.GROUP.
	Resources []string `json:"resources"`
	// LabelSelector is that of --selector, which chooses prefixes; empty for all.
	LabelSelector string `json:"labelSelector"`
	// MinCount is the least number of names that is shown.
	MinCount int64 `json:"minCount"`
	// Top is how many prefixes are shown at most, 0 for all. The first version of
	// this report did not say.
	Top *int `json:"top,omitempty"`
	// Prefixes are the only effective prefixes that were counted; none for all.
	Prefixes []string `json:"prefixes,omitempty"`
	// ComparedWith is the creationTimestamp of the audit of --compare.
	ComparedWith *metav1.Time `json:"comparedWith,omitempty"`
}

// AuditSummary is how much was read.
type AuditSummary struct {
	ResourceTypes int `json:"resourceTypes"`
	// Objects is all objects read, whatever their names.
	Objects  int64   `json:"objects"`
	Prefixes int64   `json:"prefixes"`
	Requests int64   `json:"requests"`
	Seconds  float64 `json:"seconds"`
	// Inconsistent are the types, as RESOURCE.GROUP, whose counts are not of
	// one instant, because a list expired on its way, or is not sorted. None is
	// counted twice, but what came or went meanwhile may count or not.
	Inconsistent []string `json:"inconsistent"`
}

// AuditItem is one name space: a resource, a namespace, and an effective
// prefix, the first 58 bytes of generateName.
type AuditItem struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Version is the version of the API by which it was listed.
	Version string `json:"version"`
	// Resource is the type, in the plural: jobs.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource.
	Namespace string `json:"namespace"`
	// Prefix is the effective prefix, the first 58 bytes of generateName.
	Prefix string `json:"prefix"`

	// Names is the number of names that are taken, however that came about.
	Names int64 `json:"names"`
	// Generated is the number of them whose own generateName is the prefix.
	Generated int64 `json:"generated"`
	// RawPrefixes is the number of different generateNames that share the
	// space; 64 means that or more.
	RawPrefixes int `json:"rawPrefixes"`
	// Oldest is the earliest time of creation among the names; null if unknown.
	Oldest *metav1.Time `json:"oldest"`
	// Newest is the latest time of creation among the names; null if unknown.
	Newest *metav1.Time `json:"newest"`
	// NamedByClients is true if no generateName says the prefix, but the names
	// evidently come from a client's own generator. It makes one try.
	NamedByClients bool `json:"namedByClients,omitempty"`
	// SuffixLength is the number of random characters in the names, if it is not
	// the 5 of a server.
	SuffixLength int `json:"suffixLength,omitempty"`
	// GenerateNames are the generateNames that share the space, the first eight,
	// where there are several.
	GenerateNames []string `json:"generateNames,omitempty"`
	// MadeBy is who made the newest of the names; empty if that is unknown.
	MadeBy []Maker `json:"madeBy,omitempty"`
	// Makers is how many different makers were seen. Only objects that were newer
	// than all before them in the list were looked at; 64 means that or more.
	Makers  int     `json:"makers,omitempty"`
	Creates Creates `json:"creates"`
	// Growth is the change since the audit of --compare.
	Growth     *Growth `json:"growth,omitempty"`
	Retries    `json:",inline"`
	NextCreate NextCreate    `json:"nextCreate"`
	Headroom   AuditHeadroom `json:"headroom"`
	Forecast   Forecast      `json:"forecast"`
	// FirstFailure is when the first failed create is to be expected.
	FirstFailure *AuditFirstFailure `json:"firstFailure,omitempty"`
	// ReusedPerDay is how many creates per day take on average the name of an
	// object that was deleted, over the days of the forecast, if as many are
	// deleted as created. No retry prevents that.
	ReusedPerDay *float64 `json:"reusedPerDay,omitempty"`
	// ReplicaBounded is true if a number of replicas bounds the names: Pods of
	// ReplicaSets, ReplicationControllers and DaemonSets, EndpointSlices of
	// Services.
	ReplicaBounded bool `json:"replicaBounded,omitempty"`
	// Notes are what else a person should know.
	Notes []string `json:"notes"`
}

// Maker is who made an object: its controller, or the field manager that
// created it.
type Maker struct {
	// Kind is that of the controller among the owners; empty without one.
	Kind string `json:"kind"`
	// Name is the controller's.
	Name string `json:"name"`
	// Manager is the field manager that owns metadata.generateName, or that of the
	// oldest entry of managedFields; empty where there is a controller.
	Manager string `json:"manager"`
	// Guess is true if the manager is only that of the oldest entry.
	Guess bool `json:"guess,omitempty"`
}

// Creates is the rate of creation of generated names. Only survivors are seen, so
// it is a lower bound. Observed, PerDay and the interval are those of one window,
// a day unless --window says another; PerDayLower and PerDayUpper are its exact
// two-sided 95 % Poisson interval (Garwood 1936).
type Creates struct {
	// WindowSeconds is the length of the window, in seconds.
	WindowSeconds float64 `json:"windowSeconds"`
	// Observed is the number of names created in the window.
	Observed int64 `json:"observed"`
	// PerDay is the rate, in creates per day.
	PerDay float64 `json:"perDay"`
	// PerDayLower is the lower end of the rate's interval.
	PerDayLower float64 `json:"perDayLower"`
	// PerDayUpper is the upper end of the rate's interval.
	PerDayUpper float64 `json:"perDayUpper"`
	// Windows are all that were looked at, the shortest first. The greatest of
	// their perDayLower is what the forecasts are made with: of four windows, it
	// holds with 95 % for a rate that is steady.
	Windows []CreatesWindow `json:"windows,omitempty"`
	// Measured is what --watch has seen come and go; null without it, and of types
	// that cannot be watched. What else is here is as of the last list.
	Measured *Measured `json:"measured,omitempty"`
}

// Measured is what a watch has seen come and go in a name space.
type Measured struct {
	// Creates is the number of names that came.
	Creates int64 `json:"creates"`
	// Deletes is the number of names that went.
	Deletes int64 `json:"deletes"`
	// Reused is how many of the creates took the name of an object that was deleted
	// in that time; null where that is not counted, as for all but the 20 riskiest.
	Reused *int64 `json:"reused"`
	// Seconds is the time since which this name space is followed, in seconds.
	Seconds float64 `json:"seconds"`
	// Gaps is how often its type had to be counted again, because the server did not
	// know any more what had changed. Above 0, creates, deletes and reused are at
	// least so many; the names are right.
	Gaps int `json:"gaps"`
	// ExpectedConflicts is the sum of the chances of the creates that were seen: how
	// many others have failed, on average.
	ExpectedConflicts float64 `json:"expectedConflicts"`
	// PerDay is the rate of creation, in creates per day: that of the last of the
	// windows.
	PerDay float64 `json:"perDay"`
	// PerDayUpper is the upper end of the exact two-sided 95 % Poisson interval of
	// the rate over all of the time.
	PerDayUpper float64 `json:"perDayUpper"`
	// GrowthPerDay is the names that came less those that went, per day.
	GrowthPerDay float64 `json:"growthPerDay"`
	// Windows are the rates over exponentially decaying windows, the shortest first:
	// what happened a window's length ago weighs 1/e.
	Windows []MeasuredWindow `json:"windows"`
}

// MeasuredWindow is the rates over one decaying window.
type MeasuredWindow struct {
	// Seconds is its length, in seconds.
	Seconds float64 `json:"seconds"`
	// CreatesPerDay is the names that came, per day.
	CreatesPerDay float64 `json:"createsPerDay"`
	// DeletesPerDay is the names that went, per day.
	DeletesPerDay float64 `json:"deletesPerDay"`
}

// RatePerDay returns the rate of creation that a report goes by, in creates per day,
// and reports whether it is measured. A measured rate that is too short to exclude a
// greater one of LeastPerDay does not count.
func (c Creates) RatePerDay() (perDay float64, measured bool) {
	least := c.LeastPerDay()
	if m := c.Measured; m != nil && (m.PerDay >= least || m.PerDayUpper < least) {
		return m.PerDay, true
	}
	return least, false
}

// CreatesWindow is what was seen of a time that ends with the audit.
type CreatesWindow struct {
	// Seconds is its length, in seconds.
	Seconds float64 `json:"seconds"`
	// Observed is the number of names created in it that are still there.
	Observed int64 `json:"observed"`
	// PerDayLower is the lower end of the exact two-sided 97.5 % Poisson interval
	// of the rate, in creates per day.
	PerDayLower float64 `json:"perDayLower"`
}

// LeastPerDay returns the greatest of the lower ends of the rate, in creates per
// day; without windows, as in the first version of the report, the rate seen.
func (c Creates) LeastPerDay() float64 {
	if len(c.Windows) == 0 {
		return c.PerDay
	}
	least := 0.0
	for _, w := range c.Windows {
		least = max(least, w.PerDayLower)
	}
	return least
}

// Growth is the change of a population since an earlier audit.
type Growth struct {
	// Days is the time between the two, in days of 24 hours.
	Days float64 `json:"days"`
	// Names is how many names more there are, negative if there are fewer: at
	// least so many, where the earlier audit hid the prefix, or clients name it and it
	// was not evident. It is null if that audit does not say whether it cut the prefix
	// off, or is of a version that looked for no such.
	Names *int64 `json:"names"`
	// PerDay is that per day.
	PerDay *float64 `json:"perDay"`
	// PerDayMost is the most that it can be: more than PerDay where Names is a least
	// number.
	PerDayMost float64 `json:"perDayMost"`
	// New is true if the earlier audit had no name of it for certain.
	New bool `json:"new"`
	// DaysToGate is the time until a gate on the names or on the chance is
	// exceeded at this rate, in days; 0 if it is, null without a gate or growth.
	DaysToGate *float64 `json:"daysToGate"`
}

// Exactly returns the growth per day, or nil where it is not known, or only within
// bounds. There may be no Growth.
func (g *Growth) Exactly() *float64 {
	if g == nil || g.PerDay == nil || *g.PerDay != g.PerDayMost {
		return nil
	}
	return g.PerDay
}

// AuditGone is a prefix that an earlier audit had, and that does not count any more.
type AuditGone struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the type, in the plural: jobs.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource.
	Namespace string `json:"namespace"`
	// Prefix is the effective prefix.
	Prefix string `json:"prefix"`
	// Names is how many it had.
	Names int64 `json:"names"`
}

// TypeObjects is a number of objects of one type.
type TypeObjects struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the type, in the plural: jobs.
	Resource string `json:"resource"`
	// Objects is how many there are.
	Objects int64 `json:"objects"`
}

// NextCreate is the probability that the next create conflicts, and fails.
// ServerRetry is null where the number of tries is.
type NextCreate struct {
	// NoRetry is the probability that the next create meets a taken name.
	NoRetry float64 `json:"noRetry"`
	// ServerRetry is the probability that all names the server tries are taken;
	// null if its tries are unknown.
	ServerRetry *float64 `json:"serverRetry"`
}

// AuditHeadroom is the number of further creates until the chance of any
// failure passes the probability.
type AuditHeadroom struct {
	// Probability is that of any failure, 0.001.
	Probability float64 `json:"probability"`
	// NoRetry is the number of creates without retries; null if unbounded.
	NoRetry *int64 `json:"noRetry"`
	// ServerRetry is the number of creates with the server's retries; null if
	// unbounded, or if its tries are unknown.
	ServerRetry *int64 `json:"serverRetry"`
}

// Forecast is the expected number of conflicts over a horizon, at the rate
// seen, for a population that stays and for one that nobody deletes from.
type Forecast struct {
	// Days is the horizon, in days of 24 hours.
	Days float64 `json:"days"`
	// Steady is for a population whose creates are matched by deletions.
	Steady ExpectedConflicts `json:"steady"`
	// NothingDeleted is for a population that only grows.
	NothingDeleted ExpectedConflicts `json:"nothingDeleted"`
}

// AuditFirstFailure is the mean time until the first create fails, at the least
// rate of creation that was seen, with the attempts in force. Where these are
// unknown, GrowingDays is without retries and SteadyDays with those of
// kube-apiserver, so that the truth lies between. Where a growth was measured, by
// --watch or --compare, both are the time at that growth.
type AuditFirstFailure struct {
	// GrowingDays is the time if none is deleted, in days; null if nothing is seen
	// to be created.
	GrowingDays *float64 `json:"growingDays"`
	// SteadyDays is the time if as many are deleted as created; null also if no
	// create can fail then.
	SteadyDays *float64 `json:"steadyDays"`
}

// ExpectedConflicts is the mean number of failing creates.
type ExpectedConflicts struct {
	// NoRetry is the mean number without retries.
	NoRetry float64 `json:"noRetry"`
	// ServerRetry is that with the server's retries; null if its tries are
	// unknown.
	ServerRetry *float64 `json:"serverRetry"`
}

// AuditHidden is what --min-count and --top keep out of the items.
type AuditHidden struct {
	// Prefixes is the number of hidden prefixes.
	Prefixes int64 `json:"prefixes"`
	// Objects is the names under the hidden prefixes.
	Objects int64 `json:"objects"`
}

// Skipped is a type, or a type in one namespace, that was not counted.
type Skipped struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the type, in the plural; empty for a whole group.
	Resource string `json:"resource"`
	// Namespace is empty if all namespaces were skipped.
	Namespace string `json:"namespace"`
	// Reason is one word for a script: excluded, undiscovered, unauthorized,
	// forbidden, notFound, notListable, throttled, unreachable, timeout,
	// malformed, expired, interrupted or failed.
	Reason string `json:"reason"`
	// Message is the cause in words.
	Message string `json:"message"`
}

// AuditGate is what the --fail-above flags asked for, and what exceeded it.
// A gate that was not asked for is null.
type AuditGate struct {
	FailAbove      *float64 `json:"failAbove"`
	FailAboveCount *int64   `json:"failAboveCount"`
	// FailAboveGrowth is the largest growth per day since the audit of --compare
	// that passes.
	FailAboveGrowth *float64 `json:"failAboveGrowth,omitempty"`
	// Undecided is how many name spaces have a growth that may be above
	// FailAboveGrowth, as far as the earlier audit tells.
	Undecided int64 `json:"undecided,omitempty"`
	// ExceededCount is the number of name spaces that exceeded a gate, those
	// included that --min-count and --top hide. Exceeded is the worst of them,
	// at most 1,000, by the chance that the next create conflicts, then by
	// names, the worst first.
	ExceededCount int64           `json:"exceededCount"`
	Exceeded      []AuditExceeded `json:"exceeded"`
}

// AuditExceeded is one name space that exceeded a gate.
type AuditExceeded struct {
	Resource  string `json:"resource"` // as RESOURCE.GROUP
	Namespace string `json:"namespace"`
	Prefix    string `json:"prefix"`
	Names     int64  `json:"names"`
	// NextCreate is the probability that the next create conflicts, with the
	// attempts in force; where these are unknown, without retries.
	NextCreate float64 `json:"nextCreate"`
	// GrowthPerDay is the growth since the audit of --compare, at least.
	GrowthPerDay *float64 `json:"growthPerDay,omitempty"`
}
