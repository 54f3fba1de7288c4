// Package idempotency lists the objects that earlier runs with the same key created, so that a run creates only the
// missing ones. The package creates nothing, never prints, and never sends the key itself. pkg/once/derive derives
// IDs and names.
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

// Key is the user's name of a run. Only its hashes leave the process.
type Key string

// RunLabel is the value of the label of all objects of the run.
func (k Key) RunLabel() string { return derive.RunLabel(string(k)) }

// Place is a resource type, and a namespace unless the type is cluster-scoped.
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

// StaleListError means that lists contain an object, or a version of it, that doesn't exist. The lists come from a
// cache that is newer than etcd, because etcd was restored from a backup.
type StaleListError struct {
	// Object is the object as arguments of kubectl.
	Object string

	uid types.UID
}

func (e *StaleListError) isAbout(o Existing) bool { return o.UID == e.uid }

func (e *StaleListError) Error() string { return e.Object + " is listed, and does not exist" }

// Find lists the metadata of the objects with the run's label, of one resource type in one namespace. namespace is
// empty for a cluster-scoped type. Find then gets the newest of these objects, because a list can come from a cache
// and a GET can't. If the list and the GET disagree, Find repeats both until timeout, and at least once. Find needs
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

// confirm gets the newest of the listed objects, or the one in doubt. confirm returns a StaleListError if the object
// doesn't exist, or only in an older version.
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

// within limits the time of a request, because client-go repeats it itself if the response has a Retry-After.
func within(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(time.Until(until), lastTimeout))
}

// compareVersions compares two resourceVersions. The resourceVersions of an aggregated API can have no order, and
// then count as equal.
func compareVersions(a, b string) int {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0
	}
	return order
}

// explain adds the place to the error of a list, and the missing permission if that is the cause.
func explain(err error, place Place) error {
	if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
		return fmt.Errorf("a run with a key needs list on %s: %w", place, err)
	}
	return fmt.Errorf("list what the run has created of %s: %w", place, err)
}

// list reads all pages or returns an error, also if the list expires between two pages.
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

// Reference is an object at the place as arguments of kubectl.
func (p Place) Reference(name string) string {
	return reference.In(p.Resource.String()+"/"+name, p.Namespace)
}

// String is the place in words.
func (p Place) String() string {
	if p.Namespace == "" {
		return p.Resource.String()
	}
	return fmt.Sprintf("%s in %q", p.Resource, p.Namespace)
}
