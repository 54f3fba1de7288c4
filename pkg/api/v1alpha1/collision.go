package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CollisionReport is the report of kubectl genname report. For each prefix (the value of generateName) and each number
// of further creates, it has the probability that creates fail. A create fails if all names that are tried exist
// already.
type CollisionReport struct {
	metav1.TypeMeta `json:",inline"`

	// NamePool describes the names that one prefix can have in one namespace and resource type.
	NamePool NamePool         `json:"namePool"`
	Server   CollisionServer  `json:"server"`
	Verdict  CollisionVerdict `json:"verdict"`
	// Items are the forecasts, one for each prefix and each number of creates.
	Items []CollisionItem `json:"items"`
}

// CollisionState reports whether creates are likely to fail.
type CollisionState string

const (
	// CollisionOK means that the next 1,000 creates are unlikely to fail.
	CollisionOK CollisionState = "ok"
	// CollisionRisk means that any of the next 1,000 creates might fail.
	CollisionRisk CollisionState = "risk"
	// CollisionFailing means that the next create might fail.
	CollisionFailing CollisionState = "failing"
)

// CollisionVerdict describes how likely creates are to fail with the server's own retries.
type CollisionVerdict struct {
	// State is `ok` if each prefix has a room of 1,000 creates or more, `risk` if a prefix has a smaller room, or
	// `failing` if a prefix has no room. The room of a prefix is the number of creates until the probability that any
	// of them has failed exceeds --probability.
	State CollisionState `json:"state"`
	// Risk is the number of prefixes that have a room of 1 to 999 creates.
	Risk int `json:"risk"`
	// Failing is the number of prefixes without room. Their next create fails with a probability above --probability.
	Failing int `json:"failing"`
	// AttemptsUnknown is the number of prefixes for which it is unknown how many names the server tries per create. The
	// verdict assumes one attempt for them.
	AttemptsUnknown int `json:"attemptsUnknown"`
	// Closest is the prefix with the smallest room.
	Closest CollisionClosest `json:"closest"`
}

// CollisionClosest is the prefix with the least room. Group, resource, namespace and prefix
// are empty if the report contacted no cluster.
type CollisionClosest struct {
	PrefixRef `json:",inline"`
	// Room is the number of creates until the probability that any of them has failed exceeds --probability.
	Room int64 `json:"room"`
}

// CollisionServer describes the API server that receives the creates.
type CollisionServer struct {
	// GitVersion is the version of the server; null if the report contacted no server.
	GitVersion *string `json:"gitVersion"`
	Retries    `json:",inline"`
}

// NamePool is the set of names that one prefix can have in one namespace.
type NamePool struct {
	// AlphabetSize is the number of characters from which each random character of a name is picked.
	AlphabetSize int `json:"alphabetSize"`
	// SuffixLength is the number of random characters in a name.
	SuffixLength int `json:"suffixLength"`
	// Names is the number of possible names, which is AlphabetSize to the power of SuffixLength.
	Names int64 `json:"names"`
}

// CollisionItem is one prefix and one number of further creates. Group, resource, namespace
// and prefix are empty if the report contacted no cluster.
type CollisionItem struct {
	PrefixRef `json:",inline"`

	// Existing is the number of names that exist under the prefix.
	Existing int64 `json:"existing"`
	// Creates is the number of further creates.
	Creates int64 `json:"creates"`
	// Policies are the forecasts for four retry policies: none, server, client and server+client, in this order.
	Policies []Policy `json:"policies"`
	// Churn is the forecast for a steady rate of creates and deletes (--rate); null if you did not set the flag.
	Churn *Churn `json:"churn"`
}

