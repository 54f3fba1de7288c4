package faultproxy

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NamedFault is a fault of the mix.
type NamedFault struct {
	Name  string
	Fault Fault
	// Carried means that the server carries the request out, unless it refuses it.
	Carried bool
	// WritesOnly excludes requests that only read.
	WritesOnly bool
	// HTTP2Only excludes HTTP/1.1, which has no such fault.
	HTTP2Only bool
}

var (
	isJSON     = http.Header{"Content-Type": {"application/json"}}
	isHTML     = http.Header{"Content-Type": {"text/html"}}
	isText     = http.Header{"Content-Type": {"text/plain"}}
	retryAfter = http.Header{"Content-Type": {"text/plain"}, "Retry-After": {"1"}}
)

// etcdTimedOut is kube-apiserver's response when etcd did not respond in time. etcd might have stored the object.
const etcdTimedOut = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: request timed out","code":500}`

const webhookNotCalled = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: failed calling webhook \"policy.example.com\": failed to call webhook: Post \"https://policy.example.com/\": context deadline exceeded","reason":"InternalError","details":{"causes":[{"message":"failed calling webhook"}]},"code":500}`

// Unauthorized is kube-apiserver's response to an expired credential.
const Unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`

// QuotaExceeded is kube-apiserver's response (403) if an object exceeds a quota. WebhookDenied is its response if a
// webhook denies an object. Its code is 400 unless the webhook sets another one.
const (
	QuotaExceeded = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"one\" is forbidden: exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1","reason":"Forbidden","details":{"kind":"configmaps"},"code":403}`
	WebhookDenied = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"admission webhook \"policy.example.com\" denied the request: there is one already","code":400}`
)

