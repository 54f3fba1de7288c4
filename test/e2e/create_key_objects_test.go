package e2e

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// A user with permission to create who knows the key and the manifest can create the object first.
// Then the run finds this object, and reports that its spec was changed.
func TestCreateWithAKeyFindsAPlantedObject(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	input := harness.File(t, "job.yaml", job)
	args := []string{"create", "-n", ns, "-f", input, "--idempotency-key=k"}
	planned := u.Run(append(args, "--dry-run=client", "-o", "json")...)
	planted := harness.File(t, "planted.json", strings.ReplaceAll(planned.Stdout, `"image": "i"`, `"image": "another"`))
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "create", "-n", ns, "-f", planted).Expect(t, 0, `job.batch/report-`+harness.Suffix+` created\n`, ``)
	r := u.Run(args...)
	r.Expect(t, 0, `job.batch/report-`+harness.Suffix+` exists \(Running\), differs\n`, `.*`)
	name := strings.TrimSuffix(strings.TrimPrefix(r.Stdout, "job.batch/"), " exists (Running), differs\n")
	suspend := []byte(`{"spec":{"suspend":true}}`)
	if _, err := harness.Clientset(t, retrying).BatchV1().Jobs(ns).Patch(t.Context(), name, types.MergePatchType, suspend, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	u.Run(args...).Expect(t, 0, `job.batch/`+name+` exists \(Suspended\), differs\n`, `.*Warning: [^\n]*generation[^\n]*job.batch/`+name+`[^\n]*\n.*`)
}

// Endpoints get the labels of their Service, including the run's label. The run does not treat them as
// unexpected objects.
func TestCreateWithAKeyBesideEndpoints(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	service := "apiVersion: v1\nkind: Service\nmetadata: {generateName: demo-}\nspec: {ports: [{port: 80}]}\n"
	endpoints := "apiVersion: v1\nkind: Endpoints\nmetadata: {name: other}\n"
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", service+"---\n"+endpoints), "--idempotency-key=k"}
	created := `service/demo-` + harness.Suffix + ` created\nendpoints/other created\n`
	u.Run(args...).Expect(t, 0, created, `.*`)
	services, err := harness.Clientset(t, retrying).CoreV1().Services(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Do the work of the Endpoints controller, which does not run here.
	copied := services.Items[0].DeepCopy()
	mirrored := harness.File(t, "mirrored.yaml", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: "+copied.Name+
		", labels: {genname.dev/run: "+copied.Labels[exactlyonce.RunLabel]+"}}\n")
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "create", "-n", ns, "-f", mirrored).Expect(t, 0, `endpoints/`+copied.Name+` created\n`, `.*`)
	u.Run(args...).Expect(t, 0, strings.ReplaceAll(created, "created", "exists"), `.*`)
}

// clockAhead is a proxy that sends its own time, which is an hour ahead.
func clockAhead(then faultproxy.Fault) faultproxy.Fault {
	return func(next http.Handler) http.Handler {
		if then != nil {
			next = then(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&ahead{w}, r)
		})
	}
}

type ahead struct{ http.ResponseWriter }

func (a *ahead) WriteHeader(code int) {
	a.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (a *ahead) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// stripped removes the annotations of an object on its way to the server.
func stripped(then faultproxy.Fault) faultproxy.Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(faultproxy.Body(r)); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			object.SetAnnotations(nil)
			data, _ := object.MarshalJSON() // it was JSON
			r = r.Clone(r.Context())
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
			r.Body, _ = r.GetBody()
			r.ContentLength = int64(len(data))
			r.Header.Del("Content-Length")
			then(next).ServeHTTP(w, r)
		})
	}
}

// The annotations are removed, and a proxy whose clock is ahead repeats the POST. By that clock the
// existing object is older than the POST, but it is the run's own: no other name is tried.
func TestCreateThroughAProxyWhoseClockIsAhead(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	first := firstPost(stripped(faultproxy.RepeatSecond))
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault { return clockAhead(first(r)) })
	r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap))
	found := harness.ConfigMaps(t, retrying, ns)
	if len(found) != 1 {
		t.Fatalf("%d objects are there, want 1; %+v", len(found), r)
	}
	r.Expect(t, 4, ``, unknownOutcome(`configmap/`+found[0].Name+` -n `+ns, `[^\n]*`)+`.*`)
}
