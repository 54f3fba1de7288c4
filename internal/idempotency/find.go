package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/pager"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// Existing is an object of the run that is there already.
type Existing struct {
	Name     string
	ID       string // its creation id; empty if something removed it
	Deleting bool
	Owned    bool // a controller made it
}

// pageSize is how many objects one request asks for.
const pageSize = 5000

// Find lists the metadata of what carries the run's label, of one type in one
// namespace (empty for a cluster-scoped type). It needs the right to list
// there, and says so if that is missing. What may pass is tried again until
// patience is over.
func (k Key) Find(ctx context.Context, client metadata.Interface, resource schema.GroupVersionResource, namespace string, patience time.Duration) ([]Existing, error) {
	deadline := time.Now().Add(patience)
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 12, Cap: 5 * time.Second}
	var found []Existing
	var err error
	interrupted := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, _ error) {
		found, err = k.list(ctx, client.Resource(resource).Namespace(namespace))
		return err == nil || definite(err) || time.Now().After(deadline), nil
	})
	place := Place{resource.GroupResource(), namespace}
	switch {
	case interrupted != nil:
		return nil, interrupted
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return nil, fmt.Errorf("a run with a key needs list on %s: %w", place, err)
	case err != nil:
		return nil, fmt.Errorf("list what the run has created of %s: %w", place, err)
	}
	return found, nil
}

// list reads all pages, or none: a list that expired in between is an error.
func (k Key) list(ctx context.Context, objects metadata.ResourceInterface) (found []Existing, err error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return objects.List(ctx, options)
	})
	pages.PageSize = pageSize
	err = pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: once.RunLabel + "=" + k.RunLabel()}, func(object runtime.Object) error {
		item, ok := object.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("the answer holds a %T", object)
		}
		found = append(found, Existing{Name: item.Name, ID: item.Annotations[once.Annotation], Deleting: item.DeletionTimestamp != nil, Owned: metav1.GetControllerOf(item) != nil})
		return nil
	})
	return found, err
}

// definite tells of an answer that will not change by asking again.
func definite(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTooManyRequests(err) && !apierrors.IsResourceExpired(err) && !apierrors.IsTimeout(err)
}

// Reference is an object at the place as arguments of kubectl, with what is
// wrong about it.
func (p Place) Reference(e Existing) string {
	reference := p.Resource.String() + "/" + e.Name
	if p.Namespace != "" {
		reference += " -n " + p.Namespace
	}
	if e.ID == "" {
		reference += " (without its creation id)"
	}
	return reference
}

// String is the place in words.
func (p Place) String() string {
	if p.Namespace == "" {
		return p.Resource.String()
	}
	return fmt.Sprintf("%s in %q", p.Resource, p.Namespace)
}