// Policy returns the policy with a name, or nil if the item doesn't have it.
func (i CollisionItem) Policy(name PolicyName) *Policy {
	at := slices.IndexFunc(i.Policies, func(p Policy) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return &i.Policies[at]
}

// InForce returns the policy that applies without the plugin: the server's, or no retries if
// the server's attempts are unknown.
func (i CollisionItem) InForce() *Policy {
	if p := i.Policy(PolicyServer); p != nil && p.Attempts != nil {
		return p
	}
	return i.Policy(PolicyNone)
}

// PolicyName names a retry policy.
type PolicyName string

const (
	// PolicyNone is no retry at all.
	PolicyNone PolicyName = "none"
	// PolicyServer is the server's own retries.
	PolicyServer PolicyName = "server"
	// PolicyClient is this plugin's default: it picks the names.
	PolicyClient PolicyName = "client"
	// PolicyServerClient is this plugin's --naming=server: it repeats a create
	// whose names the server found taken.
	PolicyServerClient PolicyName = "server+client"
)

// Policy is the forecast under one retry policy. If attempts is null, all fields that depend
// on it are null.
type Policy struct {
	// Name is `none` (no retries), `server` (the server's own retries), `client` (the default
	// of kubectl genname create) or `server+client` (kubectl genname create --naming=server).
	Name PolicyName `json:"name"`
	// Attempts is the number of attempts per create, including the first; null if unknown.
	Attempts *int `json:"attempts"`
	// NextCreateFails is the probability that the next create fails.
	NextCreateFails *float64 `json:"nextCreateFails"`
	// AnyFails is the probability that at least one of the creates fails.
	AnyFails *float64 `json:"anyFails"`
	// AnyFailsLog10 is the decimal logarithm of AnyFails, which stays accurate if AnyFails is too small for a float64;
	// null if no create can fail, or if the number of attempts is unknown.
	AnyFailsLog10 *float64 `json:"anyFailsLog10"`
	// ExpectedFailures is the mean number of creates that fail, if failed creates are not repeated.
	ExpectedFailures *float64 `json:"expectedFailures"`
	// Room is the largest number of creates for which AnyFails is at most --probability.
	Room *Room `json:"room"`
}

// Room is the largest number of creates for which AnyFails is at most Probability.
type Room struct {
	// Probability is the value of --probability.
	Probability float64 `json:"probability"`
	// Creates is the largest number of creates; null if unlimited.
	Creates *int64 `json:"creates"`
}

// Churn is the forecast for a steady number of objects over a time: as many deletions as
// creates, at random times (a Poisson process).
type Churn struct {
	// CreatesPerDay is the value of --rate, which is the number of creates and also of deletes per day.
	CreatesPerDay float64 `json:"createsPerDay"`
	// Days is the value of --over, in days of 24 hours.
	Days float64 `json:"days"`
	// Creates is the number of creates in this time, which is CreatesPerDay times Days.
	Creates float64 `json:"creates"`
	// Policies are the forecasts for the four retry policies, in the order of items[].policies.
	Policies []ChurnPolicy `json:"policies"`
}

// Policy returns the policy with a name, or nil if the churn doesn't have it.
func (c *Churn) Policy(name PolicyName) *ChurnPolicy {
	at := slices.IndexFunc(c.Policies, func(p ChurnPolicy) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return &c.Policies[at]
}

// ChurnPolicy is the forecast of a churn under one retry policy. If attempts is null, all
// fields that depend on it are null.
type ChurnPolicy struct {
	// Name is the name of the retry policy: `none`, `server`, `client` or `server+client`.
	Name PolicyName `json:"name"`
	// Attempts is the number of attempts per create; null if unknown.
	Attempts *int `json:"attempts"`
	// FailuresPerDay is the mean number of creates that fail per day.
	FailuresPerDay *float64 `json:"failuresPerDay"`
	// DaysToFirstFailure is the mean number of days until a create fails for the first time; null if no create can
	// fail, if the number is too large for a float64, or if the number of attempts is unknown.
	DaysToFirstFailure *float64 `json:"daysToFirstFailure"`
	// AnyFails is the probability that at least one create fails in the time of --over.
	AnyFails *float64 `json:"anyFails"`
	// AnyFailsLog10 is the decimal logarithm of AnyFails; null if no create can fail, or if the number of attempts is
	// unknown.
	AnyFailsLog10 *float64 `json:"anyFailsLog10"`
}
