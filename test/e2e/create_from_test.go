package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// A Job of --from equals the Job of "kubectl create job --from", except for its name and the fields that the server
// derives from name, UID and time.
func TestCreateFromCronJob(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	u.Run("create", "-n", ns, "-f", "testdata/cronjobs.yaml").Has(t, 0)
	sh := harness.NewShell(t, u.Kubeconfig)
	for _, name := range []string{"plain", strings.Repeat("n", 52)} {
		for i, source := range []string{"cronjob/", "cj/", "cronjobs.batch/", "cronjobs.v1.batch/"} {
			kubectls := fmt.Sprintf("by-kubectl-%d-%d", i, len(name))
			want := sh.Run("kubectl", "create", "job", kubectls, "--from", source+name, "-n", ns, "-o", "json")
			got := u.Run("create", "--from", source+name, "-n", ns, "-o", "json")
			if want.Code != 0 || got.Code != 0 || got.Stderr != "" {
				t.Fatalf("%s: %d %s, kubectl %d %s", source+name, got.Code, got.Stderr, want.Code, want.Stderr)
			}
			job := decoded(t, got.Stdout)
			if prefix := name + "-run-"; job.GenerateName != prefix || !strings.HasPrefix(job.Name, prefix) || len(job.Name) != len(prefix)+5 {
				t.Errorf("%s has generateName %s", job.Name, job.GenerateName)
			}
			if diff := cmp.Diff(withoutIdentity(t, decoded(t, want.Stdout)), withoutIdentity(t, job)); diff != "" {
				t.Errorf("%s (-kubectl +plugin):\n%s", source+name, diff)
			}
		}
	}
}

func decoded(t *testing.T, text string) (job *batchv1.Job) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return job
}

// withoutIdentity returns the fields of a Job without its identity.
func withoutIdentity(t *testing.T, job *batchv1.Job) (fields map[string]any) {
	t.Helper()
	name, uid := job.Name, string(job.UID)
	job.GenerateName, job.ResourceVersion, job.ManagedFields, job.CreationTimestamp = "", "", nil, metav1.Time{}
	delete(job.Annotations, exactlyonce.Annotation)
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.NewReplacer(`"`+name+`"`, `"NAME"`, uid, "UID").Replace(string(text)))
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
