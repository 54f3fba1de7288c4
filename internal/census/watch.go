package census

import (
	"context"
	"io"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// acceptEvents requests the metadata of changed objects, as accept does for lists.
const acceptEvents = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json"

// Watcher opens watches of metadata.
type Watcher struct{ client rest.Interface }

// NewWatcher returns a watcher with a configuration, whose Timeout does not bound watches.
func NewWatcher(config *rest.Config) (*Watcher, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	client, err := newClient(config)
	return &Watcher{client}, err
}

// Open opens a watch with bookmarks of a resource, in one namespace or, if it is empty, in
// all, from a resourceVersion on. The server ends it after a time. decode.Watch reads the
// response, which the caller closes. No deadline but that of ctx ends it.
func (w *Watcher) Open(
	ctx context.Context, r Resource, namespace, since string, lasts time.Duration,
) (io.ReadCloser, error) {
	return w.client.Get().MaxRetries(0).AbsPath(r.path(namespace)...).SetHeader("Accept", acceptEvents).
		Param("watch", "true").
		Param("allowWatchBookmarks", "true").
		Param("resourceVersion", since).
		Param("timeoutSeconds", strconv.FormatInt(int64(lasts.Seconds()), 10)).
		Stream(ctx)
}
