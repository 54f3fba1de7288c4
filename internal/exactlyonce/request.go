package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// request sends the requests about one object. request implements server. request switches off client-go's own
// retries, so that each POST is one of the operation.
type request struct {
	client   rest.Interface
	mapping  *meta.RESTMapping
	id       ID
	settings Settings
	sent     findings.Sent
}

// post sends the object under name. post sends nothing after the end of until, even if the client's rate limiter or a
// credential plugin delays the request.
func (r *request) post(until, ctx context.Context, name string) response {
	body, contentType, err := r.settings.Encode(r.id, name)
	if err != nil {
		return unsent(protocol.Rejected, err)
	}
	if err := r.throttle(until); err != nil {
		return unsent(protocol.NotStored, err)
	}
	request := r.target(r.client.Post()).Throttle(nil).SetHeader("Content-Type", contentType).Body(body)
	for parameter, values := range r.settings.Parameters {
		for _, value := range values {
			request.Param(parameter, value)
		}
	}
	x := exchange{until: until, keep: r.settings.Responses}
	if r.settings.OnPost != nil {
		x.onPost = func() { r.settings.OnPost(name) }
	}
	result := request.Do(x.observe(ctx))
	a := r.postResponse(ctx, result, &x, name)
	a.Unsent = !x.maybeSent() && result.Error() != nil && apistatus.Code(result.Error()) == 0 ||
		r.settings.Parameters.Has("dryRun")
	switch {
	case a.Finding == protocol.Lost && a.Unsent: // dry run
		a.Finding = protocol.NotStored
	case a.Finding == protocol.NotStored && r.settings.TrustRefusals && strings.Contains(a.Err.Error(), noCredentials):
		a.Finding = protocol.Rejected
	}
	// The server can't store an object under a name that can't be part of a path. A webhook can change the name,
	// and then the server can store it. So a lost response stays lost.
	a.Unsent = a.Unsent || pathError(name) != nil
	return a
}

// noCredentials is in client-go's error after a credential plugin has failed.
const noCredentials = ": getting credentials: "

// throttle waits for the client's rate limiter. throttle hides the deadline from the limiter, because the limiter
// would fail at once if the deadline is too early.
func (r *request) throttle(until context.Context) error {
	limiter := r.client.GetRateLimiter()
	if limiter == nil {
		return until.Err()
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(until))
	defer cancel()
	defer context.AfterFunc(until, cancel)()
	return limiter.Wait(ctx)
}

// unsent returns the response to a POST that can't have stored anything.
func unsent(f protocol.Finding, err error) response {
	return response{Observation: protocol.Observation{Finding: f, Err: err, Unsent: true}}
}

// postResponse classifies the response to a POST. If a refusal names another object, postResponse reads that object.
// If that object has our creation ID, a webhook has renamed the object.
func (r *request) postResponse(ctx context.Context, result rest.Result, x *exchange, name string) (a response) {
	a.raw = x.response
	err := result.Error()
	if err == nil {
		return r.accept(result, x, name)
	}
	var other string
	a.Observation, other = r.sent.Refused(name, err, x.maybeSent() || apistatus.Code(err) > 0)
	if x.retryAfter != nil {
		a.Resend, a.RetryAfter = true, max(a.RetryAfter, findings.Seconds(*x.retryAfter))
	}
	if other == "" || r.id.untracked {
		return a
	}
	if found := r.get(ctx, other); found.object != nil && idOf(found.object) == r.id.Creation {
		a.Finding, a.Other, a.Err = protocol.Renamed, false, apistatus.Explain(err, r.sent.Renamed(name))
		a.object, a.raw = found.object, found.raw
	}
	return a
}

// accept reads the body of a 2xx. If the object in it isn't ours, the response counts as lost.
func (r *request) accept(result rest.Result, x *exchange, name string) response {
	read := decode
	if r.settings.Brief {
		read = decodeBriefly
	}
	object, err := objectOf(result, read)
	if err != nil {
		return because(protocol.Lost, err)
	}
	kind := object.GroupVersionKind().GroupKind()
	if r.id.untracked && kind != r.sent.GroupKind && respondsWith(object) {
		return response{protocol.Observation{Finding: protocol.Stored}, object, x.response}
	}
	seen := r.sent.Stored(name, kind, object)
	if seen.Finding == protocol.Lost {
		object = nil
	}
	return response{seen, object, x.response}
}

// respondsWith reports whether an API can respond with this object to the create of another kind. The response to
// a Binding is a Status. OpenShift responds to a ProjectRequest with a Project.
func respondsWith(object *unstructured.Unstructured) bool {
	status, _, _ := unstructured.NestedString(object.Object, "status")
	return object.GetKind() != "Status" || status == metav1.StatusSuccess
}

func pathError(name string) error {
	if why := rest.IsValidPathSegmentName(name); len(why) > 0 {
		return fmt.Errorf("no object can be named %q: a name %s", name, strings.Join(why, ", "))
	}
	return nil
}

// get reads the object from etcd. get sends no resourceVersion, so the server doesn't use its cache.
func (r *request) get(ctx context.Context, name string) response {
	if err := pathError(name); err != nil {
		return because(protocol.Absent, err)
	}
	x := exchange{keep: r.settings.Responses}
	result := r.target(r.client.Get()).Name(name).Do(x.observe(ctx))
	err := result.Error()
	if err == nil {
		object, err := objectOf(result, decode)
		if err != nil {
			return because(protocol.Unread, err)
		}
		seen := r.sent.Held(name, object.GroupVersionKind().GroupKind(), object)
		if seen.Finding == protocol.Unread {
			object = nil
		}
		return response{seen, object, x.response}
	}
	return response{Observation: r.sent.NotHeld(name, err, x.audited)}
}

// now sends a SelfSubjectReview. The response has the server's time. Every user has the permission for it, and the
// server doesn't store it. If the server doesn't serve it, the time is unknown.
func (r *request) now(ctx context.Context) protocol.Observation {
	result := r.with(r.client.Post()).
		AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").
		SetHeader("Content-Type", runtime.ContentTypeJSON).
		Body([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)).
		Do(ctx)
	if apistatus.RefusedForAll(result.Error()) {
		return protocol.Observation{Finding: protocol.ServerTime}
	}
	review, err := objectOf(result, decode)
	if err == nil && review.GetKind() != "SelfSubjectReview" {
		err = errors.New("the response is not a SelfSubjectReview")
	}
	if err != nil {
		return because(protocol.Unread, fmt.Errorf("read the server's time: %w", err)).Observation
	}
	return protocol.Observation{Finding: protocol.ServerTime, Time: review.GetCreationTimestamp().Time}
}

func (r *request) target(to *rest.Request) *rest.Request {
	return r.with(to).NamespaceIfScoped(r.sent.Namespace, r.sent.Namespace != "").Resource(r.mapping.Resource.Resource)
}

func (r *request) with(to *rest.Request) *rest.Request {
	for key, values := range r.settings.Header {
		to.SetHeader(key, values...)
	}
	return to.MaxRetries(0)
}
