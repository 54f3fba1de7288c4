package serverinfo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// An APIService is aggregated if it names a Service. For kube-apiserver's own APIs and custom
// resources, the field is null or absent.
const services = `{"items": [
	{"spec": {"group": "", "version": "v1", "service": null}},
	{"spec": {"group": "example.dev", "version": "v1"}},
	{"spec": {"group": "metrics.k8s.io", "version": "v1beta1", "service": {"name": "metrics-server"}},
	 "status": {"conditions": [{"type": "Available", "status": "True", "message": "all checks passed"}]}},
	{"spec": {"group": "gone.dev", "version": "v1", "service": {"name": "gone"}},
	 "status": {"conditions": [{"type": "Available", "status": "False", "message": "no endpoints"}]}}
]}`

func TestRetriesOf(t *testing.T) {
	var list apiServices
	if err := json.Unmarshal([]byte(services), &list); err != nil {
		t.Fatal(err)
	}
	own := knownRetries(true, v1alpha1.SourceVersion)
	const (
		aggregated = "attempts unknown: aggregated API"
		undecided  = "attempts unknown: might be an aggregated API (needs list on apiservices)"
	)
	for _, test := range []struct {
		name        string
		aggregation aggregation
		api         schema.GroupVersion
		why         string
	}{
		{"the core group", aggregationOf(list), schema.GroupVersion{Version: "v1"}, ""},
		{"a custom resource", aggregationOf(list), schema.GroupVersion{Group: "example.dev", Version: "v1"}, ""},
		{"aggregated", aggregationOf(list), schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}, aggregated},
		{"another version of it", aggregationOf(list), schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1"}, ""},
		{"without permissions, the core group", aggregation{}, schema.GroupVersion{Version: "v1"}, ""},
		{"without permissions, a group of Kubernetes", aggregation{}, schema.GroupVersion{Group: "batch", Version: "v1"}, ""},
		{"without permissions, any other", aggregation{}, schema.GroupVersion{Group: "example.dev", Version: "v1"}, undecided},
	} {
		server := &Server{retries: func() v1alpha1.Retries { return own }, aggregation: test.aggregation}
		want := own
		if test.why != "" {
			want = v1alpha1.Retries{AttemptsSource: v1alpha1.SourceUnknown}
		}
		got, why := server.RetriesOf(test.api)
		if diff := cmp.Diff(want, got); diff != "" || why != test.why {
			t.Errorf("%s: %q, want %q (-want +got):\n%s", test.name, why, test.why, diff)
		}
	}
}

func TestUnavailable(t *testing.T) {
	var list apiServices
	if err := json.Unmarshal([]byte(services), &list); err != nil {
		t.Fatal(err)
	}
	server := &Server{aggregation: aggregationOf(list)}
	want := []Unavailable{{API: schema.GroupVersion{Group: "gone.dev", Version: "v1"}, Message: "no endpoints"}}
	if diff := cmp.Diff(want, server.Unavailable()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If the list of APIServices is read again, it replaces the first list. If the second request fails, the list stays.
func TestAskAgain(t *testing.T) {
	status, body := http.StatusOK, services
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/version") {
			fakeapi.Respond(w, http.StatusOK, `{"gitVersion":"v1.36.0"}`)
			return
		}
		fakeapi.Respond(w, status, body)
	}))
	defer host.Close()
	server, err := Get(t.Context(), &rest.Config{Host: host.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		status      int
		body        string
		unavailable int
	}{
		{http.StatusGatewayTimeout, `{}`, 1},
		{http.StatusForbidden, `{}`, 1},
		{http.StatusOK, strings.Replace(services, `"False"`, `"True"`, 1), 0},
		{http.StatusOK, services, 1},
	} {
		status, body = step.status, step.body
		server.RefreshAPIServices(t.Context())
		if got := server.Unavailable(); len(got) != step.unavailable || server.APIServicesError() != nil {
			t.Errorf("%d: unavailable %v, want %d: %v", step.status, got, step.unavailable, server.APIServicesError())
		}
	}
}

// The number of attempts depends on the version and the feature gate of the server. A failed request only changes the
// number if the version has changed. A failed request for the metrics isn't retried, so it delays nothing.
func TestAskForRetries(t *testing.T) {
	version, metrics, asked := "", "", 0
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[string]string{"/version": version, "/metrics": metrics}[r.URL.Path]
		if r.URL.Path == "/metrics" {
			asked++
			w.Header().Set("Retry-After", "0")
		}
		if body == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write([]byte(body))
	}))
	defer host.Close()
	const old, newer = `{"major":"1","minor":"30"}`, `{"major":"1","minor":"32"}`
	gate := func(on int) string { return fmt.Sprintf("%sstage=\"BETA\"} %d\n", gateSeries, on) }
	var server *Server
	for i, step := range []struct {
		version, metrics string
		attempts         int
		source           v1alpha1.AttemptsSource
	}{
		{old, "", 1, v1alpha1.SourceDefault},
		{old, gate(1), 8, v1alpha1.SourceMetric},
		{old, "", 8, v1alpha1.SourceMetric},
		{"", gate(0), 8, v1alpha1.SourceMetric},
		{old, gate(0), 1, v1alpha1.SourceMetric},
		{newer, "", 8, v1alpha1.SourceDefault},
		{old, "", 1, v1alpha1.SourceDefault},
	} {
		if version, metrics, asked = step.version, step.metrics, 0; i == 0 {
			var err error
			if server, err = Get(t.Context(), &rest.Config{Host: host.URL}); err != nil {
				t.Fatal(err)
			}
		} else {
			server.RefreshRetries(t.Context())
		}
		got := server.Retries()
		if *got.Attempts != step.attempts || got.AttemptsSource != step.source || asked > 1 {
			t.Errorf("step %d: %d (%s), want %d (%s), %d requests of the metrics", i, *got.Attempts, got.AttemptsSource, step.attempts, step.source, asked)
		}
		if minor := server.Version().Minor; step.version != "" && !strings.Contains(step.version, minor) {
			t.Errorf("step %d: version %s", i, minor)
		}
	}
}

// A missing permission and a server without APIServices aren't errors. A missing response is an error, and then the
// server of each API is unknown.
func TestUnanswered(t *testing.T) {
	for _, test := range []struct {
		name       string
		status     int
		body       string
		unanswered string
	}{
		{"a response", http.StatusOK, services, ""},
		{"no permission", http.StatusForbidden, `{}`, ""},
		{"no such API", http.StatusNotFound, `{}`, ""},
		{"a server that has no time", http.StatusGatewayTimeout, `{}`, "list apiservices: "},
		{"half a response", http.StatusOK, services[:100], "list apiservices: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fakeapi.Respond(w, test.status, test.body)
			}))
			defer host.Close()
			client, err := newClient(&rest.Config{Host: host.URL})
			if err != nil {
				t.Fatal(err)
			}
			server := &Server{aggregation: readAggregation(t.Context(), client)}
			err = server.APIServicesError()
			if (err != nil) != (test.unanswered != "") || err != nil && !strings.HasPrefix(err.Error(), test.unanswered) {
				t.Errorf("%v, want %q", err, test.unanswered)
			}
			_, why := server.RetriesOf(schema.GroupVersion{Group: "gone.dev", Version: "v1"})
			if strings.Contains(why, "can't read") != (test.unanswered != "") {
				t.Errorf("why the retries are unknown: %q", why)
			}
		})
	}
}
