package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// A cluster is known by the UID of kube-system, and by its time. A server that returns neither has no identity.
func TestIdentity(t *testing.T) {
	for name, test := range map[string]struct {
		code  int
		ahead time.Duration
		uid   string
		want  time.Duration
	}{
		"ahead":     {http.StatusOK, time.Hour, "a-b", time.Hour},
		"behind":    {http.StatusOK, -time.Hour, "a-b", -time.Hour},
		"the same":  {http.StatusOK, 5 * time.Second, "a-b", 0},
		"forbidden": {http.StatusForbidden, time.Hour, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.code)
				kind, version := "Namespace", "v1"
				if strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
					kind, version = "SelfSubjectReview", "authentication.k8s.io/v1"
				}
				fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"uid":"a-b","creationTimestamp":%q}}`,
					kind, version, time.Now().Add(test.ahead).UTC().Format(time.RFC3339))
			}))
			t.Cleanup(server.Close)
			flags := genericclioptions.NewConfigFlags(false)
			flags.APIServer = &server.URL
			c := &Cluster{factory: cmdutil.NewFactory(flags)}
			if uid := c.UID(t.Context()); uid != test.uid {
				t.Errorf("UID %q", uid)
			}
			if got := c.ClockSkew(t.Context()); (got-test.want).Abs() > 3*time.Second || test.want == 0 && got != 0 {
				t.Errorf("ahead %v, want %v", got, test.want)
			}
		})
	}
}