// Responses to requests of other clients, which a balancer returns to the wrong client.
const (
	anotherObject   = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"another","namespace":"default","uid":"6f2c9a3e-0000-4000-8000-000000000000","resourceVersion":"1","creationTimestamp":"2026-11-22T12:00:00Z"}}`
	anotherConflict = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"another\" already exists","reason":"AlreadyExists","details":{"name":"another","kind":"configmaps"},"code":409}`
	anotherMissing  = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"another\" not found","reason":"NotFound","details":{"name":"another","kind":"configmaps"},"code":404}`
)

// Pages of load balancers.
const (
	badGateway  = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
	unavailable = "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n"
)

// Faults are all faults. "Before" and "after" refer to the server carrying out the request.
var Faults = []NamedFault{
	{Name: "request dropped", Fault: DropRequest},
	{Name: "response dropped", Fault: DropResponse, Carried: true},
	{Name: "reset within the request", Fault: ResetRequest},
	{Name: "reset within the response", Fault: ResetResponse, Carried: true},
	{Name: "response broken off", Fault: BreakResponse, Carried: true},
	{Name: "carried out after the deadline", Fault: LandLate(time.Minute, 300*time.Millisecond), Carried: true},
	{Name: "repeated and the first response passed on", Fault: RepeatFirst, Carried: true},
	{Name: "repeated and the second response passed on", Fault: RepeatSecond, Carried: true},
	{Name: "stored and a second copy refused by a quota", Fault: RefuseSecond(403, QuotaExceeded), Carried: true, WritesOnly: true},
	{Name: "stored and a second copy refused by a webhook", Fault: RefuseSecond(400, WebhookDenied), Carried: true, WritesOnly: true},
	{Name: "stored after a second copy was refused", Fault: RefuseSecondEarly(403, QuotaExceeded, 300*time.Millisecond), Carried: true, WritesOnly: true},
	{Name: "401", Fault: Respond(401, isJSON, Unauthorized)},
	{Name: "429 with Retry-After", Fault: Respond(429, retryAfter, "Too many requests, please try again later.\n")},
	{Name: "502 before", Fault: Respond(502, isText, "Bad Gateway\n")},
	{Name: "502 page before", Fault: Respond(502, isHTML, badGateway)},
	{Name: "502 page after", Fault: RespondAfter(502, isHTML, badGateway), Carried: true},
	{Name: "503 page before", Fault: Respond(503, isHTML, unavailable)},
	{Name: "503 before", Fault: Respond(503, nil, "upstream connect error or disconnect/reset before headers")},
	{Name: "503 with Retry-After after", Fault: RespondAfter(503, retryAfter, "busy"), Carried: true},
	{Name: "504 before", Fault: Respond(504, nil, "<html>504 Gateway Time-out</html>")},
	{Name: "504 after", Fault: RespondAfter(504, nil, "<html>504 Gateway Time-out</html>"), Carried: true},
	{Name: "etcd timed out before", Fault: Respond(500, isJSON, etcdTimedOut)},
	{Name: "etcd timed out after", Fault: RespondAfter(500, isJSON, etcdTimedOut), Carried: true},
	{Name: "webhook not called", Fault: Respond(500, isJSON, webhookNotCalled), WritesOnly: true},
	{Name: "response cut in half", Fault: Garble, Carried: true},
	{Name: "another's response", Fault: RespondAfter(200, nil, "<html>Welcome!</html>"), Carried: true},
	{Name: "stored and another object's 201", Fault: RespondAfter(201, isJSON, anotherObject), Carried: true, WritesOnly: true},
	{Name: "stored and another object's 409", Fault: RespondAfter(409, isJSON, anotherConflict), Carried: true, WritesOnly: true},
	{Name: "another object's 404", Fault: Respond(404, isJSON, anotherMissing), WritesOnly: true},
	{Name: "GOAWAY", Fault: GoAway, Carried: true},
	{Name: "GOAWAY before", Fault: GoAwayUnseen, HTTP2Only: true},
	{Name: "GOAWAY after", Fault: GoAwaySeen, Carried: true, HTTP2Only: true},
}

// FaultsBut returns Faults without those called names.
func FaultsBut(names ...string) []NamedFault {
	return slices.DeleteFunc(slices.Clone(Faults), func(i NamedFault) bool { return slices.Contains(names, i.Name) })
}

// Mix injects faults into a share of all requests. All faults are equally frequent.
//
// Requests with the same method, path and object are of one kind. The fault of the n-th request of a kind follows
// from Seed, the kind and n. It does not depend on time or on other requests in flight. Another run with the same
// seed therefore injects the same faults into each object, even if objects are created concurrently and in another
// order. Clients pick the names of objects with generateName at random. Mix identifies these objects by the order in
// which their names first appeared under their generateName.
type Mix struct {
	Seed uint64
	// Rate is the share of requests with a fault, from 0 to 1.
	Rate float64
	// Of are the faults. If it is empty, the mix uses Faults.
	Of []NamedFault

	mu       sync.Mutex
	seen     map[string]uint64 // requests of each kind
	picked   map[string]string // the stable identifier by the path of a client-picked name
	names    map[string]int    // number of identifiers by generateName
	faults   map[string]int
	requests int
}

// Choose is a choose function for Start.
func (m *Mix) Choose(r *http.Request) Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen, m.faults = map[string]uint64{}, map[string]int{}
		m.picked, m.names = map[string]string{}, map[string]int{}
	}
	kind := m.kindOf(r)
	m.requests++
	m.seen[kind]++
	random := m.random(kind, m.seen[kind])
	if random.Float64() >= m.Rate {
		return nil
	}
	possible := m.possible(r)
	fault := possible[random.IntN(len(possible))]
	m.faults[fault.Name]++
	return fault.Fault
}

// random makes the decisions for the n-th request of a kind.
func (m *Mix) random(kind string, n uint64) *rand.Rand {
	hash := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", m.Seed, kind, n))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(hash[:]), binary.BigEndian.Uint64(hash[8:])))
}

// Count returns the number of requests so far, and the number of requests with each fault.
func (m *Mix) Count() (requests int, faults map[string]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, maps.Clone(m.faults)
}

// kindOf returns the kind of a request. Requests of one kind share a count.
func (m *Mix) kindOf(r *http.Request) string {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(Body(r), &object) // a body that is no object has no name
	path := r.URL.Path
	if object.Name != "" {
		path += "/" + object.Name
	}
	if object.Name != "" && object.GenerateName != "" && m.picked[path] == "" {
		prefix := r.URL.Path + " " + object.GenerateName
		m.names[prefix]++
		m.picked[path] = fmt.Sprintf("%s %d", prefix, m.names[prefix])
	}
	return fmt.Sprintf("%s %s %s", r.Method, cmp.Or(m.picked[path], path), object.GenerateName)
}

func (m *Mix) possible(r *http.Request) []NamedFault {
	all := m.Of
	if len(all) == 0 {
		all = Faults
	}
	var possible []NamedFault
	for _, i := range all {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if (!i.HTTP2Only || r.ProtoMajor == 2) && (!i.WritesOnly || !reads) {
			possible = append(possible, i)
		}
	}
	return possible
}

// LoseEverySecond returns a chooser of faults that loses the response to the first, third, fifth … POST in a
// namespace. The server carries the POST out, and the client gets the 504 of a load balancer.
func LoseEverySecond() func(*http.Request) Fault {
	var posts atomic.Int64
	lose := RespondAfter(http.StatusGatewayTimeout, isText, "upstream request timeout\n")
	return func(r *http.Request) Fault {
		creates := r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/namespaces/") // no review
		if creates && posts.Add(1)%2 == 1 {
			return lose
		}
		return nil
	}
}
