// Package prune deletes objects with generated names by prefix and age. It owns the
// choice of the objects, the plan, and the deletion of one object until its outcome
// is known. It lists through internal/census, keeps a page in memory, and prints
// nothing.
//
// # Guarantees
//
// Prune deletes an object only if it meets all criteria and its name was generated from its own
// generateName, which must have a prefix that the user named. The plan and the deletions read the same
// resourceVersion if the server still has it. Each DELETE has the UID as a precondition. This keeps an
// object that was deleted and created again under its name. If a DELETE gets no response, a GET finds
// the outcome.
package prune

import (
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// MaxKeep is the largest number of newest objects to keep. They are held in memory.
const MaxKeep = 100_000

// Target is a resource type, and the prefixes of the objects to delete.
type Target struct {
	Resource census.Resource
	// Prefixes are whole generateNames, or their effective prefixes.
	Prefixes []string
}

// Criteria choose among the objects that have a prefix. All must hold.
type Criteria struct {
	// Before, if it is set, chooses objects created before it.
	Before time.Time
	// Keep, if it is not nil, is the number of newest objects to keep per namespace and prefix. It counts
	// the objects that meet all criteria except Before.
	Keep *int
	// Finished chooses objects that have finished.
	Finished bool
	// Owned chooses objects that have a controller, too.
	Owned bool
	// Selector selects objects by their labels. An empty one selects all.
	Selector string
}

// Pruner plans and deletes.
type Pruner struct {
	// Lists is the configuration for requests that read many objects, and for reviews.
	Lists *rest.Config
	// Deletions is the configuration for requests about one object. These requests can outlive an
	// interrupt.
	Deletions *rest.Config
	// Version is the server's version. It determines the page size.
	Version   string
	Namespace string // empty for all
	Criteria  Criteria
	// Concurrency is the number of deletions in flight.
	Concurrency int
	// Limiter, if set, limits the requests about one object.
	Limiter flowcontrol.RateLimiter
	// RetryTimeout limits the time for retries of one request.
	RetryTimeout time.Duration
	// Absent, if set, is called when the server stops responding, and when it responds again.
	Absent func(cause error, after time.Duration)
}

// Object is an object to delete.
type Object struct {
	Resource        census.Resource
	Namespace, Name string
	UID             string
	Prefix          string // effective prefix
	Created         time.Time
}

// Reason is the reason to leave an object. The values are part of the report.
type Reason string

// The reasons. Only a deletion can find Replaced and Gone.
const (
	NotGenerated Reason = "notGenerated" // the name looks generated from the prefix, but was not
	BeingDeleted Reason = "beingDeleted"
	Controlled   Reason = "controlled"
	NotFinished  Reason = "notFinished"
	UnknownAge   Reason = "unknownAge" // no creationTimestamp
	Newest       Reason = "newest"     // kept by Criteria.Keep
	TooYoung     Reason = "tooYoung"

	Replaced Reason = "replaced" // deleted and created again by another client
	Gone     Reason = "gone"     // deleted by another client
)

// Reasons are all reasons in display order.
var Reasons = []Reason{
	TooYoung, Newest, NotFinished, Controlled, BeingDeleted, NotGenerated, UnknownAge, Replaced, Gone,
}
