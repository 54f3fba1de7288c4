package main

import (
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	. "github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest" //nolint:revive,staticcheck // reads like a list of faults
)

// The claims of a program. A program may claim unknown, but not in a case in which a client can find out the outcome.
const (
	created = "created"
	exists  = "exists"
	failed  = "failed"
	unknown = "unknown"
)

// secret is the secret of the cases that have one.
const secret = "0123456789abcdef0123456789abcdef"

// A testCase is one history: faults, objects of other users, and one or more runs of the
// program.
type testCase struct {
	name  string
	setup func(server)
	runs  []run
	// gone is true if the history deletes the object, and renamed if the server stores it under another name.
	gone, renamed bool
	// pause is the least time between the first two POSTs.
	pause time.Duration
	// resource and namespace are those of the objects. By default, these are ConfigMaps in the namespace default.
	resource  schema.GroupVersionResource
	namespace string
	// manifest is the format of the manifest. Arguments: name and value of the label, input.
	manifest string
}

// A run is one call of the program.
type run struct {
	claims []string // that are true
	input  string   // a value in the manifest; runs with equal values have equal manifests
	secret string
	key    string       // empty for the key of the case
	bad    bool         // the key or the secret is unusable, so nothing is sent
	beside bool         // the run starts together with the next one
	stop   bool         // interrupted after its first POST has arrived
	before func(server) // called before the run
}

var (
	done    = []string{created}
	settled = []string{created, exists} // a response was lost: both are true
	refused = []string{failed}
	lost    = []string{unknown}
)

// once is a history with one run.
func once(claims []string) []run { return []run{{claims: claims}} }

func faults(verb string, next ...Fault) func(server) {
	return func(s server) { s.Next(verb, "configmaps", next...) }
}

func all(setups ...func(server)) func(server) {
	return func(s server) {
		for _, setup := range setups {
			setup(s)
		}
	}
}

func always(verb string, fault Fault) func(server) {
	return func(s server) { s.Always(verb, "configmaps", fault) }
}

// cases are all cases, in the order of docs/spec.
func cases() []testCase {
	return slices.Concat(responses(), doubts(), unsettled(), repeats(), places(), trust())
}

// responses are the cases of one run.
func responses() []testCase {
	return []testCase{
		{name: "no fault", runs: once(done)},
		{name: "request lost", setup: faults("create", DropRequest), runs: once(settled)},
		{name: "response lost", setup: faults("create", DropResponse), runs: once(settled)},
		{name: "response cut", setup: faults("create", CutResponse), runs: once(settled)},
		{name: "response lost, and lost again", setup: all(faults("create", DropResponse), faults("get", DropRequest, GatewayTimeout)), runs: once(settled)},
		{name: "500 of etcd after the object was stored", setup: faults("create", AfterStore(EtcdTimeout)), runs: once(settled)},
		{name: "504 before the object is stored", setup: faults("create", StoreLate(300*time.Millisecond, GatewayTimeout)), runs: once(settled)},
		{name: "proxy sends the POST twice", setup: faults("create", SendTwice), runs: once(settled)},
		{name: "proxy's page after the object was stored", setup: faults("create", AfterStore(Respond(502, "text/html", "<html>bad gateway</html>"))), runs: once(settled)},
		{name: "200 of a proxy, nothing stored", setup: faults("create", Respond(200, "text/html", "<html>log in</html>")), runs: once(settled)},
		{name: "307 with Location", setup: faults("create", redirect(http.StatusTemporaryRedirect)), runs: once(settled)},
		{name: "308 with Location after the object was stored", setup: faults("create", AfterStore(redirect(http.StatusPermanentRedirect))), runs: once(settled)},
		{name: "201 about another object", setup: faults("create", AfterStore(other)), runs: once(settled)},
		{name: "proxy's 404 on the GET", setup: all(faults("create", DropResponse), faults("get", notFound)), runs: once(settled)},
		{name: "throttled", setup: faults("create", TooManyRequests(2), TooManyRequests(0)), runs: once(done), pause: 2 * time.Second},
		{name: "webhook unreachable once", setup: faults("create", WebhookTimeout), runs: once(settled)},
		{name: "401 once", setup: faults("create", Unauthorized), runs: once(done)},
		{name: "response lost, then 401", setup: faults("create", DropResponse, Unauthorized), runs: once(settled)},
		{name: "401 always", setup: always("create", Unauthorized), runs: once(refused)},
		{name: "no permission to create", setup: always("create", Forbidden), runs: once(refused)},
		{name: "denied by a webhook", setup: always("create", WebhookDenied), runs: once(refused)},
		{name: "etcd is full", setup: always("create", full), runs: once(refused)},
		{name: "first copy lost, quota refuses the second", setup: faults("create", DropResponse, QuotaExceeded), runs: once(settled)},
		{name: "quota refuses the second copy, the first is stored 2 s later", setup: faults("create", StoreLate(2*time.Second, QuotaExceeded)), runs: once(settled)},
		{name: "response lost, no permission to get", setup: all(faults("create", DropResponse), always("get", Forbidden)), runs: once(lost)},
	}
}

// redirect responds with a Location where every POST succeeds and stores nothing.
func redirect(code int) Fault {
	return func(r *Request) (*http.Response, error) {
		resp, err := Respond(code, "text/plain", "")(r)
		if err == nil {
			resp.Header.Set("Location", elsewhere+"api/v1/namespaces/default/configmaps")
		}
		return resp, err
	}
}

// full is the error of an etcd that has used up its quota.
var full = Refuse(&apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "etcdserver: mvcc: database space exceeded",
}})

