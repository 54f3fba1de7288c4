package oncetest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Request is one request on its way to the server.
type Request struct {
	// Verb is create, get, list or delete; it is empty for requests that are
	// not about objects, like those of discovery.
	Verb string
	// Resource is what the path names.
	Resource schema.GroupVersionResource
	// Namespace is that of the path; empty for none or all.
	Namespace string
	// Name is that of the path, or of what a create sends; empty if the server
	// is to pick it.
	Name string
	// Object is what a create sends; nil if that cannot be read. What an injury
	// makes of it is what the server gets.
	Object *unstructured.Unstructured

	server *Server
	kind   Type
	http   *http.Request
	body   []byte
	record *Record
}

// CarryOut has the server carry out the request, and returns its answer. It
// may be called more than once: the request has been sent twice then.
func (r *Request) CarryOut() *http.Response {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.server.land()
	return r.carryOut()
}

// CarryOutLater has the request on its way for another while: the server
// carries it out then, and nobody gets the answer.
func (r *Request) CarryOutLater(after time.Duration) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	waiting := *r
	if r.Object != nil {
		waiting.Object = r.Object.DeepCopy()
	}
	r.server.late = append(r.server.late, late{time.Now().Add(after), &waiting})
}

// Context is done when the client gives up.
func (r *Request) Context() context.Context { return r.http.Context() }

// meet has the request meet the injury, and dates the answer.
func (r *Request) meet(injury Injury) (*http.Response, error) {
	if injury == nil {
		return r.dated(r.CarryOut(), nil)
	}
	r.server.mu.Lock()
	r.record.Injured = true
	r.server.mu.Unlock()
	return r.dated(injury(r))
}

// dated gives the answer the header that every server and proxy sends, unless
// it has one.
func (r *Request) dated(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if _, has := resp.Header["Date"]; !has {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		resp.Header.Set("Date", r.server.now().UTC().Format(http.TimeFormat))
	}
	return resp, nil
}

// late is a request that the server gets at a time.
type late struct {
	due     time.Time
	request *Request
}

// Land has the server carry out what is still on its way (CarryOutLater).
func (s *Server) Land() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.landUntil(func(late) bool { return true })
}

// land carries out what is due.
func (s *Server) land() {
	now := time.Now()
	s.landUntil(func(l late) bool { return !l.due.After(now) })
}

func (s *Server) landUntil(due func(late) bool) {
	slices.SortStableFunc(s.late, func(a, b late) int { return a.due.Compare(b.due) })
	for len(s.late) > 0 && due(s.late[0]) {
		_ = s.late[0].request.carryOut().Body.Close()
		s.late = s.late[1:]
	}
}

// newRequest reads what the request is about, and begins its record.
func (s *Server) newRequest(req *http.Request, body []byte) *Request {
	r := &Request{server: s, http: req, body: body}
	for _, t := range s.types {
		rest, ok := strings.CutPrefix(req.URL.Path, prefixOf(t.groupVersion())+"/")
		if ok && r.isAbout(t, strings.Split(rest, "/")) {
			break
		}
	}
	if r.Verb == "create" {
		sent := &unstructured.Unstructured{}
		if sent.UnmarshalJSON(body) == nil {
			r.Object, r.Name = sent, sent.GetName()
		}
	}
	s.begin(r)
	return r
}

// isAbout reports whether the parts of a path behind its version are of type t,
// and reads them.
func (r *Request) isAbout(t Type, parts []string) bool {
	resource := t.resource()
	namespace := ""
	if !t.ClusterScoped && len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	if parts[0] != resource.Resource || len(parts) > 2 {
		return false
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodGet: "list"}
	if len(parts) == 2 {
		verb = map[string]string{http.MethodGet: "get", http.MethodDelete: "delete"}
		r.Name = parts[1]
	}
	r.Verb, r.Resource, r.Namespace, r.kind = verb[r.http.Method], resource, namespace, t
	return true
}
