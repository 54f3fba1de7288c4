package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var (
	backupType = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "backups"}
	podType    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// population creates the objects of a search in its own namespace.
type population struct {
	t         *testing.T
	client    dynamic.Interface
	namespace string
}

// create creates an object as a field manager.
func (p population) create(manager string, of schema.GroupVersionResource, object map[string]any) *unstructured.Unstructured {
	p.t.Helper()
	kinds := map[string]string{"backups": "Backup", "configmaps": "ConfigMap", "pods": "Pod", "serviceaccounts": "ServiceAccount", "persistentvolumeclaims": "PersistentVolumeClaim"}
	sent := &unstructured.Unstructured{Object: object}
	sent.SetGroupVersionKind(of.GroupVersion().WithKind(kinds[of.Resource]))
	stored, err := p.client.Resource(of).Namespace(p.namespace).Create(p.t.Context(), sent, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		p.t.Fatal(err)
	}
	return stored
}

// backup creates a Backup. It has no owner if owner is nil.
func (p population) backup(prefix string, owner *unstructured.Unstructured) *unstructured.Unstructured {
	metadata := map[string]any{"generateName": prefix}
	if owner != nil {
		metadata["ownerReferences"] = []any{reference(owner)}
	}
	return p.create("controller", backupType, map[string]any{"metadata": metadata, "spec": map[string]any{"volume": prefix}})
}

func reference(owner *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()),
	}
}

// owner creates a Backup with a fixed name.
func (p population) owner() *unstructured.Unstructured {
	return p.create("user", backupType, map[string]any{
		"metadata": map[string]any{"name": "owner"}, "spec": map[string]any{"workers": int64(2)},
	})
}

// status writes the status of an owner.
func (p population) status(owner *unstructured.Unstructured, status map[string]any) {
	p.t.Helper()
	p.statusOf(backupType, owner.GetName(), status)
}

// statusOf writes the status of an object.
func (p population) statusOf(of schema.GroupVersionResource, name string, status map[string]any) {
	p.t.Helper()
	p.patch(of, name, map[string]any{"status": status}, "status")
}

// spec changes the spec of an owner.
func (p population) spec(owner *unstructured.Unstructured, spec map[string]any) {
	p.t.Helper()
	p.patch(backupType, owner.GetName(), map[string]any{"spec": spec})
}

func (p population) patch(of schema.GroupVersionResource, name string, changes map[string]any, subresources ...string) {
	p.t.Helper()
	patch, _ := json.Marshal(changes)
	_, err := p.client.Resource(of).Namespace(p.namespace).
		Patch(p.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
	if err != nil {
		p.t.Fatal(err)
	}
}

// config creates a ConfigMap, with these entries of metadata.
func (p population) config(manager string, metadata map[string]any) *unstructured.Unstructured {
	return p.create(manager, configMapResource, map[string]any{"metadata": metadata, "data": map[string]any{"a": "b"}})
}

// served returns a control plane that serves Backups. Other tests use it, too.
func served(t *testing.T) (*controlplane.ControlPlane, harness.User) {
	t.Helper()
	cp := extended(t)
	u := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, u.Kubeconfig)
	shell.Run("kubectl", "apply", "--server-side", "-f", harness.File(t, "crd.yaml", backups)).Has(t, 0)
	harness.UntilServed(t, cp, backupType)
	return cp, u
}

// Each group gets the grade of its evidence. Only the younger object of a pair is proposed, if it is
// not used and its owner names the older one.
func TestDuplicatesGrades(t *testing.T) {
	t.Parallel()
	cp, u := served(t)
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	later := harness.As(t, faultproxy.New(t, cp.Admin(), reviewsAhead(time.Hour)).Config) // objects are old enough
	for name, test := range map[string]struct {
		make func(p population) (proposed string)
		want []string // GRADE REASON of each group
	}{
		"the owner's spec names the older": {func(p population) string {
			owner := p.owner()
			older, younger := p.twoOf(owner)
			p.spec(owner, map[string]any{"volume": older.GetName()})
			return younger.GetName()
		}, []string{"likely "}},
		"two shards of one owner": {func(p population) string {
			owner := p.owner()
			for _, prefix := range []string{"shard-a-", "shard-a-", "shard-b-"} {
				p.backup(prefix, owner)
			}
			last := p.backup("shard-b-", owner)
			p.status(owner, map[string]any{"last": last.GetName()})
			return ""
		}, []string{"possible otherGroups", "possible otherGroups"}},
		"a retry of a failed Pod": {func(p population) string {
			p.serviceAccount()
			try := func() string {
				return p.create("tool", podType, map[string]any{
					"metadata": map[string]any{"generateName": "try-"},
					"spec":     map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "c", "image": "i"}}},
				}).GetName()
			}
			first := try()
			time.Sleep(1100 * time.Millisecond) // times of objects are in seconds
			p.statusOf(podType, first, map[string]any{"phase": "Failed", "containerStatuses": []any{map[string]any{
				"name": "c", "image": "i", "imageID": "", "ready": false, "restartCount": int64(0),
				"state": map[string]any{"terminated": map[string]any{"exitCode": int64(1), "finishedAt": time.Now().UTC().Format(time.RFC3339)}},
			}}})
			time.Sleep(1100 * time.Millisecond)
			try()
			return ""
		}, nil},
		"two managers": {func(p population) string {
			p.config("tool", map[string]any{"generateName": "c-"})
			p.config("another", map[string]any{"generateName": "c-"})
			return ""
		}, []string{"possible creators"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := population{t, client, harness.Namespace(t, cp)}
			proposed := test.make(p)
			report := duplicatesOf(t, u, "-n", p.namespace)
			var got []string
			for _, item := range report.Items {
				got = append(got, string(item.Grade)+" "+item.Reason)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the grades are %q, want %q", got, test.want)
			}
			want := ""
			if proposed != "" {
				want = report.Items[0].Resource + "/" + proposed + "\n"
				if group := report.Items[0].Group; group != "" {
					want = report.Items[0].Resource + "." + group + "/" + proposed + "\n"
				}
			}
			if r := u.Run("duplicates", "-n", p.namespace, "-o", "name"); r.Stdout != "" || r.Code != 0 {
				t.Errorf("a young object is proposed: %q", r.Stdout)
			}
			if r := later.Run("duplicates", "-n", p.namespace, "-o", "name"); r.Stdout != want || r.Code != 0 {
				t.Errorf("proposed %q with exit code %d, want %q", r.Stdout, r.Code, want)
			}
		})
	}
}

