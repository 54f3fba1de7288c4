package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// A conflict: another object has the name that the plugin picked. The plugin tries the next name,
// unless that object may be the run's own.
func TestCreateConflict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		holder         map[string]string // annotations
		age            time.Duration     // age of the other object, by the server's clock
		code           int
		stdout, stderr string
	}{
		{
			name: "another id", holder: map[string]string{exactlyonce.Annotation: "v1-00112233445566778899aabbccddeeff-0-0"}, code: 0,
			stdout: `configmap/demo-` + harness.Suffix + ` created\n`,
			stderr: retried(`configmap/demo-`+harness.Suffix, "trying %s"),
		},
		{
			name: "older", age: 2 * time.Hour, code: 0,
			stdout: `configmap/demo-` + harness.Suffix + ` created\n`,
			stderr: retried(`configmap/demo-`+harness.Suffix, "trying %s"),
		},
		{
			name: "too young to tell", code: 4,
			stderr: unknownOutcome(`configmap/demo-`+harness.Suffix+` -n [^\n]*`, `[^\n]*`) + checkAlone,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, single)
			first := firstPost(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					takeName(t, single, ns, r, test.holder)
					w.Header().Set("Date", "Fri, 01 Jan 2100 00:00:00 GMT") // the clock of a proxy
					next.ServeHTTP(w, r)
				})
			})
			proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
				if test.age > 0 && strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
					return faultproxy.Respond(http.StatusCreated, http.Header{"Content-Type": {"application/json"}}, fmt.Sprintf(
						`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":%q}}`,
						time.Now().Add(test.age).UTC().Format(time.RFC3339)))
				}
				return first(r)
			})
			harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)).
				Expect(t, test.code, test.stdout, test.stderr)
			if found := harness.ConfigMaps(t, single, ns); len(found) != 2-test.code/4 {
				t.Errorf("%d objects are there", len(found))
			}
		})
	}
}

// takeName creates an unexpected object under the name of a request before the request is sent on.
func takeName(t *testing.T, cp *controlplane.ControlPlane, namespace string, r *http.Request, annotations map[string]string) {
	var sent corev1.ConfigMap
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, json.Unmarshal(body, &sent)); err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: sent.Name, Annotations: annotations}}
	if _, err := harness.Clientset(t, cp).CoreV1().ConfigMaps(namespace).Create(t.Context(), holder, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
