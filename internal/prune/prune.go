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

// Target is a resource type, and the prefixes of the objects to delete.
type Target struct {
	Resource census.Resource
	// Prefixes are whole generateNames, or stems.
	Prefixes []string
}

// Criteria choose among the objects that have a prefix. All must hold.
type Criteria struct {
	// Before, if it is set, chooses objects created before it.
	Before time.Time
	// EndedBefore chooses objects that finished before this time. EndedBefore can be zero. The type must have a known
	// status for finished objects.
	EndedBefore time.Time
	// Keep is the number of newest objects to keep for each namespace and prefix, or nil. Of objects that were created
	// in the same second, those whose names come first count as the newest. With Stem, these are those with the
	// largest number or time. Keep counts the objects that meet all criteria except Before and EndedBefore.
	Keep *int
	// KeepFailed is like Keep, but for objects that have failed. If KeepFailed is not nil, Keep doesn't count failed
	// objects.
	KeepFailed *int
	// Running means that objects which have not finished are chosen, too. Of a type whose status doesn't show the end,
	// they always are.
	Running bool
	// Owned chooses objects that have a controller, too.
	Owned bool
	// InUse chooses objects that a Pod or a template of Pods uses by name, too.
	InUse bool
	// Stem means that the prefixes of the targets are stems of names (package stem), and not generateNames.
	Stem bool
	// Orphaned chooses Pods that have no controller, and labels of a Job that doesn't exist. The targets then have no
	// prefixes.
	Orphaned bool
	// Now is the server's time. It decides whether a Lease is held.
	Now time.Time
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
	// Version is the server's version. Version determines the page size.
	Version string
	// Types returns all types of the server. Objects of some of them can use objects of the plan.
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
