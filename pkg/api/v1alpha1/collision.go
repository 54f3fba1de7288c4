package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CollisionReport is how likely conflicts are.
type CollisionReport struct {
	metav1.TypeMeta `json:",inline"`

	Space  Space           `json:"space"`
	Server CollisionServer `json:"server"`
	// Items are the name spaces, each with every number of creates.
	Items []CollisionItem `json:"items"`
	// Gate is what --fail-above asked for; null if it was not given.
	Gate *CollisionGate `json:"gate"`
}

// CollisionServer is the server that creates go to.
type CollisionServer struct {
	// GitVersion is the server's version; null where no server was asked.
	GitVersion *string `json:"gitVersion"`
	Retries    `json:",inline"`
}

// Space is the names that one prefix has.
type Space struct {
	// AlphabetSize is the number of different characters in suffixes.
	AlphabetSize int `json:"alphabetSize"`
	// SuffixLength is the number of random characters in a name.
	SuffixLength int `json:"suffixLength"`
	// Names is the number of names: AlphabetSize to the power of SuffixLength.
	Names int64 `json:"names"`
}

// CollisionItem is one name space and one number of further creates. Group,
// resource, namespace and prefix are empty where no cluster was asked.
type CollisionItem struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the type, in the plural: jobs.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource.
	Namespace string `json:"namespace"`
	// Prefix is the effective prefix, the first 58 bytes of generateName.
	Prefix string `json:"prefix"`

	// Existing is the number of names that are taken.
	Existing int64 `json:"existing"`
	// Creates is the number of further creates.
	Creates int64 `json:"creates"`
	// Policies are the ways to deal with a conflict: none, server, client and
	// server+client, in this order.
	Policies []Policy `json:"policies"`
	Reuse    Reuse    `json:"reuse"`
	// Churn is the population at the rate of --rate; null if that was not given.
	Churn *Churn `json:"churn"`
}

// Policy returns what the item says of one policy, or nil if it says nothing of
// it.
func (i CollisionItem) Policy(name PolicyName) *Policy {
	at := slices.IndexFunc(i.Policies, func(p Policy) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return &i.Policies[at]
}

// PolicyName names a way to deal with a conflict.
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

// Policy is what to expect under one policy. Where tries is null, so is all
// that depends on it.
type Policy struct {
	// Name is one of none (no retry), server (the server's own retries), client
	// (this plugin's default) and server+client (its --naming=server).
	Name PolicyName `json:"name"`
	// Tries is the number of names tried per create, the first included; null
	// if unknown.
	Tries *int `json:"tries"`
	// NextCreateFails is the probability that the first of the creates fails.
	NextCreateFails *float64 `json:"nextCreateFails"`
	// AnyFails is the probability that any of the creates fails.
	AnyFails *float64 `json:"anyFails"`
	// AnyFailsLog10 is the decimal logarithm of AnyFails. It stays right where
	// AnyFails is too small for a number, and is null where no create can fail.
	AnyFailsLog10 *float64 `json:"anyFailsLog10"`
	// ExpectedConflicts is the mean number of failing creates, if a failed one
	// is not repeated.
	ExpectedConflicts *float64 `json:"expectedConflicts"`
	// ExpectedConflictsRepeated is the mean number of failing creates, if each
	// is repeated until it succeeds; null where there are too few free names.
	ExpectedConflictsRepeated *float64 `json:"expectedConflictsRepeated"`
	// ExpectedExtraTries is the mean number of names tried beyond the first of
	// each create. Each is one more call of every validating webhook.
	ExpectedExtraTries *float64 `json:"expectedExtraTries"`
	// Headroom is the number of creates until AnyFails passes a probability.
	Headroom *Headroom `json:"headroom"`
	// EquivalentSuffixLength is the length of suffix that has the same AnyFails
	// without retries; null where no create can fail.
	EquivalentSuffixLength *float64 `json:"equivalentSuffixLength"`
}

// Headroom is the largest number of creates for which the probability that
// any of them fails is at most Probability.
type Headroom struct {
	// Probability is that of --probability.
	Probability float64 `json:"probability"`
	// Creates is that number; null if no number of creates passes Probability.
	Creates *int64 `json:"creates"`
}

// Reuse is how often new objects take the name of a deleted one, if each
// create is preceded by a deletion. No retry helps against it.
type Reuse struct {
	// AnyReuse is the probability that any of the creates takes such a name.
	AnyReuse float64 `json:"anyReuse"`
	// ExpectedReuses is the mean number of creates that do.
	ExpectedReuses float64 `json:"expectedReuses"`
}

// Churn is a steady population for a time: as many deletions as creates, which
// come at random (a Poisson process).
type Churn struct {
	// CreatesPerDay is the rate of --rate.
	CreatesPerDay float64 `json:"createsPerDay"`
	// Days is the time of --for, in days of 24 hours.
	Days float64 `json:"days"`
	// Creates is the number of creates: CreatesPerDay times Days.
	Creates float64 `json:"creates"`
	// Policies are in the order of those of the item.
	Policies []ChurnPolicy `json:"policies"`
	Reuse    Reuse         `json:"reuse"`
}

// Policy returns what the churn says of one policy, or nil if it says nothing of
// it.
func (c *Churn) Policy(name PolicyName) *ChurnPolicy {
	at := slices.IndexFunc(c.Policies, func(p ChurnPolicy) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return &c.Policies[at]
}

// ChurnPolicy is what to expect of a churn under one policy. Where tries is
// null, so is all that depends on it.
type ChurnPolicy struct {
	// Name is that of the policy.
	Name PolicyName `json:"name"`
	// Tries is the number of names tried per create; null if unknown.
	Tries *int `json:"tries"`
	// ConflictsPerDay is the mean number of failing creates per day.
	ConflictsPerDay *float64 `json:"conflictsPerDay"`
	// DaysToFirst is the mean number of days until the first create fails; null
	// if none can, or if it is too large for a number.
	DaysToFirst *float64 `json:"daysToFirst"`
	// AnyFails is the probability that any create of the time fails.
	AnyFails *float64 `json:"anyFails"`
	// AnyFailsLog10 is the decimal logarithm of AnyFails; null where no create
	// can fail.
	AnyFailsLog10 *float64 `json:"anyFailsLog10"`
}

// CollisionGate is what --fail-above asked for, and what exceeded it.
type CollisionGate struct {
	// FailAbove is the largest probability that passes.
	FailAbove float64 `json:"failAbove"`
	// Exceeded are the items above it.
	Exceeded []CollisionExceeded `json:"exceeded"`
}

// CollisionExceeded is one item that exceeded the gate.
type CollisionExceeded struct {
	// Resource is the type, in the plural.
	Resource string `json:"resource"`
	// Namespace is empty for a cluster-scoped resource.
	Namespace string `json:"namespace"`
	// Prefix is the effective prefix.
	Prefix string `json:"prefix"`
	// Creates is the number of further creates.
	Creates int64 `json:"creates"`
	// AnyFails is the probability that any of them fails with the server's
	// retries; without retries where these are unknown.
	AnyFails float64 `json:"anyFails"`
}
