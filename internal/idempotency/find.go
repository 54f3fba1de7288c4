// Package idempotency lists the objects that earlier runs with the same key created, so that a run creates only the
// missing objects. The package creates nothing, never prints, and never sends the key itself. Package pkg/once/derive
// calculates IDs and names from the key.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Key is the name that the user gives a run. Only hashes of the key leave the process.
type Key string

// RunLabel returns the value of the label that all objects of the run have.
func (k Key) RunLabel() string { return derive.RunLabel(string(k)) }

// Place is a resource type with a namespace. Namespace is empty if the type is cluster-scoped.
type Place struct {
	Resource  schema.GroupResource
	Namespace string
}

// Existing is an object with the run's label. Anyone can give an object this label.
type Existing struct {
	Name         string
	GenerateName string
	ID, Digest   string // values of its annotations; empty if a webhook or user removed them
	Deleting     bool
	Owned        bool // it has a controller
	UID          types.UID

	version string // its resourceVersion
}

const (
	// pageSize is the number of objects per request.
	pageSize = 5000
	// lastTimeout limits a request that starts when the time for retries is almost over.
	lastTimeout = 30 * time.Second
)

// StaleListError means that lists contain an object that doesn't exist, or not in this version. The lists come from a
// cache with newer data than etcd, because etcd was restored from a backup.
type StaleListError struct {
	// Object names the object in the form of kubectl's arguments.
	Object string

	uid types.UID
}

func (e *StaleListError) isAbout(o Existing) bool { return o.UID == e.uid }

func (e *StaleListError) Error() string { return e.Object + " is listed, and does not exist" }

// Find lists the metadata of the objects with the run's label, of one resource type in one namespace. namespace is
// empty for a cluster-scoped type. Find then gets the newest of these objects. A list can come from a stale cache, but
// a GET can't. If the list and the GET disagree, Find repeats both until timeout, and at least once. Find needs
// permission to list, and its error names that permission. Without permission to get, Find trusts the list. Find
// retries temporary errors until timeout.
func (k Key) Find(ctx context.Context, client metadata.Interface, resource schema.GroupVersionResource,
	namespace string, timeout time.Duration,
) ([]Existing, error) {
	retrier := apistatus.NewRetrier(apistatus.FirstPause, apistatus.LongestPause, timeout)
	objects, place := client.Resource(resource).Namespace(namespace), Place{resource.GroupResource(), namespace}
	until := time.Now().Add(timeout)
	var doubt *StaleListError
	for last := false; ; {
		found, err := k.list(ctx, objects, until)
		if err == nil {
			if doubt != nil && !slices.ContainsFunc(found, doubt.isAbout) {
				doubt = nil // the object was deleted, and the list shows that
			}
			err = confirm(ctx, objects, place, found, doubt, until)
		}
		if err == nil {
			return found, nil
		}
		errors.As(err, &doubt)
		if !apistatus.Final(err) {
			wait := retrier.Wait(ctx, err)
			if errors.Is(wait, apistatus.ErrTimeUp) && doubt != nil && !last {
				last, wait = true, apistatus.Sleep(ctx, apistatus.FirstPause)
			}
			if wait == nil {
				continue
			}
			if !errors.Is(wait, apistatus.ErrTimeUp) {
				return nil, wait
			}
		}
		return nil, explain(err, place)
	}
}

// confirm gets the newest of the listed objects, or the object in doubt. It returns a StaleListError if the server has
// no such object, or only an older version of it.
func confirm(
	ctx context.Context, objects metadata.ResourceInterface, place Place, found []Existing, doubt *StaleListError,
	until time.Time,
) error {
	if len(found) == 0 {
		return nil
	}
	listed := slices.MaxFunc(found, func(a, b Existing) int { return compareVersions(a.version, b.version) })
	if doubt != nil {
		listed = found[slices.IndexFunc(found, doubt.isAbout)]
	}
	ctx, cancel := within(ctx, until)
	defer cancel()
	object, err := objects.Get(ctx, listed.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return nil
	case apistatus.NotFound(err, listed.Name),
		err == nil && (object.UID != listed.UID || compareVersions(object.ResourceVersion, listed.version) < 0):
		return &StaleListError{place.Reference(listed.Name), listed.UID}
	}
	return err
}

// within limits the time of a request, because client-go repeats the request if the response has a Retry-After.
func within(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(time.Until(until), lastTimeout))
}

// compareVersions compares two resourceVersions. If an aggregated API has resourceVersions without an order, they count
// as equal.
func compareVersions(a, b string) int {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0
	}
	return order
}

// explain adds the place to the error of a list. If a permission is missing, explain adds that, too.
func explain(err error, place Place) error {
	if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
		return fmt.Errorf("a run with a key needs list on %s: %w", place, err)
	}
	return fmt.Errorf("list what the run has created of %s: %w", place, err)
}

// list reads all pages. It returns an error if any page fails, even if the list expires between two pages.
func (k Key) list(
	ctx context.Context, objects metadata.ResourceInterface, until time.Time,
) (found []Existing, err error) {
	ours := metav1.ListOptions{LabelSelector: derive.RunLabelKey + "=" + k.RunLabel()}
	err = apistatus.Pages(ctx, pageSize, func(ctx context.Context, limit int64, token string) (string, error) {
		ctx, cancel := within(ctx, until)
		defer cancel()
		ours.Limit, ours.Continue = limit, token
		page, err := objects.List(ctx, ours)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			item := &page.Items[i]
			if item.Labels[derive.RunLabelKey] != k.RunLabel() {
				continue // some aggregated APIs ignore the selector
			}
			found = append(found, Existing{
				Name: item.Name, GenerateName: item.GenerateName,
				ID: item.Annotations[derive.IDAnnotation], Digest: item.Annotations[derive.DigestAnnotation],
				Deleting: item.DeletionTimestamp != nil, Owned: metav1.GetControllerOf(item) != nil,
				UID: item.UID, version: item.ResourceVersion,
			})
		}
		return page.Continue, nil
	})
	return found, err
}

// Reference returns the object with this name at the place, in the form of kubectl's arguments.
func (p Place) Reference(name string) string {
	return reference.In(p.Resource.String()+"/"+name, p.Namespace)
}

// String describes the place in words.
func (p Place) String() string {
	if p.Namespace == "" {
		return p.Resource.String()
	}
	return fmt.Sprintf("%s in %q", p.Resource, p.Namespace)
}
