package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// request makes the requests of one object. It implements server. client-go's
// silent resending is switched off: every POST is an operation's own.
type request struct {
	client     rest.Interface
	mapping    *meta.RESTMapping
	namespaced bool
	namespace  string
	object     *unstructured.Unstructured
	id         ID
	template   *Template // nil for none: then object is a copy that is stamped
	parameters url.Values
	brief      bool // WithBriefObjects was given
	fixed      bool // the object has a fixed name
}

func (r *request) wanted() wanted {
	return wanted{name: r.object.GetName(), generateName: r.object.GetGenerateName(), id: r.id}
}

// post sends the object under name. It is not sent once until is done, however
// long it waits for the client's rate limiter or for a credential.
func (r *request) post(until, ctx context.Context, name string) response {
	body, err := r.encode(name)
	if err != nil {
		return unsent(protocol.Rejected, err)
	}
	if err := r.throttle(until); err != nil {
		return unsent(protocol.NotStored, err)
	}
	request := r.target(r.client.Post()).Throttle(nil).SetHeader("Content-Type", "application/json").Body(body)
	for parameter, values := range r.parameters {
		for _, value := range values {
			request.Param(parameter, value)
		}
	}
	x := exchange{until: until}
	result := request.Do(x.observe(ctx))
	a := r.postResponse(ctx, result, &x, name)
	a.Unsent = !x.sent() && result.Error() != nil && apistatus.Code(result.Error()) == 0 || r.parameters.Has("dryRun")
	if a.Finding == protocol.Lost && a.Unsent { // a dry run
		a.Finding = protocol.NotStored
	}
	// No server stores an object under a name that no path can have. A webhook that
	// picks names may store it under another name, so a lost response stays lost.
	a.Unsent = a.Unsent || pathError(name) != nil
	return a
}

// throttle waits for the client's rate limiter. The limiter sees no deadline,
// because it would give up at once where it sees that the time will not do.
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

// unsent is the response to a POST that can't have stored anything.
func unsent(f protocol.Finding, err error) response {
	return response{Observation: protocol.Observation{Finding: f, Err: err, Unsent: true}}
}

// postResponse classifies the response to a POST.
func (r *request) postResponse(ctx context.Context, result rest.Result, x *exchange, name string) (a response) {
	err := result.Error()
	if err == nil {
		return r.accept(result, name)
	}
	connected := x.sent() || apistatus.Code(err) > 0
	a.Observation = protocol.Observation{
		Err: err, Finding: findings.OfPost(err, connected), RetryAfter: findings.RetryAfter(err),
	}
	a.Permission = a.Finding == protocol.Rejected && apierrors.IsForbidden(err)
	if x.retryAfter != nil {
		a.Resend, a.RetryAfter = true, max(a.RetryAfter, findings.Seconds(*x.retryAfter))
	}
	if details := findings.Details(err); r.isOther(details, name) {
		return r.ofOther(ctx, a, details.Name)
	}
	return a
}

// ofOther returns the meaning of a refusal that names another object. It is a
// lost response, unless that object carries our creation ID. Without an ID
// nothing can be proved: refusals that are no conflicts are taken as kubectl
// takes them.
func (r *request) ofOther(ctx context.Context, a response, other string) response {
	switch a.Finding {
	case protocol.Conflict, protocol.Rejected, protocol.Denied, protocol.Unauthorized:
	default:
		return a
	}
	if r.id.untracked && a.Finding != protocol.Conflict {
		return a
	}
	if a.object = r.oursAt(ctx, other); a.object != nil {
		a.Finding = protocol.Renamed
		return a
	}
	a.Finding, a.Other = protocol.Lost, true
	a.Err = apistatus.Explain(a.Err, " (the response is about another object)")
	return a
}

// oursAt returns the object of that name if it carries our creation ID.
func (r *request) oursAt(ctx context.Context, name string) *unstructured.Unstructured {
	if r.id.untracked {
		return nil
	}
	found := r.get(ctx, name).object
	if found == nil || idOf(found) != r.id.Creation {
		return nil
	}
	return found
}

// isOther reports whether details name another object than the one sent under
// name; without a name, the server makes one of the object's generateName. A
// generated name distinguishes an object of any type from all others.
func (r *request) isOther(details *metav1.StatusDetails, name string) bool {
	switch {
	case details == nil, details.Name == "",
		details.Kind == "namespaces" && r.namespaced && details.Name == r.namespace:
		return false
	case name == "":
		prefix := r.object.GetGenerateName()
		return details.Name != prefix && !names.GeneratedFrom(details.Name, prefix)
	}
	return details.Name != name || r.fixed && !r.isType(details.Kind)
}

// isType reports whether a Status may call the object's type so: servers say the
// resource or the kind.
func (r *request) isType(called string) bool {
	mapping := r.mapping
	return called == "" || strings.EqualFold(called, mapping.Resource.Resource) ||
		strings.EqualFold(called, mapping.GroupVersionKind.Kind) || called == mapping.Resource.GroupResource().String()
}

// encode returns the object as it is sent under name; empty: it has its own, or
// none.
func (r *request) encode(name string) ([]byte, error) {
	if r.template != nil {
		return r.template.encode(r.object, r.id, name)
	}
	if name != "" {
		r.object.SetName(name)
	}
	return r.object.MarshalJSON()
}

