package monitoring

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// population is ConfigMaps under one prefix, as a server that is no Kubernetes lists
// them: a real one would take minutes to fill.
type population struct {
	names   int // in all
	perDay  int // of them created a day, always, the others a year ago
	lately  int // of them created a minute ago
	refused bool
	custom  bool // of a custom resource, of which nobody knows who serves it
}

// alphabet is that of suffixes, in the order of bytes.
const alphabet = "2456789bcdfghjklmnpqrstvwxz"

// name returns the n-th name in order.
func name(n int) string {
	suffix := make([]byte, 5)
	for i := len(suffix) - 1; i >= 0; i-- {
		suffix[i] = alphabet[n%len(alphabet)]
		n /= len(alphabet)
	}
	return "run-" + string(suffix)
}

// created returns when the n-th was created, as seen at a time.
func (p population) created(n int, now time.Time) time.Time {
	switch {
	case n < p.lately:
		return now.Add(-time.Minute)
	case p.perDay > 0 && n < 7*p.perDay:
		age := (float64(n) + 0.5) / float64(p.perDay) * 24
		return now.Add(-time.Duration(math.Round(age * float64(time.Hour))))
	}
	return now.AddDate(-1, 0, 0)
}

// serve starts a server of the population, and returns its address.
func (p population) serve(t *testing.T, now time.Time) string {
	t.Helper()
	const discovery = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
		{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["create","get","list"]}]}`
	answers := map[string]string{
		"/version": `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`,
		"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":  discovery,
		"/apis/apiregistration.k8s.io/v1/apiservices": `{"items":[]}`,
	}
	if p.custom {
		answers["/api/v1"] = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[]}`
		answers["/apis"] = `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"example.dev",
			"versions":[{"groupVersion":"example.dev/v1","version":"v1"}],
			"preferredVersion":{"groupVersion":"example.dev/v1","version":"v1"}}]}`
		answers["/apis/example.dev/v1"] = strings.Replace(discovery, `"groupVersion":"v1"`, `"groupVersion":"example.dev/v1"`, 1)
		delete(answers, "/apis/apiregistration.k8s.io/v1/apiservices")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, known := answers[r.URL.Path]
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps") && p.refused:
			w.WriteHeader(http.StatusForbidden)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			answer = p.page(r, now)
		case !known:
			w.WriteHeader(http.StatusNotFound)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// page returns what a request for a page of the list is answered with.
func (p population) page(r *http.Request, now time.Time) string {
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	to := min(from+limit, p.names)
	var items []string
	for n := from; n < to; n++ {
		items = append(items, fmt.Sprintf(
			`{"metadata":{"name":%q,"namespace":"ci","generateName":"run-","creationTimestamp":%q}}`,
			name(n), p.created(n, now).UTC().Format(time.RFC3339)))
	}
	next := ""
	if to < p.names {
		next = strconv.Itoa(to)
	}
	return fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",
		"metadata":{"resourceVersion":"1","continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}
