package follow

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

const (
	// MaxDeleting is the time limit of Delete. A call that takes no context, such as that of a credential plugin, can
	// exceed it.
	MaxDeleting = 10 * time.Second
	// deletesAtOnce is the number of objects that are deleted at the same time.
	deletesAtOnce = 16
)

var errNotDeleted = fmt.Errorf("the server did not respond within %s", MaxDeleting)

// Deletion is the result of Delete for one object. Err is nil if the object no longer exists, or will be gone when its
// finalizers are.
type Deletion struct {
	Object wait.Object
	Err    error
}

// Ours are the objects that Delete deletes, in no order: those that this run created, and that are not known to have
// finished. A finished object stays, because a later run with the key would create it again.
func (f *Follower) Ours() []wait.Object {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.ours))
}

// Delete deletes Ours, and yields one Deletion for each. State and Ours then lack the object, if it was deleted.
func (f *Follower) Delete() iter.Seq[Deletion] {
	return func(yield func(Deletion) bool) {
		for d := range deletions(f.config.Deletes, f.Ours()) {
			if d.Err == nil {
				f.forget(d.Object.UID)
			}
			if !yield(d) {
				return
			}
		}
	}
}

func (f *Follower) forget(uid apitypes.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ours, uid)
	f.state.forget(uid)
}

// deletions deletes objects in the background, and closes the channel after the last result. An object with another
// UID is left alone.
func deletions(config *rest.Config, objects []wait.Object) <-chan Deletion {
	results := make(chan Deletion, len(objects))
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), MaxDeleting)
		defer cancel()
		deleteAll(ctx, config, objects, results)
		close(results)
	}()
	return results
}

func deleteAll(ctx context.Context, config *rest.Config, objects []wait.Object, results chan<- Deletion) {
	client, err := metadata.NewForConfig(config)
	var group errgroup.Group
	group.SetLimit(deletesAtOnce)
	for _, o := range objects {
		group.Go(func() error {
			failure := err
			if failure == nil {
				failure = deleteOne(ctx, client.Resource(o.Mapping.Resource).Namespace(o.Namespace), o)
			}
			results <- Deletion{o, failure}
			return nil
		})
	}
	_ = group.Wait() // the errors are in the results
}

// deleteOne repeats a DELETE until it has a final response. A repeated DELETE does no harm, because it has the UID.
func deleteOne(ctx context.Context, objects metadata.ResourceInterface, o wait.Object) error {
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &o.UID},
	}
	for retrier := apistatus.NewRetrier(apistatus.FirstPause, time.Second, MaxDeleting); ; {
		err := objects.Delete(ctx, o.Name, options)
		switch {
		case err == nil, apistatus.NotFound(err, o.Name):
			return nil
		case apierrors.IsConflict(err) && isReplaced(ctx, objects, o):
			return nil
		case apistatus.Code(err) != 0 && !apistatus.Temporary(err) && !apierrors.IsConflict(err) &&
			!apierrors.IsNotFound(err): // from something that is not an API server
			return err
		}
		switch stop := retrier.Wait(ctx, err); {
		case ctx.Err() != nil:
			return errNotDeleted
		case stop != nil:
			return err
		}
	}
}

// isReplaced reports whether the object of this UID is gone.
func isReplaced(ctx context.Context, objects metadata.ResourceInterface, o wait.Object) bool {
	found, err := objects.Get(ctx, o.Name, metav1.GetOptions{})
	return apistatus.NotFound(err, o.Name) || err == nil && found.UID != o.UID
}