// accept reads the body of a 2xx. An object that was not sent proves nothing.
func (r *request) accept(result rest.Result, name string) response {
	read := decode
	if r.brief {
		read = decodeBriefly
	}
	object, err := objectOf(result, read)
	if err != nil {
		return because(protocol.Lost, err)
	}
	id := idOf(object)
	switch {
	case r.id.untracked && r.respondsWith(object):
		return stored(object)
	case !r.isHere(object), !r.id.untracked && id != "" && id != r.id.Creation:
	case object.GetName() == name, r.id.untracked && (object.GetName() == "" || r.mayBePicked(object)):
		return stored(object)
	case !r.id.untracked && id == r.id.Creation:
		err := fmt.Errorf("created as %q", object.GetName())
		return response{protocol.Observation{Finding: protocol.Renamed, Err: err}, object}
	}
	return response{Observation: protocol.Observation{Finding: protocol.Lost, Other: true, Err: fmt.Errorf(
		"the response is a %s %q that was not sent", object.GetKind(), object.GetName())}}
}

func stored(object *unstructured.Unstructured) response {
	return response{protocol.Observation{Finding: protocol.Stored}, object}
}

// mayBePicked reports whether the server, or a webhook that keeps the prefix, can
// have named an object without a fixed name so.
func (r *request) mayBePicked(object *unstructured.Unstructured) bool {
	prefix := r.object.GetGenerateName()
	return !r.fixed && (object.GetGenerateName() == prefix || names.GeneratedFrom(object.GetName(), prefix))
}

// respondsWith reports whether the object is of another kind than the one sent. Some APIs respond so to a
// create: a Binding with a Status, OpenShift's ProjectRequest with a Project.
func (r *request) respondsWith(object *unstructured.Unstructured) bool {
	status, _, _ := unstructured.NestedString(object.Object, "status")
	return !r.isKind(object) && (object.GetKind() != "Status" || status == metav1.StatusSuccess)
}

func (r *request) isKind(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().GroupKind() == r.object.GroupVersionKind().GroupKind()
}

// isHere reports whether the object is of the type and in the namespace of the
// one sent.
func (r *request) isHere(object *unstructured.Unstructured) bool {
	namespace := object.GetNamespace()
	return r.isKind(object) && (!r.namespaced || namespace == "" || namespace == r.namespace)
}

// pathError returns why no path can carry the name, or nil.
func pathError(name string) error {
	if why := rest.IsValidPathSegmentName(name); len(why) > 0 {
		return fmt.Errorf("no object can be named %q: a name %s", name, strings.Join(why, ", "))
	}
	return nil
}

// errNotAsked is why a response to a GET says nothing.
var errNotAsked = errors.New("the response is not the object asked for")

// get reads the object back. Without a resourceVersion it is a quorum read.
func (r *request) get(ctx context.Context, name string) response {
	if err := pathError(name); err != nil {
		return because(protocol.Absent, err)
	}
	var x exchange
	result := r.target(r.client.Get()).Name(name).Do(x.observe(ctx))
	err := result.Error()
	if err == nil {
		var object *unstructured.Unstructured
		if object, err = objectOf(result, decode); err == nil && object.GetName() == name && r.isHere(object) {
			return response{protocol.Observation{Finding: protocol.Anonymous}, object}
		}
		return because(protocol.Unread, errors.Join(errNotAsked, err))
	}
	a := because(findings.OfGet(err, x.audited), err)
	a.RetryAfter = findings.RetryAfter(err)
	if r.isOther(findings.Details(err), name) {
		a.Finding, a.Err = protocol.Unread, errNotAsked
	}
	if a.Finding == protocol.NoPermission {
		mapping := r.mapping
		a.Err = fmt.Errorf("%w; to settle it: kubectl get %s", err, reference.Argument(mapping, r.namespace, name))
	}
	return a
}

// now sends a SelfSubjectReview. Its response has the server's time, every user has
// permission for it, and it is stored nowhere. If the server doesn't serve it, the time
// is unknown.
func (r *request) now(ctx context.Context) protocol.Observation {
	result := r.client.Post().MaxRetries(0).
		AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").
		SetHeader("Content-Type", "application/json").
		Body([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)).
		Do(ctx)
	if apistatus.RefusedForAll(result.Error()) {
		return protocol.Observation{Finding: protocol.ServerTime}
	}
	review, err := objectOf(result, decode)
	if err == nil && review.GetKind() != "SelfSubjectReview" {
		err = errNotAsked
	}
	if err != nil {
		return because(protocol.Unread, fmt.Errorf("read the server's time: %w", err)).Observation
	}
	return protocol.Observation{Finding: protocol.ServerTime, Time: review.GetCreationTimestamp().Time}
}

func (r *request) target(to *rest.Request) *rest.Request {
	return to.MaxRetries(0).
		NamespaceIfScoped(r.namespace, r.namespaced).
		Resource(r.mapping.Resource.Resource)
}

// objectOf reads the object of a response.
func objectOf(
	result rest.Result, decode func([]byte) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	return decode(body)
}
