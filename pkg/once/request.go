package once

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// request makes the requests of one object. It implements server. client-go's
// silent resending is switched off: every POST is an operation's own.
type request struct {
	resource   resource
	namespaced bool
	namespace  string
	given      runtime.Object // that object was made of
	object     *unstructured.Unstructured
	id         ID
	content    string    // what the object's ContentAnnotation says
	template   *Template // nil for none: then object is a copy, and has the marks of id
	parameters url.Values
	brief      bool // of what is stored, no more is read than WithBriefObjects says
}

func (r *request) wanted() wanted {
	return wanted{name: r.object.GetName(), generateName: r.object.GetGenerateName(), id: r.id, content: r.content}
}

func (r *request) post(ctx context.Context, name string) answer {
	body, err := r.encode(name)
	if err != nil {
		return answer{finding: rejected, err: err, unsent: true}
	}
	request := r.target(r.resource.client.Post()).SetHeader("Content-Type", "application/json").Body(body)
	for parameter, values := range r.parameters {
		for _, value := range values {
			request.Param(parameter, value)
		}
	}
	var x exchange
	result := request.Do(x.observe(ctx))
	a := answer{unsent: !x.sent.Load() || r.parameters.Has("dryRun")}
	if err := result.Error(); err != nil {
		a.err = err
		a.finding = postFinding(err, x.sent.Load(), r.sentAs(name))
		a.retryAfter = suggestedDelay(err)
		if x.retryAfter != nil {
			a.resend, a.retryAfter = true, max(a.retryAfter, time.Duration(*x.retryAfter)*time.Second)
		}
	} else {
		a.object, a.finding, a.err = r.accept(result, name)
		a.brief = r.brief
	}
	if a.finding == lost && a.unsent { // a dry run
		a.finding = notStored
	}
	// No server stores what it could not be asked for; something that picks
	// names may, under another one, so that a lost answer stays one.
	a.unsent = a.unsent || pathError(name) != nil
	return a
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

// sentAs returns what reports whether a name can be that of the object sent under
// name: that one or, without one, what a server makes of its generateName.
func (r *request) sentAs(name string) func(string) bool {
	return func(got string) bool {
		if name != "" {
			return got == name
		}
		return names.GeneratedFrom(got, r.object.GetGenerateName())
	}
}

// accept reads the body of a 2xx. What is not the object sent proves nothing;
// but what comes back for an object without a mark is taken as it comes.
func (r *request) accept(result rest.Result, name string) (*unstructured.Unstructured, finding, error) {
	read := decode
	if r.brief {
		read = decodeBriefly
	}
	object, err := objectOf(result, read)
	if err != nil {
		return nil, lost, err
	}
	switch found := idOf(object); {
	case r.id.unmarked:
		return object, stored, nil
	case object.GetKind() != r.object.GetKind() || (found != "" && found != r.id.creation):
		return nil, lost, fmt.Errorf("the answer is a %s %q that was not sent", object.GetKind(), object.GetName())
	case object.GetName() != name:
		return object, renamed, fmt.Errorf("created as %q", object.GetName())
	}
	return object, stored, nil
}

// pathError returns why no path can carry the name, or nil.
func pathError(name string) error {
	if why := rest.IsValidPathSegmentName(name); len(why) > 0 {
		return fmt.Errorf("no object can be named %q: a name %s", name, strings.Join(why, ", "))
	}
	return nil
}

// get reads the object back. Without a resourceVersion it is a quorum read.
func (r *request) get(ctx context.Context, name string) answer {
	if err := pathError(name); err != nil {
		return answer{finding: absent, err: err}
	}
	result := r.target(r.resource.client.Get()).Name(name).Do(ctx)
	err := result.Error()
	if err == nil {
		var object *unstructured.Unstructured
		if object, err = objectOf(result, decode); err == nil && object.GetName() == name {
			return answer{finding: unclear, object: object}
		}
		return answer{finding: unread, err: errors.Join(errors.New("the answer is not the object asked for"), err)}
	}
	a := answer{finding: getFinding(err), err: err, retryAfter: suggestedDelay(err)}
	if a.finding == noRight {
		mapping := r.resource.mapping
		a.err = fmt.Errorf("it cannot be read back (needs get on %s): %w; to settle it: kubectl get %s",
			mapping.Resource.GroupResource(), err, reference.Argument(mapping, r.namespace, name))
	}
	return a
}

// now has the API server review who asks: that is answered with the server's
// time, to every user, and stored nowhere. Where it is not answered so, the time
// is not known.
func (r *request) now(ctx context.Context) (time.Time, error) {
	result := r.resource.client.Post().MaxRetries(0).
		AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").
		SetHeader("Content-Type", "application/json").
		Body([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)).
		Do(ctx)
	if apistatus.RefusedForAll(result.Error()) {
		return time.Time{}, nil
	}
	review, err := objectOf(result, decode)
	if err != nil {
		return time.Time{}, fmt.Errorf("the server's time cannot be had: %w", err)
	}
	return review.GetCreationTimestamp().Time, nil
}

func (r *request) target(to *rest.Request) *rest.Request {
	return to.MaxRetries(0).
		NamespaceIfScoped(r.namespace, r.namespaced).
		Resource(r.resource.mapping.Resource.Resource)
}

// objectOf reads the object of an answer.
func objectOf(
	result rest.Result, decode func([]byte) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	return decode(body)
}
