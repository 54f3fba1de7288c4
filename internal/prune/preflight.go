package prune

import (
	"context"
	"errors"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// ErrNoTime reports that the server doesn't provide its time.
var ErrNoTime = errors.New("the server does not tell its time")

// Now returns the server's time from a SelfSubjectReview. Every user can create a SelfSubjectReview by
// default, and the server does not store it.
func (p *Pruner) Now(ctx context.Context) (now time.Time, err error) {
	err = p.ask(ctx, func(client kubernetes.Interface) error {
		review, err := client.AuthenticationV1().SelfSubjectReviews().
			Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err == nil {
			now = review.CreationTimestamp.UTC()
		}
		return err
	})
	if apistatus.RefusedForAll(err) || err == nil && now.IsZero() {
		return time.Time{}, ErrNoTime
	}
	return now, err
}

// Permission is a permission that the user lacks.
type Permission struct {
	Verb      string
	Resource  census.Resource
	Namespace string // empty for all
}

// Missing returns the permissions that deletions need and the user does not have.
func (p *Pruner) Missing(ctx context.Context, targets []Target) (missing []Permission, err error) {
	for _, target := range targets {
		for _, verb := range []string{"delete", "get"} {
			needed := Permission{Verb: verb, Resource: target.Resource, Namespace: p.Namespace}
			if !target.Resource.Namespaced {
				needed.Namespace = ""
			}
			allowed, err := p.allows(ctx, needed)
			if err != nil {
				return nil, fmt.Errorf("check the permission to %s %s: %w", verb, target.Resource.GroupResource(), err)
			}
			if !allowed {
				missing = append(missing, needed)
			}
		}
	}
	return missing, nil
}

// allows reports whether the user has a permission. If the authorizer reports an evaluation error, it returns
// true, because the request might be allowed.
func (p *Pruner) allows(ctx context.Context, needed Permission) (allowed bool, err error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: needed.Namespace, Verb: needed.Verb,
			Group: needed.Resource.Group, Version: needed.Resource.Version, Resource: needed.Resource.Resource,
		},
	}}
	err = p.ask(ctx, func(client kubernetes.Interface) error {
		response, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil {
			allowed = response.Status.Allowed || response.Status.EvaluationError != ""
		}
		return err
	})
	return allowed, err
}

// ask repeats a request until there is a response or a permanent error.
func (p *Pruner) ask(ctx context.Context, question func(kubernetes.Interface) error) error {
	client, err := kubernetes.NewForConfig(p.Lists)
	if err != nil {
		return err
	}
	retrier := apistatus.NewRetrier(firstPause, longestPause, p.RetryTimeout)
	for {
		err := question(client)
		if err == nil || apistatus.Code(err) != 0 && !apistatus.Passing(err) {
			return err
		}
		if stop := retrier.Wait(ctx, err); stop != nil {
			return errors.Join(stop, apistatus.Brief(err))
		}
	}
}
