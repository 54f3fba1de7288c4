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
	// Skipped is what was not counted, and why.
	Skipped []Skipped `json:"skipped"`
	// Complete is false if anything that was to be counted could not be. Types
	// that the user may not list do not matter unless they were named, or none
	// may be listed.
	Complete bool `json:"complete"`
	// Gate is what the --fail-above flags asked for; null if none was given.
	Gate *AuditGate `json:"gate"`
}

// AuditMetadata is when the report was made.
type AuditMetadata struct {
	// CreationTimestamp is when the audit began.
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
	Newest     *metav1.Time `json:"newest"`
	Creates    Creates      `json:"creates"`
	Retries    `json:",inline"`
	NextCreate NextCreate    `json:"nextCreate"`
	Headroom   AuditHeadroom `json:"headroom"`
	Forecast   Forecast      `json:"forecast"`
	// Notes are what else a person should know.
	Notes []string `json:"notes"`
}

// Creates is the rate of creation, as seen in a window. Only survivors are
// seen, so it is a lower bound; PerDayLower and PerDayUpper are its exact
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
}
