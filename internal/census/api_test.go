package census

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

var configMaps = Resource{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ConfigMap", true}

// api is an HTTP server that lists ConfigMaps like kube-apiserver. Tests can inject faults. It keeps
// all its earlier states, for continue tokens. oncetest.Server has neither pages nor protobuf.
type api struct {
	unsorted   bool // lists in the order of objects
	jsonOnly   bool
	noVersions bool // no resourceVersions, and none honored
	noCounts   bool // no remainingItemCount
	namespaces []string
	// fault, if set, gets every request, numbered from 0. It writes the response or changes it.
	fault func(n int, w http.ResponseWriter, r *http.Request) (handled bool)

	mu       sync.Mutex
	states   [][]metav1.ObjectMeta
	compact  int // states before this one have expired
	requests []string
}

// set makes objects the current state of the server.
func (a *api) set(objects []metav1.ObjectMeta) {
	objects = slices.Clone(objects)
	if !a.unsorted {
		slices.SortFunc(objects, func(x, y metav1.ObjectMeta) int {
			return cmp.Compare(key(x), key(y))
		})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.states = append(a.states, objects)
}

func key(o metav1.ObjectMeta) string { return o.Namespace + "/" + o.Name }

// start starts the server, and returns a configuration for it.
func (a *api) start(t testing.TB) *rest.Config {
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	n := len(a.requests)
	a.requests = append(a.requests, r.URL.RequestURI())
	a.mu.Unlock()
	if a.fault != nil && a.fault(n, w, r) {
		return
	}
	a.list(w, r)
}

// RoundTrip serves without a network, for tests in synthetic time.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	a.ServeHTTP(recorder, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// list responds to r.
func (a *api) list(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.URL.Path == "/version" { // by which the scan checks whether the server responds
		_ = json.NewEncoder(w).Encode(version.Info{GitVersion: "v1.34.4"})
		return
	}
	if r.URL.Path == "/api/v1/namespaces" {
		list := metav1.PartialObjectMetadataList{}
		for _, ns := range a.namespaces {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		}
		a.write(w, &list)
		return
	}
	at, start, expired := a.position(r)
	if expired {
		writeStatus(w, a.expired(start))
		return
	}
	namespace, _ := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/configmaps"), "/api/v1/namespaces/")
	if r.URL.Path == "/api/v1/configmaps" {
		namespace = ""
	}
	a.write(w, a.pageOf(at, namespace, start, r.URL.Query().Get("limit")))
}

// position returns the state that r reads, and the object at which it starts.
func (a *api) position(r *http.Request) (version int, start string, expired bool) {
	version = len(a.states)
	q := r.URL.Query()
	if at := q.Get("resourceVersion"); at != "" && !a.noVersions {
		version, _ = strconv.Atoi(at)
	}
	if token := q.Get("continue"); token != "" {
		raw, _ := base64.URLEncoding.DecodeString(token)
		at, rest, _ := strings.Cut(string(raw), ":")
		start = rest
		if at != "latest" {
			version, _ = strconv.Atoi(at)
		}
	}
	return version, start, version <= a.compact && version != len(a.states)
}

func (a *api) expired(start string) *metav1.Status {
	status := &metav1.Status{
		Status: "Failure", Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old",
	}
	if start != "" {
		status.Continue = token("latest", start)
	}
	return status
}

func token(version, start string) string {
	return base64.URLEncoding.EncodeToString([]byte(version + ":" + start))
}

func (a *api) pageOf(version int, namespace, start, limit string) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	if !a.noVersions {
		list.ResourceVersion = strconv.Itoa(version)
	}
	var rest []metav1.ObjectMeta
	from := 0
	if a.unsorted && start != "" {
		from, _ = strconv.Atoi(start)
	}
	for i, o := range a.states[version-1] {
		if namespace != "" && o.Namespace != namespace || a.unsorted && i < from || !a.unsorted && key(o) < start {
			continue
		}
		rest = append(rest, o)
	}
	n := len(rest)
	if most, _ := strconv.Atoi(limit); most > 0 && most < n {
		n = most
		next := key(rest[n])
		if a.unsorted {
			next = strconv.Itoa(from + n)
		}
		list.Continue = token(strconv.Itoa(version), next)
		if remaining := int64(len(rest) - n); !a.noCounts {
			list.RemainingItemCount = &remaining
		}
	}
	for _, o := range rest[:n] {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	return list
}

func (a *api) write(w http.ResponseWriter, list *metav1.PartialObjectMetadataList) {
	list.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}
	body := censustest.Protobuf(list)
	contentType := "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	if a.jsonOnly {
		body, contentType = censustest.JSON(list), "application/json"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func writeStatus(w http.ResponseWriter, status *metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

// cut sends the first part of the right response to r, and breaks off.
func (a *api) cut(w http.ResponseWriter, r *http.Request, part float64) {
	recorder := httptest.NewRecorder()
	a.list(recorder, r)
	body := recorder.Body.Bytes()
	for k, v := range recorder.Header() {
		w.Header()[k] = v
	}
	_, _ = w.Write(body[:int(part*float64(len(body)))])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// countOf counts the ConfigMaps of a, and fails if anything was skipped.
func countOf(t testing.TB, a *api, s *Scanner) ([]pools.Pool, Summary) {
	t.Helper()
	pools, summary := countWithFaults(t, a, s)
	if len(summary.Skipped) > 0 {
		t.Fatalf("skipped: %+v", summary.Skipped)
	}
	return pools, summary
}

func countWithFaults(t testing.TB, a *api, s *Scanner) ([]pools.Pool, Summary) {
	t.Helper()
	if s.Config == nil {
		s.Config = a.start(t)
	}
	return count(t, s, "", configMaps)
}

// count returns the sorted name pools that s counts.
func count(t require, s *Scanner, namespace string, resources ...Resource) ([]pools.Pool, Summary) {
	counts, summary, err := s.Count(t.Context(), resources, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(counts.All()), summary
}

// require is a test, or a case of a property.
type require interface {
	Context() context.Context
	Fatal(args ...any)
}

// naiveCount counts objects in the order of storage without a server.
func naiveCount(objects []metav1.ObjectMeta, s *Scanner) []pools.Pool {
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(x, y metav1.ObjectMeta) int { return cmp.Compare(key(x), key(y)) })
	return countInOrder(objects, s)
}

// countInOrder counts objects without a server. Tests of internal/pools check how it counts.
func countInOrder(objects []metav1.ObjectMeta, s *Scanner) []pools.Pool {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList"}}
	for _, o := range objects {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	rules := s.rules()
	set := pools.New(configMaps.GroupVersionResource, &rules)
	if _, err := decode.List(bytes.NewReader(censustest.JSON(list)), decode.Asked{}, func(o *decode.Object) error {
		set.Add(o)
		return nil
	}); err != nil {
		panic(err)
	}
	return sorted(set.All())
}

func sorted(all iter.Seq[*pools.Pool]) (sorted []pools.Pool) {
	for pool := range all {
		sorted = append(sorted, *pool)
	}
	slices.SortFunc(sorted, func(a, b pools.Pool) int { return a.Compare(b.Key) })
	return sorted
}

var testSince = []time.Time{time.Unix(1_700_000_050, 0), time.Unix(1_700_000_200, 0)}
