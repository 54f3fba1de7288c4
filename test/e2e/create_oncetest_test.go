package e2e

import (
	"encoding/json"
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
	theirs, ours := sender(t, retrying.Admin()), sender(t, oncetest.NewServer(oncetest.Type{
		Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", ClusterScoped: true,
	}).Config())
	for line := range strings.Lines(harness.Read(t, "testdata/requests.txt")) {
		request := strings.NewReplacer("CONFIGMAPS", "/api/v1/namespaces/"+namespace+"/configmaps", "NAMESPACE", namespace).Replace(line)
		method, after, _ := strings.Cut(strings.TrimSpace(request), " ")
		path, after, _ := strings.Cut(after, " ")
		accept, body := "", after
		if kind, is := strings.CutPrefix(after, "as="); is {
			kind, body, _ = strings.Cut(kind, " ")
			accept = "application/json;as=" + kind + ";g=meta.k8s.io;v=v1"
		}
		want, got := theirs(method, path, accept, body), ours(method, path, accept, body)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s(-kube-apiserver, +oncetest)\n%s", request, diff)
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
