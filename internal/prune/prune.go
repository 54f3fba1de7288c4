// Package prune deletes objects with generated names by prefix and age. The package owns the choice of the objects,
// the plan, and the deletion of one object until its outcome is known. The package lists through internal/census,
// keeps the chosen objects in memory, and prints nothing.
//
// # Guarantees
//
// Prune deletes an object only if it meets all criteria and its name was generated from its own
// generateName, which the user must have named. It lists once, and the plan has each object that is to be
// deleted. Each DELETE has the UID and the resourceVersion of the object as preconditions. So if an
// object changes after the list, Prune reads it and decides again. If a DELETE gets no response, a GET
// finds the outcome. Before it deletes an orphaned Pod, a GET shows that its Job doesn't exist. During a long run, it
// lists the users of the objects again.
package prune

import (
	"context"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// Target is a resource type and the prefixes of its objects to delete.
type Target struct {
	Resource census.Resource
	// Prefixes are whole generateNames, or stems if Criteria.Stem is set.
	Prefixes []string
}

// Criteria choose among the objects that have a prefix. Prune deletes an object only if it meets all criteria.
type Criteria struct {
	// Before chooses objects created before this time. The zero time means no limit.
	Before time.Time
	// EndedBefore chooses objects that finished before this time. The zero time means no limit. If EndedBefore is set,
	// the resource type must have a known status for finished objects.
	EndedBefore time.Time
	// Keep is the number of newest objects to keep for each namespace and prefix, or nil. It counts the objects that
	// meet all criteria except Before and EndedBefore. If objects have equal creation times, Keep prefers the first
	// names in the alphabet. With Stem, it prefers the largest number or time at the end of the names.
	Keep *int
	// KeepFailed is like Keep for failed objects. If KeepFailed is set, Keep doesn't count failed objects.
	KeepFailed *int
	// Running also chooses unfinished objects. If a type's status doesn't show whether an object has finished, prune
	// always chooses unfinished objects.
	Running bool
	// Owned also chooses objects that have a controller.
	Owned bool
	// InUse also chooses objects that a Pod or a Pod template uses by name.
	InUse bool
	// Stem means that the prefixes of the targets are stems of names (package stem) instead of generateNames.
	Stem bool
	// Orphaned chooses Pods that have no controller, and whose labels name a Job that doesn't exist. The targets then
	// have no prefixes.
	Orphaned bool
	// Now is the server's time. It determines whether a Lease has expired.
	Now time.Time
	// Selector selects objects by their labels. An empty one selects all.
	Selector string
}

// Pruner plans and deletes.
type Pruner struct {
	// Lists is the configuration for lists and for access reviews.
	Lists *rest.Config
	// Deletions is the configuration for requests about one object. These requests can continue after an interrupt.
	Deletions *rest.Config
	// Version is the server's version. Version determines the page size.
	Version string
	// Types returns all resource types of the server. Objects of some types can use objects of the plan.
	Types     func(context.Context) ([]census.Resource, error)
	Namespace string // empty for all
	Criteria  Criteria
	// Concurrency is the number of deletions in flight.
	Concurrency int
	// Saver, if set, writes each object before its DELETE.
	Saver *Saver
	// Limiter, if set, limits the requests about one object.
	Limiter flowcontrol.RateLimiter
	// RetryTimeout limits the time for retries of one request.
	RetryTimeout time.Duration
	// Unreachable, if set, is called when the server stops responding, and when it responds again.
	Unreachable func(cause error, after time.Duration)
}

// Object is an object to delete.
type Object struct {
	Pool                       *Pool
	Name, UID, ResourceVersion string
	Created                    int64 // Unix seconds

	Running bool // it has not finished; false if the type has no such status

	creator int8           // index in Pool.Creators
	job     *object.JobRef // of an orphaned Pod
	failed  bool
	ended   int64 // Unix seconds, if Criteria.EndedBefore is set
}

// Permission is a permission that the user lacks.
type Permission struct {
	Verb      string
	Resource  census.Resource
	Namespace string // empty for all
}

// Missing returns the permissions that deletions need and the user does not have.
func (p *Pruner) Missing(ctx context.Context, targets []Target) (missing []Permission, err error) {
	client, err := kubernetes.NewForConfig(p.Lists)
	if err != nil {
		return nil, err
	}
	for _, needed := range p.needed(targets) {
		allowed, err := apistatus.Allowed(ctx, client.AuthorizationV1(), authorizationv1.ResourceAttributes{
			Namespace: needed.Namespace, Verb: needed.Verb,
			Group: needed.Resource.Group, Version: needed.Resource.Version, Resource: needed.Resource.Resource,
		})
		if err != nil {
			return nil, fmt.Errorf("check the permission to %s %s: %w",
				needed.Verb, needed.Resource.GroupResource(), err)
		}
		if !allowed {
			missing = append(missing, needed)
		}
	}
	return missing, nil
}

func (p *Pruner) needed(targets []Target) (needed []Permission) {
	for _, target := range targets {
		namespace := p.Namespace
		if !target.Resource.Namespaced {
			namespace = ""
		}
		needed = append(needed,
			Permission{"delete", target.Resource, namespace}, Permission{"get", target.Resource, namespace})
	}
	if p.Criteria.Orphaned {
		needed = append(needed, Permission{"get", census.Jobs, p.Namespace})
	}
	return needed
}
