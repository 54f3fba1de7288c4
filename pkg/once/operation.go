package once

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

const (
	// retryTimeout is short, because the controller's work queue retries, and other objects wait for the worker.
	retryTimeout = 5 * time.Second
	// requestTimeout limits one request. kube-apiserver needs at most 34 s for a create.
	requestTimeout = time.Minute
)

// operation is one call of Create. operation sends the requests that the protocol asks for.
type operation struct {
	client       Client
	secrets      []derive.Secret
	id           ID
	generateName string
	content      map[string]any
	object       runtime.Object // with the name and the annotations

	identity                 derive.Object // set by identify
	annotation, name, digest string        // set by use
	requested                bool          // a request with the name might have been sent

	response runtime.Object // the object in the last response that had one
	unserved bool           // the server doesn't serve the type, as the response to the last POST shows
}

func (o *operation) run(ctx context.Context) (Result, error) {
	if err := o.identify(ctx); err != nil {
		return Result{}, err
	}
	for _, former := range o.secrets[1:] {
		if result, err := o.find(ctx, former); result.Outcome != "" || err != nil {
			return result, err
		}
	}
	o.use(o.secrets[0])
	return o.create(ctx)
}

// identify finds out the group, kind and namespace of the object. The name is derived from them.
func (o *operation) identify(ctx context.Context) error {
	if ctx.Err() != nil {
		return o.failure(ErrInterrupted, ctx.Err(), textOf(context.Cause(ctx)))
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	kind, namespaced, err := o.client.Identify(limited, o.object)
	o.identity = derive.Object{Group: kind.Group, Kind: kind.Kind, GenerateName: o.generateName}
	if metadata, _ := meta.Accessor(o.object); namespaced { // no error: it was read before
		o.identity.Namespace = metadata.GetNamespace()
	}
	switch {
	case err == nil && namespaced && o.identity.Namespace == "":
		return invalid("the object has no namespace, and a %s needs one", kind)
	case err == nil:
		return nil
	case errors.Is(err, ErrInvalid):
		return err
	case runtime.IsNotRegisteredError(err), runtime.IsMissingKind(err), runtime.IsMissingVersion(err):
		return &failure{kind: ErrInvalid, cause: err, text: err.Error()}
	case meta.IsNoMatchError(err):
		return o.failure(ErrRefused, err, "")
	case ctx.Err() != nil:
		return o.failure(ErrInterrupted, ctx.Err(), textOf(context.Cause(ctx)))
	}
	return o.failure(ErrUnknown, nil, err.Error()) // an earlier call might have created the object
}

// use derives the annotation, the name and the digest under the secret, and writes them into the object.
func (o *operation) use(secret derive.Secret) {
	o.annotation = secret.ID(o.id.source(), o.identity)
	o.name, o.requested = secret.Name(o.annotation, o.generateName), false
	o.digest = secret.Digest(o.annotation, o.identity, o.content)
	metadata, _ := meta.Accessor(o.object) // no error: it was read before
	metadata.SetName(o.name)
	annotations := map[string]string{}
	for key, value := range metadata.GetAnnotations() {
		annotations[key] = value
	}
	annotations[Annotation] = o.annotation
	delete(annotations, derive.DigestAnnotation) // the object can be a copy with a digest
	if o.digest != "" {
		annotations[derive.DigestAnnotation] = o.digest
	}
	metadata.SetAnnotations(annotations)
}

// find reads the object under a former secret. The result is empty if no such object exists.
func (o *operation) find(ctx context.Context, former derive.Secret) (Result, error) {
	o.use(former)
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	switch seen := o.get(limited); {
	case seen.Finding == protocol.Ours:
		return o.found()
	case seen.Finding == protocol.Absent, seen.Finding == protocol.Foreign:
		return Result{}, nil
	case ctx.Err() != nil:
		return Result{}, o.failure(ErrInterrupted, ctx.Err(), textOf(context.Cause(ctx)))
	case errors.Is(seen.Err, ErrInvalid):
		return Result{}, seen.Err
	case seen.Finding == protocol.Anonymous:
		return Result{}, o.failure(ErrUnknown, nil, protocol.ErrNoID.Error())
	default:
		return Result{}, o.failure(ErrUnknown, nil, "the object of a former secret can't be read: "+seen.Err.Error())
	}
}

// create creates the object under the current secret.
func (o *operation) create(ctx context.Context) (Result, error) {
	machine := protocol.New(protocol.Config{
		Name: func(int) string { return o.name }, Attempts: 1, Tracked: true, Reused: true,
		Rechecks:     []time.Duration{}, // a later call finds a copy of the POST that arrives later
		RetryTimeout: retryTimeout, Jitter: rand.Float64,
	}, time.Now())
	return o.finish(ctx, protocol.Run(ctx, machine, o.exchange, protocol.Options{Timeout: requestTimeout}))
}

// exchange sends the request, and returns the observation of the response. The protocol never asks for the
// server's time here, because an ID has only one name.
func (o *operation) exchange(ctx context.Context, request protocol.Action) protocol.Observation {
	if _, is := request.(protocol.Post); is {
		return o.post(ctx)
	}
	return o.get(ctx)
}

func (o *operation) post(ctx context.Context) protocol.Observation {
	sent := o.object.DeepCopyObject()
	ctx, route := observe(ctx)
	var seen protocol.Observation
	if err := route.end(ctx, true, o.client.Create(ctx, sent)); err != nil {
		seen = o.refused(err)
	} else {
		seen = o.accept(sent)
	}
	o.requested = o.requested || !seen.Unsent
	return seen
}

// sent returns the description of the object that responses are compared with.
func (o *operation) sent() findings.Sent {
	return findings.Sent{
		GroupKind: schema.GroupKind{Group: o.identity.Group, Kind: o.identity.Kind}, Namespace: o.identity.Namespace,
		Prefix: o.generateName, ID: o.annotation,
	}
}

// accept returns the observation of a 2xx.
func (o *operation) accept(response runtime.Object) protocol.Observation {
	got, err := meta.Accessor(response)
	if err != nil {
		return protocol.Observation{Finding: protocol.Lost, Err: err}
	}
	o.response = response
	return o.sent().Stored(o.name, kindOf(response), got)
}

// refused returns the observation of the error of a POST.
func (o *operation) refused(err error) protocol.Observation {
	var unsent *notSent
	switch {
	case errors.As(err, &unsent):
		return protocol.Observation{Finding: protocol.NotStored, Unsent: true, Err: err}
	case meta.IsNoMatchError(err), errors.Is(err, ErrInvalid):
		return protocol.Observation{Finding: protocol.Rejected, Unsent: true, Err: err}
	}
	o.unserved = findings.OfGet(err, true) == protocol.Absent && findings.OfGet(err, false) != protocol.Absent
	seen, _ := o.sent().Refused(o.name, err, true)
	return seen
}

// get reads the object of the name, and returns the observation.
func (o *operation) get(ctx context.Context) protocol.Observation {
	object := reflect.New(reflect.TypeOf(o.object).Elem()).Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(o.object.GetObjectKind().GroupVersionKind())
	ctx, route := observe(ctx)
	err := route.end(ctx, false, o.client.Get(ctx, o.identity.Namespace, o.name, object))
	unsent := errors.As(err, new(*notSent)) || meta.IsNoMatchError(err) || errors.Is(err, ErrInvalid)
	o.requested = o.requested || !unsent
	if err != nil {
		if o.unserved && meta.IsNoMatchError(err) {
			return protocol.Observation{Finding: protocol.Absent, Err: err}
		}
		return o.sent().NotHeld(o.name, err, o.unserved)
	}
	got, err := meta.Accessor(object)
	if err != nil {
		return protocol.Observation{Finding: protocol.Unread, Err: err}
	}
	o.response = object
	seen := o.sent().Held(o.name, kindOf(object), got)
	// A webhook might have removed the annotation. Then the object is ours only if it has the controller that was
	// sent.
	if seen.Finding == protocol.Anonymous && o.controller() != "" && controllerOf(got) == o.controller() {
		seen.Finding = protocol.Ours
	}
	return seen
}

// kindOf returns the group and kind of object. Many typed objects have none.
func kindOf(object runtime.Object) schema.GroupKind {
	return object.GetObjectKind().GroupVersionKind().GroupKind()
}

// controller returns the UID of the controller of the object that was sent.
func (o *operation) controller() types.UID {
	sent, _ := meta.Accessor(o.object) // no error: it was read before
	return controllerOf(sent)
}

// controllerOf returns the UID of the object's controller, or "".
func controllerOf(object metav1.Object) types.UID {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID
	}
	return ""
}
