package oncetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Faults injects faults into requests, and records the requests. The zero value injects none. Several goroutines
// can use it.
//
// Next, Always, Random and Func add rules. The first rule with a fault for a request decides.
//
// A verb is a verb of RBAC: create, get, list, watch, update, patch, delete. A resource is a plural name (jobs), also
// with a group (jobs.batch) or a subresource (jobs/status). The verb "*" matches all verbs, and the resource "*" all
// resources.
type Faults struct {
	now func() time.Time // time in responses that no server has sent

	mu      sync.Mutex // guards rules and records
	rules   []rule
	records []*Record

	landing sync.Mutex // held while late requests are sent; guards late
	late    []late
}

// A rule returns the fault for a request, and whether it decides.
type rule func(*Request) (fault Fault, decides bool)

// Wrap returns a transport that injects the faults into the requests to below. It
// is for rest.Config.Wrap:
//
//	config.Wrap(faults.Wrap)
//
// The transport lies below client-go's own retries.
func (f *Faults) Wrap(below http.RoundTripper) http.RoundTripper { return injector{f, below} }

// Next injects faults into the next requests with the verb and resource, one fault for each request. A nil fault
// leaves a request alone. For example, Next(verb, resource, nil, fault) injects a fault into the second request.
func (f *Faults) Next(verb, resource string, faults ...Fault) {
	var mu sync.Mutex
	matches, left := matcher(verb, resource), slices.Clone(faults)
	f.add(func(r *Request) (Fault, bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(left) == 0 || !matches(r) {
			return nil, false
		}
		next := left[0]
		left = left[1:]
		return next, true
	})
}

// Always injects the fault into each request of the verb and resource.
func (f *Faults) Always(verb, resource string, fault Fault) {
	matches := matcher(verb, resource)
	f.add(func(r *Request) (Fault, bool) { return fault, matches(r) })
}

// Func injects the fault that choose returns. If choose returns nil, later rules can inject a fault. Requests that
// aren't about objects, such as discovery, have an empty Verb. Only Func can inject faults into them. Several
// goroutines can call choose at the same time.
func (f *Faults) Func(choose func(*Request) Fault) {
	f.add(func(r *Request) (Fault, bool) {
		fault := choose(r)
		return fault, fault != nil
	})
}

// Clear removes all rules. Late requests (StoreLate) are still sent.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Land sends all late requests (StoreLate, Delay) now.
func (f *Faults) Land() { f.sendUntil(func(late) bool { return true }) }

func (f *Faults) add(r rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
}

func matcher(verb, resource string) func(*Request) bool {
	return func(r *Request) bool {
		if r.Verb == "" || verb != "*" && verb != r.Verb {
			return false
		}
		plural, subresource, _ := strings.Cut(resource, "/")
		switch {
		case resource == "*":
			return true
		case subresource != r.Subresource:
			return false
		}
		return plural == r.Resource.Resource || plural == r.Resource.GroupResource().String()
	}
}

