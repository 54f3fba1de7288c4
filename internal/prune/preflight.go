package prune

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

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
