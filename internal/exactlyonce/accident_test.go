package exactlyonce

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// An accident is one thing that can happen to a request of the HTTP model, or
// that others do before the server gets it.
type accident struct {
	name  string
	fault oncetest.Fault
	// before changes the server as other clients do. before gets the type, namespace and name of the object that the
	// request is about.
	before func(*oncetest.Server, *unstructured.Unstructured)
	hides  excuse
}

// An excuse is a fact that an accident hides from every client. No client can keep
// the promise then (docs/internals/create-protocol.md).
type excuse int

const (
	// behindTheResponse: the object was stored, or might be stored later, although the response doesn't show it. This
	// matters for objects without a creation ID.
	behindTheResponse excuse = 1 << iota
	// unreadable: the object could not be read back for lack of permission, or was
	// read from a cache that lags behind.
	unreadable
	// landsLate: the object might be stored after the process that sent it has ended, and after another process has
	// checked for it.
	landsLate
	// nameGiven: something picks names.
	nameGiven
	// stripped: something removes or overwrites annotations. An object with a fixed name and no creation ID then
	// counts as another client's, as with kubectl. So does an object with another ID and the only name of a key.
	stripped
)

// afterTheEnd is long after the end of every create.
const afterTheEnd = time.Hour

var (
	text503   = text(http.StatusServiceUnavailable)
	page200   = page(http.StatusOK)
	page403   = page(http.StatusForbidden)
	badField  = refusedField("must be something else")
	portInUse = refusedField("provided port is already allocated")
)

// refusedField responses as validation does: 422.
func refusedField(why string) oncetest.Fault {
	return oncetest.Refuse(apierrors.NewInvalid(configMapKind, "", field.ErrorList{
		field.Invalid(field.NewPath("data"), "x", why),
	}))
}

// overwrite is a webhook that writes its own annotations.
func overwrite(o *unstructured.Unstructured) {
	o.SetAnnotations(map[string]string{Annotation: "webhook"})
}

func strip(o *unstructured.Unstructured) { o.SetAnnotations(nil) }

// postAccidents are the accidents of a POST. In the first one, nothing happens.
var postAccidents = []accident{
	{name: "nothing"},

	{name: "request lost", fault: oncetest.DropRequest},
	{name: "response lost", fault: oncetest.DropResponse, hides: behindTheResponse},
	{name: "response cut", fault: oncetest.CutResponse, hides: behindTheResponse},
	{name: "no response in time", fault: oncetest.Delay(5 * time.Minute), hides: behindTheResponse | landsLate},
	{name: "504", fault: oncetest.GatewayTimeout},
	{name: "504, stored", fault: oncetest.AfterStore(oncetest.GatewayTimeout), hides: behindTheResponse},
	{name: "504, lands soon", fault: oncetest.StoreLate(time.Millisecond, oncetest.GatewayTimeout), hides: behindTheResponse},
	{name: "504, lands late", fault: oncetest.StoreLate(afterTheEnd, oncetest.GatewayTimeout), hides: behindTheResponse | landsLate},
	{name: "etcd timeout, stored", fault: oncetest.AfterStore(oncetest.EtcdTimeout), hides: behindTheResponse},
	{name: "etcd timeout, lands late", fault: oncetest.StoreLate(afterTheEnd, oncetest.EtcdTimeout), hides: behindTheResponse | landsLate},
	{name: "text 503, stored", fault: oncetest.AfterStore(text503), hides: behindTheResponse},
	{name: "text 503, lands late", fault: oncetest.StoreLate(afterTheEnd, text503), hides: behindTheResponse | landsLate},
	{name: "page 200", fault: page200},
	{name: "page 200, stored", fault: oncetest.AfterStore(page200), hides: behindTheResponse},

	{name: "invalid", fault: badField},
	{name: "quota", fault: oncetest.QuotaExceeded},
	{name: "401", fault: oncetest.Unauthorized},
	{name: "429", fault: oncetest.TooManyRequests(1)},
	{name: "webhook not called", fault: oncetest.WebhookTimeout},
	{name: "page 403", fault: page403},

	{name: "201 of another", fault: otherResponses["201 of another name"]},
	{name: "201 of another, stored", fault: oncetest.AfterStore(otherResponses["201 of another name"]), hides: behindTheResponse},
	{name: "201 of another kind, lands late", fault: oncetest.StoreLate(afterTheEnd, otherResponses["201 of another kind"]), hides: behindTheResponse | landsLate},
	{name: "409 of another", fault: otherResponses["409 of another name"]},
	{name: "409 of another, stored", fault: oncetest.AfterStore(otherResponses["409 of another name"]), hides: behindTheResponse},
	{name: "404 of another, stored", fault: oncetest.AfterStore(otherResponses["404 of another name"]), hides: behindTheResponse},
	{name: "422 of another, lands late", fault: oncetest.StoreLate(afterTheEnd, otherResponses["422 of another name"]), hides: behindTheResponse | landsLate},

	{name: "sent twice", fault: oncetest.SendTwice, hides: behindTheResponse},
	{name: "second refused by quota", fault: oncetest.AfterStore(oncetest.QuotaExceeded), hides: behindTheResponse},
	{name: "second refused by quota, first lands", fault: oncetest.StoreLate(2*time.Second, oncetest.QuotaExceeded), hides: behindTheResponse | landsLate},
	{name: "second denied by webhook", fault: oncetest.AfterStore(oncetest.WebhookDenied), hides: behindTheResponse},
	{name: "second has its port in use", fault: oncetest.AfterStore(portInUse), hides: behindTheResponse},
	{name: "second without permission", fault: oncetest.AfterStore(oncetest.Forbidden), hides: behindTheResponse},
	{name: "second unauthorized", fault: oncetest.AfterStore(oncetest.Unauthorized), hides: behindTheResponse},
	{name: "second throttled", fault: oncetest.AfterStore(oncetest.TooManyRequests(1)), hides: behindTheResponse},

	{name: "annotations stripped", fault: stripAnnotations, hides: stripped},
	{name: "labels stripped", fault: stripLabels},
	{name: "stripped, response lost", fault: oncetest.Mutate(strip, oncetest.DropResponse), hides: behindTheResponse | stripped},
	{name: "stripped, sent twice", fault: oncetest.Mutate(strip, oncetest.SendTwice), hides: behindTheResponse | stripped},
	{name: "ID overwritten, sent twice", fault: oncetest.Mutate(overwrite, oncetest.SendTwice), hides: behindTheResponse | stripped},
	{name: "renamed", fault: rename("renamed"), hides: nameGiven},

	{name: "young unexpected object", before: unexpected(0, "")},
	{name: "old unexpected object", before: unexpected(24*time.Hour, "")},
	{name: "unexpected object with another ID", before: unexpected(0, "r1-"+strings.Repeat("0", 32))},
}

