// Package intercept is the proxy of wrap. It creates each object with a generateName exactly once, and passes all
// other requests on. It decides which requests are creates, and what their clients get. It sends creates by
// internal/exactlyonce, and has no protocol of its own. It never prints.
package intercept

import (
	"bytes"
	"context"
	"crypto/subtle"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
)

// Config is the configuration of a Proxy.
type Config struct {
	// Passthrough is the configuration of requests that pass through. Creates is the configuration of intercepted
	// create requests, which have a time limit.
	Passthrough, Creates *rest.Config
	// Host is the proxy's address. Token is the token that its clients send.
	Host, Token string
	// RetryTimeout limits the retries of a create request. It also limits the time for which the proxy keeps a result.
	RetryTimeout time.Duration
	// Contents has the objects that this or an earlier run created with the idempotency key, or is nil without a key.
	Contents *keyed.Contents
	// Unprotected is called when a create request passes through unprotected, once for each resource type and Reason.
	// Done is called at the end of each intercepted create. Calls can be concurrent.
	Unprotected func(resource string, why Reason)
	Done        func(Outcome)
}

// Proxy is an http.Handler.
type Proxy struct {
	config      Config
	server      *url.URL
	passthrough http.Handler
	creator     *exactlyonce.Creator
	types       types
	table       table
	warned      sync.Map // the types and reasons that were reported
	requests    atomic.Int64

	ctx     context.Context // ends the creates
	running counter
}

// New returns a proxy. After ctx ends, creates in flight have exactlyonce.Grace to finish.
func New(ctx context.Context, c Config) (*Proxy, error) {
	server, _, err := rest.DefaultServerUrlFor(c.Passthrough)
	if err != nil {
		return nil, err
	}
	p := &Proxy{config: c, server: server, ctx: ctx}
	p.table = table{keep: c.RetryTimeout, clients: map[key][]chan struct{}{}}
	if p.passthrough, err = newPassthrough(c.Passthrough, server, c.Host); err != nil {
		return nil, err
	}
	creates := withFreshToken(c.Creates)
	creates.QPS, creates.UserAgent, creates.WarningHandler = -1, "", rest.NoWarnings{}
	if p.creator, err = exactlyonce.NewForConfig(creates); err != nil {
		return nil, err
	}
	client, err := Client(c.Creates)
	if err != nil {
		return nil, err
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.types = types{timeout: c.RetryTimeout, known: map[schema.GroupVersion][]metav1.APIResource{}}
	p.types.client, err = discovery.NewDiscoveryClientForConfigAndClient(creates, client)
	return p, err
}

// Requests returns the number of requests that had the token.
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Wait waits until no create is in flight.
func (p *Proxy) Wait() { p.running.wait() }

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refusal := p.refuse(r); refusal != nil {
		respondStatus(w, r, refusal)
		return
	}
	r.Header.Del("Authorization")
	p.requests.Add(1)
	to, ok := targetOf(r, p.server.Path)
	if !ok {
		p.passthrough.ServeHTTP(w, r)
		return
	}
	found, why, refusal := p.read(r, to)
	switch {
	case refusal != nil:
		respondStatus(w, r, refusal)
	case found != nil:
		p.create(w, r, found)
	default:
		p.warn(to, why)
		p.passthrough.ServeHTTP(w, r)
	}
}

// refuse returns the response to a request that doesn't come from the command. Otherwise it returns nil.
func (p *Proxy) refuse(r *http.Request) *metav1.Status {
	_, port, _ := strings.Cut(p.config.Host, ":")
	given := r.Header.Values("Authorization")
	want := "Bearer " + p.config.Token
	switch {
	case r.Host != p.config.Host && r.Host != "localhost:"+port && r.Host != "[::1]:"+port:
		return status(http.StatusMisdirectedRequest, metav1.StatusReasonBadRequest, "the request is for another host")
	case len(given) != 1 || subtle.ConstantTimeCompare([]byte(given[0]), []byte(want)) == 0:
		return status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "the token is wrong")
	case p.config.Passthrough.Impersonate.UserName != "" && impersonates(r.Header):
		return status(http.StatusForbidden, metav1.StatusReasonForbidden,
			"the command can't impersonate another user while wrap does (--as)")
	}
	return nil
}

const impersonation = "Impersonate-"

func impersonates(header http.Header) bool {
	for key := range header {
		if strings.HasPrefix(key, impersonation) {
			return true
		}
	}
	return false
}

// warn reports each Reason once for each resource type.
func (p *Proxy) warn(to target, why Reason) {
	resource := to.resource.GroupResource().String()
	if _, known := p.warned.LoadOrStore(resource+string(why), true); why != "" && !known {
		p.config.Unprotected(resource, why)
	}
}

// read reads the body of a create request. If read returns neither a post nor a Status, the request passes through.
// read then restores the request's body.
func (p *Proxy) read(r *http.Request, to target) (*post, Reason, *metav1.Status) {
	if r.Header.Get("Content-Encoding") != "" {
		return nil, Encoded, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		panic(http.ErrAbortHandler) // the client broke off
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}
	if len(data) > maxBody {
		return nil, TooLarge, nil
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	read, why := bodyOf(r.Header, data)
	switch {
	case read == nil:
		return nil, why, nil
	case to.elsewhere:
		return nil, Elsewhere, nil
	}
	known, err := p.types.get(r.Context(), to)
	switch {
	case apierrors.IsUnauthorized(err):
		return nil, "", status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, err.Error())
	case err != nil:
		return nil, "", status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable,
			"nothing was created, because discovery failed: "+err.Error())
	}
	if why := unsupportedReason(to, read, known); why != "" {
		return nil, why, nil
	}
	accept := acceptable(r.Header)
	if accept == "" {
		return nil, NoJSON, nil
	}
	scope := meta.RESTScopeRoot
	if known.Namespaced {
		scope = meta.RESTScopeNamespace
	}
	mapping := &meta.RESTMapping{
		Resource: to.resource, GroupVersionKind: to.resource.GroupVersion().WithKind(known.Kind), Scope: scope,
	}
	return newPost(r, to, mapping, read, accept), "", nil
}
