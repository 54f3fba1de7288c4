package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The server of oncetest and kube-apiserver give the same responses to the same
// requests.
func TestOncetestRespondsAsKubeAPIServer(t *testing.T) {
	t.Parallel()
	namespace := harness.Namespace(t, retrying)
	configMap := func(metadata string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{%s}}`, metadata)
	}
	const partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	base := "/api/v1/namespaces/" + namespace + "/configmaps"
	theirs, ours := sender(t, retrying.Admin()), sender(t, oncetest.NewServer(oncetest.Type{
		Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", ClusterScoped: true,
	}).Config())
	for _, r := range []struct{ method, path, accept, body string }{
		{"POST", base, "", configMap(`"name":"a","labels":{"x":"y"},"uid":"mine"`)},
		{"POST", base, "", configMap(`"name":"a"`)},
		{"POST", base, "", configMap(`"name":"a","generateName":"a-"`)},
		{"POST", base + "?dryRun=All", "", configMap(`"name":"b"`)},
		{"POST", base + "?dryRun=All", "", configMap(`"name":"a"`)},
		{"POST", base, "", configMap(``)},
		{"POST", base, "", configMap(`"name":"b","namespace":"other"`)},
		{"POST", base, "", configMap(`"name":"b","resourceVersion":"7"`)},
		{"POST", base, partial, configMap(`"name":"c"`)},
		{"POST", base, "", configMap(`"name":"held","finalizers":["example.com/x"],"labels":{"x":"y"}`)},
		{"GET", base + "/a", "", ""},
		{"GET", base + "/a", partial, ""},
		{"GET", base + "/missing", "", ""},
		{"GET", base + "/a/status", "", ""},
		{"GET", base + "?labelSelector=x%3Dy", "", ""},
		{"GET", base + "?labelSelector=x%3Dy", strings.Replace(partial, "Metadata", "MetadataList", 1), ""},
		{"GET", base + "?fieldSelector=metadata.name%3Da", "", ""},
		{"GET", base + "?labelSelector=x%3D%3D%3D", "", ""},
		{"PUT", base + "/a", "", configMap(`"name":"a","labels":{"x":"z"}`)},
		{"PUT", base + "/a", "", configMap(`"name":"a","resourceVersion":"1"`)},
		{"PUT", base + "/missing", "", configMap(`"name":"missing"`)},
		{"PUT", base + "/a?dryRun=All", "", configMap(`"name":"a","labels":{"x":"w"}`)},
		{"GET", base + "/a", "", ""},
		{"PUT", base + "/a", "", configMap(`"name":"b"`)},
		{"PUT", base + "/a", "", configMap(`"name":"a","uid":"other"`)},
		{"DELETE", base + "/missing", "", ""},
		{"DELETE", base + "/a", "", `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"other"}}`},
		{"DELETE", base + "/a", "", `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}`},
		{"DELETE", base + "/a", "", `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`},
		{"DELETE", base + "/a", "", ""},
		{"GET", base + "/a", "", ""},
		{"DELETE", base + "/held", "", ""},
		{"POST", base, "", configMap(`"name":"held"`)},
		{"POST", base, "", configMap(`"name":"held","generateName":"x-"`)},
		{"DELETE", base + "/held", "", ""},
		{"PUT", base + "/held", "", configMap(`"name":"held","finalizers":["example.com/x","example.com/y"]`)},
		{"PUT", base + "/held", "", configMap(`"name":"held","namespace":"other"`)},
		{"POST", base + "/x", "", configMap(`"name":"x"`)},
		{"PUT", base, "", configMap(`"name":"x"`)},
		{"PUT", base + "/held", "", configMap(`"name":"held"`)},
		{"GET", base + "/held", "", ""},
		{"POST", "/api/v1/configmaps", "", configMap(`"name":"b"`)},
		{"GET", "/api/v1/namespaces/" + namespace + "/nothing", "", ""},
		{"GET", "/api/v1/namespaces/" + namespace + "/nothing/x", "", ""},
		{"POST", roles + "?dryRun=All", "", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a","namespace":"other"},"rules":null}`},
		{"GET", "/api/v1/nothing", "", ""},
		{"GET", "/api/v2", "", ""},
		{"GET", "/apis/nothing/v1", "", ""},
	} {
		want, got := theirs(r.method, r.path, r.accept, r.body), ours(r.method, r.path, r.accept, r.body)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s %s\n(-kube-apiserver, +oncetest)\n%s", r.method, r.path, r.body, diff)
		}
	}
}

// sender returns a function that sends a request to the server of config. sender returns the parts of the response
// that don't depend on the server.
func sender(t *testing.T, config *rest.Config) func(method, path, accept, body string) map[string]any {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path, accept, body string) map[string]any {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if accept != "" {
			req.Header.Set("Accept", accept)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		result, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var content any
		if json.Unmarshal(result, &content) != nil {
			content = string(result)
		}
		forget(content)
		if resp.Header.Get("Date") == "" {
			t.Errorf("%s %s: no Date", method, path)
		}
		return map[string]any{
			"code": resp.StatusCode, "retryAfter": resp.Header.Get("Retry-After"), "type": resp.Header.Get("Content-Type"),
			"content": content,
		}
	}
}

// withoutUID matches a UID, and a resourceVersion in a message.
var withoutUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\(\d+\)`)

// forget replaces values that differ between servers, but keeps their fields.
func forget(content any) {
	switch content := content.(type) {
	case []any:
		for _, item := range content {
			forget(item)
		}
	case map[string]any:
		delete(content, "managedFields")
		for field, value := range content {
			switch {
			case field == "uid", strings.HasSuffix(field, "Timestamp"), field == "resourceVersion":
				content[field] = "is there"
			case field == "message":
				content[field] = withoutUID.ReplaceAllString(value.(string), "UID")
			default:
				forget(value)
			}
		}
	}
}
