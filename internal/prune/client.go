package prune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// client sends requests about one object. It doesn't retry them.
type client struct {
	rest    rest.Interface
	limiter flowcontrol.RateLimiter // nil for none
}

func newClient(config *rest.Config) (*client, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType, config.AcceptContentTypes = "application/json", ""
	made, err := rest.UnversionedRESTClientFor(config)
	return &client{rest: made}, err
}

// response has the fields that the client reads from the response to a DELETE: an object or a Status.
type response struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name              string    `json:"name"`
		UID               types.UID `json:"uid"`
		DeletionTimestamp string    `json:"deletionTimestamp"`
		GracePeriod       *int64    `json:"deletionGracePeriodSeconds"`
		Finalizers        []string  `json:"finalizers"`
	} `json:"metadata"`
	Details *metav1.StatusDetails `json:"details"`
}

// delete requests the deletion of an object with its UID and resourceVersion as preconditions. deleting reports whether
// a finalizer or a grace period still holds the object. A Pod in a response with a grace period of 0 is already
// deleted. A response about another object counts as a lost response.
func (c *client) delete(ctx context.Context, o Object) (deleting bool, err error) {
	uid, background := types.UID(o.UID), metav1.DeletePropagationBackground
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &o.ResourceVersion},
		PropagationPolicy: &background,
	})
	if err != nil {
		return false, err
	}
	text, err := c.send(ctx, o, c.rest.Delete().SetHeader("Accept", metadataOnly).
		SetHeader("Content-Type", "application/json").Body(body))
	if err != nil {
		return false, err
	}
	var read response
	if err := json.Unmarshal(text, &read); err != nil || read.Kind == "" || !read.isOf(uid) {
		return false, errors.Join(errors.New("the response to the deletion is about another object"), err)
	}
	left := read.Metadata
	gone := len(left.Finalizers) == 0 && left.GracePeriod != nil && *left.GracePeriod == 0
	return read.Kind != "Status" && left.DeletionTimestamp != "" && !gone, nil
}

// isOf reports whether a response is about the object with this UID. isOf accepts a Status without a UID, because some
// Statuses don't name their object.
func (o response) isOf(uid types.UID) bool {
	if o.Kind != "Status" {
		return o.Metadata.UID == uid
	}
	return o.Details == nil || o.Details.UID == "" || o.Details.UID == uid
}

// metadataOnly is an Accept header that requests only an object's metadata.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// get reads the object that has this name now. The server reads it from etcd, not from its cache.
func (c *client) get(ctx context.Context, o Object) (found object.Object, err error) {
	text, err := c.send(ctx, o, c.rest.Get())
	if err != nil {
		return found, err
	}
	found, err = parse(text)
	if err == nil && (found.Name != o.Name || found.UID == "") {
		err = errors.New("the response is not the object asked for")
	}
	return found, err
}

// waitForLimiter waits until the limiter permits a request.
func (c *client) waitForLimiter(ctx context.Context) error {
	if c.limiter == nil {
		return ctx.Err()
	}
	return c.limiter.Wait(ctx)
}

// send sends a request about an object, and returns the response. It uses Stream because Do logs a truncated response
// to stderr.
func (c *client) send(ctx context.Context, o Object, request *rest.Request) ([]byte, error) {
	path := append(o.Pool.Resource.Path(o.Pool.Namespace), o.Name)
	body, err := request.AbsPath(path...).MaxRetries(0).Stream(ctx)
	if err != nil {
		return nil, about(err, o)
	}
	defer func() { _ = body.Close() }()
	return io.ReadAll(io.LimitReader(body, decode.MaxObject))
}

// about returns err. If the API server didn't send err as a response about this object, about removes the status code
// from it. The outcome of the request then counts as unknown.
func about(err error, o Object) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	foreign := apierrors.IsUnexpectedServerError(err) && apistatus.Code(err) < http.StatusInternalServerError &&
		!apierrors.IsTooManyRequests(err)
	if foreign || apierrors.IsNotFound(err) && !apistatus.NotFound(err, o.Name) {
		return fmt.Errorf("not a response of this object: %s", err.Error())
	}
	return err
}