// getAccidents are those of a GET.
var getAccidents = []accident{
	{name: "nothing"},
	{name: "lost", fault: oncetest.DropRequest},
	{name: "cut", fault: oncetest.CutResponse},
	{name: "401", fault: oncetest.Unauthorized},
	{name: "403", fault: oncetest.Forbidden, hides: unreadable},
	{name: "405", fault: methodNotAllowed, hides: unreadable},
	{name: "text 503", fault: text503},
	{name: "page 404", fault: page(http.StatusNotFound)},
	{name: "page 403", fault: page403},
	{name: "page 200", fault: page200},
	{name: "200 of another", fault: held(func(o *unstructured.Unstructured) { o.SetName("other") })},
	{name: "200 of another namespace", fault: held(func(o *unstructured.Unstructured) { o.SetNamespace("elsewhere") })},
	{name: "200 of another kind", fault: held(func(o *unstructured.Unstructured) { o.SetKind("Secret") })},
	{name: "404 of another", fault: otherResponses["404 of another name"]},
	{name: "403 of another", fault: otherResponses["403 of another name"]},
	{name: "stale", fault: oncetest.StaleRead(time.Hour), hides: unreadable},
	{name: "deleted", before: (*oncetest.Server).Remove},
	{name: "young unexpected object", before: unexpected(0, "")},
	{name: "old unexpected object", before: unexpected(24*time.Hour, "")},
}

// reviewAccidents are those of a request that only asks for the server's time.
var reviewAccidents = []accident{
	{name: "nothing"},
	{name: "lost", fault: oncetest.DropRequest},
	{name: "401", fault: oncetest.Unauthorized},
	{name: "403", fault: oncetest.Forbidden},
	{name: "text 503", fault: text503},
	{name: "page 200", fault: page200},
}

// unexpected stores an object of another client under the name of ours, unless the
// name is taken. The object was created age ago.
func unexpected(age time.Duration, id string) func(*oncetest.Server, *unstructured.Unstructured) {
	return func(s *oncetest.Server, ours *unstructured.Unstructured) {
		for _, o := range s.Objects() {
			if o.GetName() == ours.GetName() {
				return
			}
		}
		if ours.GetName() == "" {
			return
		}
		theirs := ours.DeepCopy()
		if id != "" {
			theirs.SetAnnotations(map[string]string{Annotation: id})
		}
		s.Put(theirs) // the server's clock says when
		for _, o := range s.Objects() {
			if o.GetName() == ours.GetName() {
				o.SetCreationTimestamp(metav1.NewTime(o.GetCreationTimestamp().Add(-age)))
				s.Put(o)
			}
		}
	}
}

// errKilled is the error of requests of a killed process.
var errKilled = errors.New("killed")

// The faults beside those of oncetest.
var (
	stripAnnotations = oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }, nil)
	stripLabels      = oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetLabels(nil) }, nil)
)

// text is a load balancer's response.
func text(code int) oncetest.Fault {
	return oncetest.Respond(code, "text/plain", "upstream connect error or disconnect/reset before headers")
}

// page is a proxy's response.
func page(code int) oncetest.Fault {
	return oncetest.Respond(code, "text/html", fmt.Sprintf(
		"<html><head><title>%d %[2]s</title></head><body><h1>%[2]s</h1></body></html>\n", code, http.StatusText(code)))
}

// rename stores the object under another name.
func rename(name string) oncetest.Fault {
	return oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetName(name) }, nil)
}

// methodNotAllowed refuses the verb.
func methodNotAllowed(r *oncetest.Request) (*http.Response, error) {
	return oncetest.Refuse(apierrors.NewMethodNotSupported(r.Resource.GroupResource(), r.Verb))(r)
}

// held responds to a GET with an object of another client, after a change.
func held(change func(*unstructured.Unstructured)) oncetest.Fault {
	return func(r *oncetest.Request) (*http.Response, error) {
		theirs := configMapObject()
		theirs.SetName(r.Name)
		theirs.SetAnnotations(map[string]string{Annotation: "r1-" + strings.Repeat("0", 32)})
		change(theirs)
		body, err := theirs.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return oncetest.Respond(http.StatusOK, "application/json", string(body))(r)
	}
}
