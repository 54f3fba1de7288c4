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
	Items    []AuditItem   `json:"items"`
	Hidden   AuditHidden   `json:"hidden"`
	Skipped  []Skipped     `json:"skipped"`
	// Complete is false if anything that was to be counted could not be.
	Complete bool `json:"complete"`
	// Gate is null if no gate was asked for.
	Gate *AuditGate `json:"gate"`
}

// AuditMetadata says when the report was made.
type AuditMetadata struct {
	CreationTimestamp metav1.Time `json:"creationTimestamp"`
}

// AuditServer is the server that was asked.
type AuditServer struct {
	GitVersion string `json:"gitVersion"`
	Retries    `json:",inline"`
}

// AuditScope is what was counted.
type AuditScope struct {
	AllNamespaces bool   `json:"allNamespaces"`
	Namespace     string `json:"namespace"`
	// Resources are the types that were counted, as RESOURCE.GROUP.
	Resources     []string `json:"resources"`
	LabelSelector string   `json:"labelSelector"`
	MinCount      int64    `json:"minCount"`
}

// AuditSummary is how much was read.
type AuditSummary struct {
	ResourceTypes int `json:"resourceTypes"`
	// Objects is all objects read, whatever their names.
	Objects  int64   `json:"objects"`
	Prefixes int64   `json:"prefixes"`
	Requests int64   `json:"requests"`
	Seconds  float64 `json:"seconds"`
}

// AuditItem is one name space: a resource, a namespace, and an effective
// prefix, the first 58 bytes of generateName.
type AuditItem struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"` // empty for a cluster-scoped resource
	Prefix    string `json:"prefix"`

	// Names is the number of names that are taken, however that came about.
	Names int64 `json:"names"`
	// Generated is the number of them whose own generateName is the prefix.
	Generated int64 `json:"generated"`
	// RawPrefixes is the number of different generateNames that share the space.
	RawPrefixes int          `json:"rawPrefixes"`
	Oldest      *metav1.Time `json:"oldest"`
	Newest      *metav1.Time `json:"newest"`
	Creates     Creates      `json:"creates"`
	Retries     `json:",inline"`
	NextCreate  NextCreate    `json:"nextCreate"`
	Headroom    AuditHeadroom `json:"headroom"`
	Forecast    Forecast      `json:"forecast"`
	Notes       []string      `json:"notes"`
}

// Creates is the rate of creation, as seen in a window. Only survivors are
// seen, so it is a lower bound; PerDayLower and PerDayUpper are its exact
// two-sided 95 % Poisson interval (Garwood 1936).
type Creates struct {
	WindowSeconds float64 `json:"windowSeconds"`
	Observed      int64   `json:"observed"`
	PerDay        float64 `json:"perDay"`
	PerDayLower   float64 `json:"perDayLower"`
	PerDayUpper   float64 `json:"perDayUpper"`
}

// NextCreate is the probability that the next create conflicts, and fails.
// ServerRetry is null where the number of tries is.
type NextCreate struct {
	NoRetry     float64  `json:"noRetry"`
	ServerRetry *float64 `json:"serverRetry"`
}

// AuditHeadroom is the number of further creates until the chance of any
// failure passes the probability.
type AuditHeadroom struct {
	Probability float64 `json:"probability"`
	NoRetry     *int64  `json:"noRetry"`
	ServerRetry *int64  `json:"serverRetry"`
}

// Forecast is the expected number of conflicts over a horizon, at the rate
// seen, for a population that stays and for one that nobody deletes from.
type Forecast struct {
	Days           float64           `json:"days"`
	Steady         ExpectedConflicts `json:"steady"`
	NothingDeleted ExpectedConflicts `json:"nothingDeleted"`
}

// ExpectedConflicts is the mean number of failing creates.
type ExpectedConflicts struct {
	NoRetry     float64  `json:"noRetry"`
	ServerRetry *float64 `json:"serverRetry"`
}

// AuditHidden is what --min-count and --top keep out of the items.
type AuditHidden struct {
	Prefixes int64 `json:"prefixes"`
	// Objects is the names under the hidden prefixes.
	Objects int64 `json:"objects"`
}

// Skipped is a type, or a type in one namespace, that was not counted.
type Skipped struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

// AuditGate is what the --fail-above flags asked for, and what exceeded it.
type AuditGate struct {
	FailAbove      *float64        `json:"failAbove"`
	FailAboveCount *int64          `json:"failAboveCount"`
	Exceeded       []AuditExceeded `json:"exceeded"`
}

// AuditExceeded is one name space that exceeded a gate.
type AuditExceeded struct {
	Resource   string  `json:"resource"`
	Namespace  string  `json:"namespace"`
	Prefix     string  `json:"prefix"`
	Names      int64   `json:"names"`
	NextCreate float64 `json:"nextCreate"`
}
