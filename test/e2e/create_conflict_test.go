package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Another object without a creation ID has the picked name. If it is too young, it may be the run's own, and the
// outcome is unknown. If it is older than the run by the server's clock, the plugin tries the next name. Neither the
// client's clock nor the Date header counts.
func TestCreateConflict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		age            time.Duration // of the other object, by the server's clock
		code, objects  int
		stdout, stderr string
	}{
		"older":             {2 * time.Hour, 0, 2, oneCreated, "trying demo-xxxxx\n"},
		"too young to tell": {0, 4, 1, "", unknown + checkAlone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, single)
			conflict := firstPost(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					takeName(t, ns, r)
					w.Header().Set("Date", "Fri, 01 Jan 2100 00:00:00 GMT") // the clock of a proxy
					next.ServeHTTP(w, r)
				})
			})
			later := reviewsAhead(test.age)
			proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
				if fault := later(r); fault != nil && test.age > 0 {
					return fault
				}
				return conflict(r)
			})
			withoutReasons(harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap))).
				Prints(t, test.code, test.stdout, test.stderr)
			expectConfigMaps(t, ns, test.objects)
		})
	}
}

// takeName creates another object under the name of a request before the request is sent on.
func takeName(t *testing.T, namespace string, r *http.Request) {
	var sent corev1.ConfigMap
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, json.Unmarshal(body, &sent)); err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: sent.Name}}
	if _, err := harness.Clientset(t, single).CoreV1().ConfigMaps(namespace).Create(t.Context(), holder, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
