package intercept

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// A post is a create request of the command that the proxy intercepts.
type post struct {
	target
	mapping *meta.RESTMapping
	body    *body
	header  http.Header
	query   url.Values
	key     key
}

// A key is a hash that equal create requests share.
type key [sha256.Size]byte

// passed lists the client's headers that the proxy sends with a create request. It also sends Accept and the headers of
// an impersonation. The User-Agent names the field manager.
var passed = []string{"User-Agent", "Traceparent", "Tracestate"}

func newPost(r *http.Request, to target, mapping *meta.RESTMapping, read *body, accept string) *post {
	p := &post{
		target: to, mapping: mapping, body: read, query: r.URL.Query(),
		header: http.Header{"Accept": {accept}, "User-Agent": {""}}, // without an own User-Agent
	}
	identity := http.Header{}
	for key, values := range r.Header {
		if strings.HasPrefix(key, impersonation) || key == "User-Agent" {
			identity[key] = values
		}
		if strings.HasPrefix(key, impersonation) || slices.Contains(passed, key) {
			p.header[key] = values
		}
	}
	hash := sha256.New()
	// %q separates the parts. fmt sorts the keys of a map.
	fmt.Fprintf(hash, "%q %q %q %q %q", r.URL.Path, p.query.Encode(), map[string][]string(identity), read.contentType,
		read.fingerprint)
	p.key = key(hash.Sum(nil))
	return p
}

// object returns an object with the fields that exactlyonce compares with responses.
func (p *post) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(p.mapping.GroupVersionKind)
	object.SetGenerateName(p.body.generateName)
	return object
}

func (p *post) settings(retryTimeout time.Duration) exactlyonce.Settings {
	return exactlyonce.Settings{
		RetryTimeout: retryTimeout, Namespace: p.namespace, Header: p.header, Parameters: p.query, Brief: true,
		Responses: true, Encode: func(id exactlyonce.ID, name string) ([]byte, string, error) {
			return p.body.insert(name, id, p.mapping.GroupVersionKind.GroupKind()), p.body.contentType, nil
		},
	}
}

// unsupportedReason returns the reason why a request with a readable body passes through, or "". The server ignores the
// namespace of a cluster-scoped object.
func unsupportedReason(to target, read *body, known *metav1.APIResource) Reason {
	version := to.resource.GroupVersion().String()
	switch {
	case known == nil:
		return UnknownType
	case known.Namespaced != (to.namespace != ""),
		read.apiVersion != "" && read.apiVersion != version, read.kind != "" && read.kind != known.Kind,
		read.namespace != "" && to.namespace != "" && read.namespace != to.namespace:
		return Contradiction
	case exactlyonce.OnlyServerNames(to.resource.GroupResource(), known.Verbs) != "":
		return NoReads
	}
	return ""
}

// acceptable returns the media types that the client accepts and that exactlyonce can read. It returns "" if the client
// accepts only others, such as tables.
func acceptable(header http.Header) string {
	var kept []string
	for _, each := range strings.Split(cmp.Or(header.Get("Accept"), "application/json"), ",") {
		media, parameters, err := mime.ParseMediaType(each)
		switch {
		case err != nil || parameters["as"] != "" || parameters["q"] == "0":
		case media == "application/json", media == protobufType:
			kept = append(kept, strings.TrimSpace(each))
		case media == "*/*", media == "application/*":
			kept = append(kept, "application/json")
		}
	}
	return strings.Join(slices.Compact(kept), ", ")
}

// A target is the collection to which a create request is sent.
type target struct {
	resource  schema.GroupVersionResource
	namespace string // empty for a cluster-scoped resource
	elsewhere bool   // the path of the server's URL is another one, such as that of another cluster
}

// targetOf returns the collection to which a create request is sent. For every other request it returns false, such as
// a POST to a subresource or a dry run. It also returns false for an impersonation without a user, because the server
// refuses it. base is the path of the server's URL.
func targetOf(r *http.Request, base string) (to target, ok bool) {
	if r.Method != http.MethodPost || r.URL.Query().Has("dryRun") ||
		r.Header.Get("Impersonate-User") == "" && impersonates(r.Header) {
		return target{}, false
	}
	path, below := strings.CutPrefix(r.URL.Path, strings.TrimRight(base, "/")+"/")
	parts := strings.Split(strings.TrimRight(path, "/"), "/")
	at := slices.IndexFunc(parts, func(part string) bool { return part == "api" || part == "apis" })
	to, ok = collectionOf(parts[max(at, 0):])
	to.elsewhere = at > 0 || !below
	return to, ok
}

// collectionOf returns the collection that a path names. The path doesn't include the path of the server's URL.
func collectionOf(parts []string) (to target, ok bool) {
	switch {
	case len(parts) > 2 && parts[0] == "api":
		to.resource.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		to.resource.Group, to.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return target{}, false
	}
	if len(parts) == 3 && parts[0] == "namespaces" && parts[1] != "" {
		to.namespace, parts = parts[1], parts[2:]
	}
	to.resource.Resource = parts[0]
	return to, len(parts) == 1 && parts[0] != "" && to.resource.Version != ""
}
