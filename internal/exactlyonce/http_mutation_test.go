package exactlyonce

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// misreading is a transport that replaces some responses. misreading stands for a wrong classification of these
// responses.
type misreading struct {
	below http.RoundTripper
	which string // responses, like "GET 403 text/html"
	as    oncetest.Fault
}

func (m misreading) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.below.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	what := req.Method
	if strings.HasSuffix(req.URL.Path, "/selfsubjectreviews") {
		what = "REVIEW"
	}
	if fmt.Sprintf("%s %d %s", what, resp.StatusCode, resp.Header.Get("Content-Type")) != m.which {
		return resp, nil
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	return m.as(nil)
}

// The HTTP model finds a wrong classification of responses.
func TestHTTPModelFindsWrongClassifications(t *testing.T) {
	absent := oncetest.Refuse(apierrors.NewNotFound(configMaps, ""))
	noPermission := oncetest.Refuse(apierrors.NewForbidden(configMaps, "", nil))
	notStored := oncetest.Refuse(apierrors.NewServiceUnavailable("apiserver is shutting down"))
	ourClock := func(*oncetest.Request) (*http.Response, error) {
		return oncetest.Respond(http.StatusCreated, "application/json", fmt.Sprintf(
			`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":%q}}`,
			time.Now().UTC().Format(time.RFC3339)))(nil)
	}
	for name, test := range map[string]struct {
		responses string
		are       oncetest.Fault
	}{
		"a 504 is a refusal":                    {"POST 504 application/json", badField},
		"a 504 comes before the store":          {"POST 504 application/json", notStored},
		"etcd's timeout is a refusal":           {"POST 500 application/json", badField},
		"a quota's 403 stands":                  {"POST 403 application/json", badField},
		"a load balancer's 503 is the API's":    {"POST 503 text/plain", notStored},
		"a 401 is a missing permission":         {"GET 401 application/json", noPermission},
		"a proxy's 403 is a missing permission": {"GET 403 text/html", noPermission},
		"a proxy's 404 is an absence":           {"GET 404 text/html", absent},
		"the server's clock is ours":            {"REVIEW 201 application/json", ourClock},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := httpModel{depth: 2, id: ID{Derivation: Derivation{Creation: ourID}, names: ourID}, ahead: -time.Hour}
			m.wraps = func(rt http.RoundTripper) http.RoundTripper { return misreading{rt, test.responses, test.are} }
			if _, err := m.explore(t); err == nil {
				t.Error("it is not found out")
			}
		})
	}
}