// doubts are the cases in which an earlier copy of the POST, or nothing, was stored, and the last
// response shows neither.
func doubts() []testCase {
	invalid := Refuse(apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "another", nil))
	rename := Mutate(func(o *unstructured.Unstructured) { o.SetName("renamed") }, nil)
	return []testCase{
		{name: "first copy stored, no permission for the second", setup: faults("create", AfterStore(Forbidden)), runs: once(settled)},
		{name: "first copy late, no permission for the next", setup: lateAndForbidden, runs: once(settled)},
		{name: "first copy stored, quota refuses the second, proxy's 404s", setup: all(faults("create", AfterStore(QuotaExceeded)),
			faults("get", notFound, notFound, notFound, notFound, notFound)), runs: once(settled)},
		{name: "refusal of another object", setup: faults("create", invalid), runs: once(settled)},
		{name: "request lost, then another client takes the name", setup: lostAndTaken, runs: once(lost)},
		{name: "request lost, then a webhook changes the name", setup: all(faults("create", DropRequest), always("create", rename)), runs: once(lost), renamed: true},
	}
}

// unsettled are the cases in which the time of the program is over, or the permission to read is missing.
func unsettled() []testCase {
	return []testCase{
		{name: "each request lost until the time is over", setup: always("create", DropRequest), runs: once(lost)},
		{name: "quota, no permission to get", setup: all(always("create", QuotaExceeded), always("get", Forbidden)), runs: once(lost)},
		{name: "throttled until the time is over", setup: always("create", TooManyRequests(0)), runs: once(refused)},
		{name: "throttled, no permission to get", setup: all(always("create", TooManyRequests(0)), always("get", Forbidden)), runs: once(lost)},
		{name: "no permission to create and to get", setup: all(always("create", Forbidden), always("get", Forbidden)), runs: once(refused)},
		{name: "a type that the server doesn't have", manifest: missingText, runs: once(refused)},
	}
}

// places are the cases with another type or namespace.
func places() []testCase {
	return []testCase{
		{name: "a type of a group", resource: roles, manifest: roleText, runs: []run{{claims: done}, {claims: []string{exists}}}},
		{name: "the namespace of the context", namespace: metav1.NamespacePublic, runs: []run{{claims: done}, {claims: []string{exists}}}},
	}
}

// notFound is the page of a proxy that doesn't know the path.
var notFound = Respond(http.StatusNotFound, "text/html", "<html>not found</html>")

// lateAndForbidden stores the first copy when the third arrives.
func lateAndForbidden(s server) {
	s.Next("create", "configmaps", StoreLate(time.Hour, GatewayTimeout), Forbidden, func(r *Request) (*http.Response, error) {
		s.Land()
		return Forbidden(r)
	})
}

// lostAndTaken loses the first POST, and stores another client's object under the name before the client reads.
func lostAndTaken(s server) {
	s.Next("create", "configmaps", DropRequest)
	s.Next("get", "configmaps", func(r *Request) (*http.Response, error) {
		s.Put(theirs(r.Name, anotherID))
		return r.Send()
	})
}

// repeats are the cases of several runs with one key.
func repeats() []testCase {
	twice := []run{{claims: done}, {claims: []string{exists}}}
	return []testCase{
		{name: "run twice", runs: twice},
		{name: "two runs at one moment", runs: []run{{claims: settled, beside: true}, {claims: settled}}},
		{name: "response lost, then run again", setup: faults("create", DropResponse), runs: []run{{claims: settled}, {claims: []string{exists}}}},
		{name: "interrupted, then run again", setup: faults("create", Delay(time.Second)), runs: []run{{claims: []string{created, exists, unknown}, stop: true}, {claims: settled}}},
		{name: "other content under the key", runs: []run{{claims: done}, {claims: refused, input: "b"}}},
		{name: "object deleted between two runs", gone: true, runs: []run{{claims: done}, {claims: done, before: removeAll}}},
	}
}

// trust are the cases with a secret, or with another user.
func trust() []testCase {
	return []testCase{
		{name: "with a secret, run twice", runs: []run{{claims: done, secret: secret}, {claims: []string{exists}, secret: secret}}},
		{name: "with a secret, response lost", setup: faults("create", DropResponse), runs: []run{{claims: settled, secret: secret}}},
		{name: "key with an empty variable", runs: []run{{claims: refused, key: "prod-migrate-", bad: true}}},
		{name: "key that isn't UTF-8", runs: []run{{claims: refused, key: "prod-\xff1", bad: true}}},
		{name: "secret too short", runs: []run{{claims: refused, secret: "short", bad: true}}},
		{name: "another client's object has the name", setup: planted(anotherID), runs: once(refused)},
		{name: "an object without an ID has the name", setup: planted(nil), runs: once(lost)},
	}
}

var anotherID = map[string]string{"genname.dev/creation-id": "v1-00000000000000000000000000000000-0-0"}

// other responds with another object, as a load balancer does that mixes up responses.
func other(*Request) (*http.Response, error) {
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"another","namespace":"default","uid":"1"}}`
	return Respond(http.StatusCreated, "application/json", object)(nil)
}

// planted puts an object of another user under the name of the first POST, before the
// server receives it.
func planted(annotations map[string]string) func(server) {
	return func(s server) {
		s.Next("create", "configmaps", func(r *Request) (*http.Response, error) {
			s.Put(theirs(r.Name, annotations))
			return r.Send()
		})
	}
}

func theirs(name string, annotations map[string]string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"work": theirWork},
	}}
	object.SetNamespace("default")
	object.SetName(name)
	object.SetAnnotations(annotations)
	return object
}

func removeAll(s server) {
	for _, object := range s.Objects() {
		s.Remove(object)
	}
}
