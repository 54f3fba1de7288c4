// Package prune deletes objects with generated names by prefix and age. It owns the
// choice of the objects, the plan, and the deletion of one object until its outcome
// is known. It lists through internal/census, keeps a page in memory, and prints
// nothing.
//
// # What it promises
//
// An object is deleted only if its own generateName has a prefix that was named, its
// name was generated from it, and all criteria choose it. The plan and the deletions
// read the same resourceVersion where the server still has it. Each DELETE has the UID
// as a precondition: an object that was deleted and created again under its name is
// left. A DELETE without a response is settled by a GET.
package prune

import (
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// MaxKeep is the largest number of newest objects to keep: they are in memory.
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
	// Keep, if it is not nil, keeps so many newest objects per namespace and prefix, of
	// those that can be deleted whatever their age.
	Keep *int
	// Finished chooses objects that have finished.
	Finished bool
	// Owned chooses objects that have a controller, too.
	Owned bool
	// Selector selects objects by their labels; empty selects all.
	Selector string
}

// Pruner plans and deletes.
type Pruner struct {
	// Lists reaches the cluster for everything that reads many objects.
	Lists *rest.Config
	// Deletions reaches the cluster for requests about one object, which may outlive an
	// interrupt.
	Deletions *rest.Config
	// Version is the server's, by which pages have their size.
	Version   string
	Namespace string // empty for all
	Criteria  Criteria
	// Concurrency is the number of deletions in flight.
	Concurrency int
	// Limiter, if set, limits the requests about one object.
	Limiter flowcontrol.RateLimiter
	// RetryTimeout is how long one request is retried.
	RetryTimeout time.Duration
	// Absent, if set, is told that the server does not respond, and that it does again.
	Absent func(cause error, after time.Duration)
}

// Object is an object that is to be deleted.
type Object struct {
	Resource        census.Resource
	Namespace, Name string
	UID             string
	Prefix          string // the effective one
	Created         time.Time
}

// Reason is why an object is left. The values are part of the report.
type Reason string

// The reasons. The last two are found when an object is deleted.
const (
	NotGenerated Reason = "notGenerated" // the name looks like it, but was not generated from the prefix
	BeingDeleted Reason = "beingDeleted"
	Controlled   Reason = "controlled"
	NotFinished  Reason = "notFinished"
	UnknownAge   Reason = "unknownAge" // no creationTimestamp
	Newest       Reason = "newest"     // among those of Criteria.Keep
	TooYoung     Reason = "tooYoung"

	Replaced Reason = "replaced" // deleted and created again by another client
	Gone     Reason = "gone"     // deleted by another client
)

// Reasons are all reasons, in the order in which they are shown.
var Reasons = []Reason{
	TooYoung, Newest, NotFinished, Controlled, BeingDeleted, NotGenerated, UnknownAge, Replaced, Gone,
}
