package follow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

const (
	// MaxDeleting is the time limit of Delete. A credential plugin gets no context, so it can take longer.
	MaxDeleting = 10 * time.Second
	// deletesAtOnce is the number of concurrent deletions.
	deletesAtOnce = 16
)

var errNotDeleted = fmt.Errorf("the server did not respond within %s", MaxDeleting)

// Holders are the types whose deletion also deletes objects of other users.
var Holders = map[schema.GroupResource]bool{
	{Resource: "namespaces"}:                                               true,
	{Group: "project.openshift.io", Resource: "projects"}:                  true,
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}: true,
}

// Ours returns the objects that Delete deletes, in no order. This run created them, and they are not known to have
// finished. A finished object stays, because otherwise a later run with the key would create it again. Types in Holders
// are left out.
func (f *Follower) Ours() []wait.Object {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.ours))
}

// Delete deletes the objects of Ours, and sends one Ended for each. The Result is Deleted, also if finalizers still
// hold the object. If the object has finished before, the Result is that of its end. If the deletion fails, the Result
// is Interrupted, with an error. Otherwise, the object leaves Ours, and State no longer counts it as unfinished.
func (f *Follower) Delete() <-chan wait.Ended { return f.deletions(f.Ours()) }

func (f *Follower) conclude(end wait.Ended) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ours, end.Object.UID)
	f.state.conclude(end)
}

// deletions deletes objects in the background, and closes the channel after the last Ended. If an object has another
// UID, deletions doesn't delete it.
func (f *Follower) deletions(objects []wait.Object) <-chan wait.Ended {
	ends := make(chan wait.Ended, len(objects))
	go func() {
		defer close(ends)
		ctx, cancel := context.WithTimeout(context.Background(), MaxDeleting)
		defer cancel()
		client, err := dynamic.NewForConfig(f.config.Deletes)
		var group errgroup.Group
		group.SetLimit(deletesAtOnce)
		for _, o := range objects {
			group.Go(func() error {
				end := wait.Ended{Object: o, Result: wait.Interrupted, Err: err}
				if err == nil {
					end = f.deleteOne(ctx, client.Resource(o.Mapping.Resource).Namespace(o.Namespace), o)
				}
				if end.Err == nil { // at once, because a second interrupt can come before the end is taken
					f.conclude(end)
				}
				ends <- end
				return nil
			})
		}
		_ = group.Wait() // the errors are in the ends
	}()
	return ends
}

// deleteOne repeats a deletion until the server sends a final response.
func (f *Follower) deleteOne(ctx context.Context, objects dynamic.ResourceInterface, o wait.Object) wait.Ended {
	for retrier := apistatus.NewRetrier(apistatus.FirstPause, time.Second, MaxDeleting); ; {
		end, err := f.deleteOnce(ctx, objects, o)
		if err == nil {
			return end
		}
		isFinal := apistatus.Code(err) != 0 && !apistatus.Temporary(err) && !apierrors.IsConflict(err) &&
			!apierrors.IsUnauthorized(err) && // client-go reads the credentials again
			!apierrors.IsNotFound(err) // from something that is not an API server
		if !isFinal && retrier.Wait(ctx, err) == nil {
			continue
		}
		if !isFinal && ctx.Err() != nil {
			err = errNotDeleted
		}
		return wait.Ended{Object: o, Result: wait.Interrupted, Err: err}
	}
}

// deleteOnce deletes an object if it has not finished since the wait. The DELETE has the resourceVersion that a GET
// read. So it can't delete an object that has finished since then, or another object with the same name.
func (f *Follower) deleteOnce(
	ctx context.Context, objects dynamic.ResourceInterface, o wait.Object,
) (end wait.Ended, err error) {
	end = wait.Ended{Object: o, Result: wait.Deleted}
	preconditions := &metav1.Preconditions{UID: &o.UID}
	found, err := objects.Get(ctx, o.Name, metav1.GetOptions{})
	switch {
	case apistatus.NotFound(err, o.Name), err == nil && found.GetUID() != o.UID:
		return end, nil
	case err == nil:
		if end.Status, _ = finished.Of(found); end.Status.Done() && f.Awaits(o.Mapping) {
			end.Result = wait.Failed
			if all, _, err := wait.Meet(f.config.For, found, 0); all && err == nil {
				end.Result = wait.Succeeded
			}
			return end, nil
		}
		preconditions.ResourceVersion = new(found.GetResourceVersion())
	case !apierrors.IsForbidden(err) && !apierrors.IsMethodNotSupported(err): // otherwise the UID has to be enough
		return end, err
	}
	err = objects.Delete(ctx, o.Name, metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationBackground), Preconditions: preconditions,
	})
	if apistatus.NotFound(err, o.Name) {
		err = nil
	}
	return end, err
}