// injector is the transport that Wrap returns.
type injector struct {
	faults *Faults
	below  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (i injector) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	t := targetOf(req.Method, req.URL)
	r := &Request{
		Verb: t.verb, Resource: t.resource, Subresource: t.subresource, Namespace: t.namespace, Name: t.name,
		http: req, below: i.below, faults: i.faults,
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	fault := i.faults.begin(r)
	if fault == nil {
		fault = (*Request).Send
	}
	resp, err := fault(r)
	if err == nil && resp.Header == nil { // a transport always sets both
		resp.Header = http.Header{}
	}
	if err == nil && resp.Body == nil {
		resp.Body = http.NoBody
	}
	i.faults.end(r, resp, err)
	return resp, err
}

func (r *Request) read() error {
	if r.http.Body == nil {
		return nil
	}
	body, err := io.ReadAll(r.http.Body)
	r.body = body
	if err = errors.Join(err, r.http.Body.Close()); err != nil {
		return err
	}
	if r.Verb == "create" || r.Verb == "update" {
		if r.Object = decode(body); r.Object != nil && r.Name == "" {
			r.Name = r.Object.GetName()
		}
	}
	return nil
}

func (f *Faults) begin(r *Request) Fault {
	r.record = &Record{
		Time: time.Now(), Verb: r.Verb, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name,
	}
	if r.Object != nil {
		r.record.Sent = r.Object.DeepCopy()
	}
	f.mu.Lock()
	if r.Verb != "" {
		f.records = append(f.records, r.record)
	}
	rules := f.rules[:len(f.rules):len(f.rules)]
	f.mu.Unlock()
	for _, rule := range rules { // a rule of Func can send requests itself
		if fault, decides := rule(r); decides {
			f.mu.Lock()
			defer f.mu.Unlock()
			r.record.Faulted = fault != nil
			return fault
		}
	}
	return nil
}

// end records the response that the client gets. end adds the headers that every server sends.
func (f *Faults) end(r *Request, resp *http.Response, err error) {
	response := r.describe(resp, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	r.record.Response = response
	if err != nil {
		return
	}
	if _, has := resp.Header["Date"]; !has {
		now := time.Now
		if f.now != nil {
			now = f.now
		}
		resp.Header.Set("Date", now().UTC().Format(http.TimeFormat))
	}
	resp.Request = r.http
}

// late is a request that the server receives later.
type late struct {
	due     time.Time
	request *Request
}

func (f *Faults) sendLater(d time.Duration, r *Request) {
	f.landing.Lock()
	defer f.landing.Unlock()
	f.late = append(f.late, late{time.Now().Add(d), r})
	time.AfterFunc(d, f.sendDue)
}

// sendDue sends the late requests that are due. Send calls it first, so that no new request overtakes a late
// request.
func (f *Faults) sendDue() {
	now := time.Now()
	f.sendUntil(func(l late) bool { return !l.due.After(now) })
}

func (f *Faults) sendUntil(due func(late) bool) {
	f.landing.Lock()
	defer f.landing.Unlock()
	slices.SortStableFunc(f.late, func(a, b late) int { return a.due.Compare(b.due) })
	for len(f.late) > 0 && due(f.late[0]) {
		first := f.late[0].request
		f.late = f.late[1:]
		if resp, err := first.send(context.WithoutCancel(first.Context())); err == nil {
			_, _ = io.Copy(&bytes.Buffer{}, resp.Body) // so that the connection can be used again
			_ = resp.Body.Close()
		}
	}
}

// Random injects faults into a share of the requests with the verb and resource. rate is from 0 to 1. Random never
// changes watches. Without the argument faults, Random injects common network faults: requests and responses that are
// dropped, cut, sent twice or stored late, rate limits, timeouts, and errors of load balancers.
//
// The fault of a request depends on the seed, on the request's verb, resource, namespace and name (or
// generateName), and on the number of such requests before it. It doesn't depend on the order of concurrent
// requests.
func (f *Faults) Random(verb, resource string, seed uint64, rate float64, faults ...Fault) {
	if len(faults) == 0 {
		faults = everyday
	}
	var mu sync.Mutex
	seen := map[string]int{}
	matches := matcher(verb, resource)
	f.Func(func(r *Request) Fault {
		if r.Verb == "watch" || !matches(r) {
			return nil
		}
		name := r.Name
		if name == "" && r.Object != nil {
			name = r.Object.GetGenerateName()
		}
		mu.Lock()
		defer mu.Unlock()
		about := fmt.Sprintf("%s %s %s/%s", r.Verb, r.Resource, r.Namespace, name)
		seen[about]++
		hash := fnv.New64a()
		_, _ = fmt.Fprintf(hash, "%s %d", about, seen[about])
		chance := rand.New(rand.NewPCG(seed, hash.Sum64()))
		if chance.Float64() >= rate {
			return nil
		}
		return faults[chance.IntN(len(faults))]
	})
}

// everyday are the faults that Random injects by default.
var everyday = []Fault{
	DropRequest, DropResponse, CutResponse, SendTwice, TooManyRequests(1),
	StoreLate(time.Second, DropRequest),
	GatewayTimeout, AfterStore(GatewayTimeout),
	EtcdTimeout, AfterStore(EtcdTimeout),
	text(http.StatusServiceUnavailable), AfterStore(text(http.StatusServiceUnavailable)),
	html(http.StatusBadGateway), AfterStore(html(http.StatusOK)),
}

func text(code int) Fault {
	return Respond(code, "text/plain", "upstream connect error or disconnect/reset before headers")
}

func html(code int) Fault {
	return Respond(code, "text/html", fmt.Sprintf("<html><body>%d %s</body></html>\n", code, http.StatusText(code)))
}
