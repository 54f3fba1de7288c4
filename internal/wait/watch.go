package wait

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// A watch lasts from leastWatch to mostWatch, as in the reflectors of client-go.
	leastWatch, mostWatch = 5 * time.Minute, 10 * time.Minute
	// silence is the time without events and bookmarks after which the wait lists the objects. Servers send a bookmark
	// each minute, but a proxy might delay events.
	silence = 2 * time.Minute
)

var errSilent = errors.New("the watch delivered neither an event nor a bookmark")

// watch handles the events of one watch. It returns nil if the watch ended normally.
func (f *follower) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer quiet.Stop()
	options := f.options
	options.ResourceVersion, options.AllowWatchBookmarks = f.version, true
	seconds := int64((leastWatch + rand.N(mostWatch-leastWatch)).Seconds())
	options.TimeoutSeconds = &seconds
	events, err := f.client.Watch(ctx, options)
	if err == nil {
		defer events.Stop()
		err = f.takeAll(ctx, events, quiet)
	}
	if errors.Is(context.Cause(ctx), errSilent) {
		f.breakOff(errSilent)
		return nil
	}
	return err
}

// takeAll handles the events of a watch until the watch ends.
func (f *follower) takeAll(ctx context.Context, events watch.Interface, quiet *time.Timer) error {
	for heard := false; len(f.pending) > 0; heard = true {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-events.ResultChan():
			switch {
			case !open && !heard:
				return errCutOff
			case !open:
				return nil
			}
			quiet.Reset(silence)
			if err := f.take(ctx, event); err != nil {
				return err
			}
			f.heard()
		}
	}
	return nil
}

// take handles one event.
func (f *follower) take(ctx context.Context, event watch.Event) error {
	object, is := event.Object.(*unstructured.Unstructured)
	if event.Type == watch.Error || !is {
		return apierrors.FromObject(event.Object)
	}
	o := f.pending[object.GetName()]
	var err error
	switch {
	case event.Type == watch.Bookmark, o == nil:
	case event.Type == watch.Deleted && (o.uid == "" || o.uid == object.GetUID()):
		if !f.evaluate(o, object) { // it might have finished just before
			err = f.missing(ctx, o)
		}
	default:
		err = f.see(ctx, o, object)
	}
	if err == nil {
		f.version = object.GetResourceVersion()
	}
	return err
}

// group identifies the objects that share a watch.
type group struct {
	resource            schema.GroupVersionResource
	namespace, selector string
	known               bool // all have a version, so no list must come first, which could lack one that ends soon
}

// options returns the options that select the objects: by the group's label, or a single object by its name.
func (g group) options(objects []*followed) metav1.ListOptions {
	options := metav1.ListOptions{LabelSelector: g.selector}
	if g.selector == "" && len(objects) == 1 {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", objects[0].Name).String()
	}
	return options
}

// oldest returns the oldest version of the objects. A watch from this version gets the events of all objects. oldest
// returns "" if a version is missing or if the versions have no order.
func oldest(objects []*followed) string {
	first := objects[0].Version
	for _, o := range objects {
		order, err := resourceversion.CompareResourceVersion(o.Version, first)
		switch {
		case err != nil:
			return ""
		case order < 0:
			first = o.Version
		}
	}
	return first
}

// follow starts a follower that watches the objects from version on.
func (r *run) follow(at group, version string, objects ...*followed) {
	f := &follower{
		run: r, group: at, client: r.config.Client.Resource(at.resource).Namespace(at.namespace),
		options: at.options(objects), version: version, pending: map[string]*followed{},
	}
	for _, o := range objects {
		f.pending[o.Name] = o
	}
	r.followers.Go(func() { f.follow(r.ctx) })
}