// twoOf creates two Backups of an owner, two seconds apart.
func (p population) twoOf(owner *unstructured.Unstructured) (older, younger *unstructured.Unstructured) {
	older = p.backup("run-", owner)
	time.Sleep(2100 * time.Millisecond) // times of objects are in seconds
	return older, p.backup("run-", owner)
}

// serviceAccount creates what a Pod needs.
func (p population) serviceAccount() {
	p.create("user", schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}, map[string]any{"metadata": map[string]any{"name": "default"}})
}

// Objects are compared if they were created recently and close in time, by the server's clock. A warning reports a
// clock that differs.
func TestDuplicatesTimes(t *testing.T) {
	t.Parallel()
	client, err := dynamic.NewForConfig(retrying.Admin())
	if err != nil {
		t.Fatal(err)
	}
	p := population{t, client, harness.Namespace(t, retrying)}
	pair := func(prefix string, pause time.Duration) (apart time.Duration) {
		first := p.config("tool", map[string]any{"generateName": prefix}).GetCreationTimestamp()
		time.Sleep(pause)
		return p.config("tool", map[string]any{"generateName": prefix}).GetCreationTimestamp().Sub(first.Time)
	}
	quick := pair("c-", 0) // 0 or 1 s on an idle machine
	slow := pair("slow-", quick+3*time.Second)
	time.Sleep(3 * time.Second)
	for args, want := range map[string]string{
		fmt.Sprint("--within=", slow+time.Minute):  "likely configmaps c- x2\nlikely configmaps slow- x2\n",
		fmt.Sprint("--within=", quick+time.Second): "likely configmaps c- x2\n",
		"--since=1s": "",
		"-l=none":    "",
	} {
		got := briefs(duplicatesOf(t, harness.As(t, retrying.Admin()), "configmaps", "-n", p.namespace, args), v1alpha1.DuplicateLikely)
		if text := strings.Join(append(got, ""), "\n"); text != want {
			t.Errorf("%s finds %q, want %q", args, text, want)
		}
	}
	ahead := harness.As(t, faultproxy.New(t, retrying.Admin(), reviewsAhead(time.Hour)).Config)
	for since, searched := range map[string]string{"20m": ": 0 objects created ", "2h": ": 4 objects created "} {
		r := ahead.Run("duplicates", "cm", "-n", p.namespace, "--since="+since)
		if r.Code != 0 || !strings.HasPrefix(r.Stderr, "Warning: this machine's clock differs from the server's by ") ||
			!strings.Contains(r.Stderr, searched) || (since == "2h") != strings.Contains(r.Stdout, "likely   configmaps/c-") {
			t.Errorf("--since=%s: %+v", since, r)
		}
	}
}

// The ready ClusterRole is enough to find duplicates of every type except Secrets and custom
// resources.
func roleForDuplicates(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	admin := harness.NewShell(t, harness.As(t, cp.Admin()).Kubeconfig)
	for range 2 {
		admin.Run("kubectl", "create", "-f", harness.File(t, "job.yaml", job)).Has(t, 0)
	}
	u := bound(t, cp, "searcher", "duplicates.yaml", "genname-duplicates")
	report := duplicatesOf(t, u, "-A")
	if got := briefs(report, v1alpha1.DuplicateLikely); !report.Complete || !slices.Equal(got, []string{"likely jobs.batch report- x2"}) {
		t.Errorf("complete %v: %q", report.Complete, got)
	}
	for _, s := range report.Skipped {
		if s.Reason == "forbidden" {
			t.Errorf("skipped %+v", s)
		}
	}
	if !report.Items[0].ReferencesRead {
		t.Error("references were not read")
	}
}
