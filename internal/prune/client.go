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
)

// client sends requests about one object, without retries.
type client struct {
	rest    rest.Interface
	limiter flowcontrol.RateLimiter // nil for none
}

// turn waits until the next request may be sent.
func (c *client) turn(ctx context.Context) error {
	if c.limiter == nil {
		return nil
	}
	return c.limiter.Wait(ctx)
}

// newClient returns a client for all groups.
func newClient(config *rest.Config) (*client, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType, config.AcceptContentTypes = "application/json", ""
	made, err := rest.UnversionedRESTClientFor(config)
	return &client{rest: made}, err
}

// object has the fields of an object or a Status that the client reads from a response.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name              string    `json:"name"`
		UID               types.UID `json:"uid"`
		DeletionTimestamp string    `json:"deletionTimestamp"`
	} `json:"metadata"`
	Details *metav1.StatusDetails `json:"details"`
}

// delete requests the deletion of an object if it still has its UID. A response about another object
// counts as a lost response.
func (c *client) delete(ctx context.Context, o Object) error {
	if err := c.turn(ctx); err != nil {
		return err
	}
	uid, background := types.UID(o.UID), metav1.DeletePropagationBackground
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: &background,
	})
	if err != nil {
		return err
	}
	response, err := read(ctx, c.rest.Delete().AbsPath(path(o)...).
		SetHeader("Content-Type", "application/json").Body(body))
	if err != nil {
		return about(err, o)
	}
	if !response.isOf(uid) {
		return errors.New("the response to the deletion is about another object")
	}
	return nil
}

// isOf reports whether a response is about the object with a UID. A Status without a UID is accepted
// because not every Status names its object.
func (o object) isOf(uid types.UID) bool {
	if o.Kind != "Status" {
		return o.Metadata.UID == uid
	}
	return o.Details == nil || o.Details.UID == "" || o.Details.UID == uid
}

// metadataOnly requests the metadata without the content.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// get reads the object that has the name now, with a quorum read.
func (c *client) get(ctx context.Context, o Object) (object, error) {
	if err := c.turn(ctx); err != nil {
		return object{}, err
	}
	found, err := read(ctx, c.rest.Get().AbsPath(path(o)...))
	if err == nil && (found.Metadata.Name != o.Name || found.Metadata.UID == "") {
		err = errors.New("the response is not the object asked for")
	}
	return found, about(err, o)
}

// path returns the URL path of an object.
func path(o Object) []string {
	r := o.Resource
	path := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"api", r.Version}
	}
	if o.Namespace != "" {
		path = append(path, "namespaces", o.Namespace)
	}
	return append(path, r.Resource, o.Name)
}

// maxResponse limits the bytes read of a response, which is the metadata of one object.
const maxResponse = 2 << 20

// read sends a request and reads the response. It uses Stream because Do logs a truncated response on
// stderr.
func read(ctx context.Context, request *rest.Request) (object, error) {
	body, err := request.MaxRetries(0).SetHeader("Accept", metadataOnly).Stream(ctx)
	if err != nil {
		return object{}, err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, maxResponse))
	if err != nil {
		return object{}, err
	}
	var read object
	if err := json.Unmarshal(text, &read); err != nil || read.Kind == "" {
		return object{}, errors.Join(errors.New("the response is no object"), err)
	}
	return read, nil
}

// about returns err. If err isn't a response of the API server about this object, the returned error
// has no status code, so the outcome counts as unknown.
func about(err error, o Object) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	details := status.Status().Details
	foreign := apierrors.IsUnexpectedServerError(err) && apistatus.Code(err) < http.StatusInternalServerError &&
		!apierrors.IsTooManyRequests(err)
	if foreign || apierrors.IsNotFound(err) && details != nil && details.Name != "" && details.Name != o.Name {
		return fmt.Errorf("not a response of this object: %s", err.Error())
	}
	return err
}
