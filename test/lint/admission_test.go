package lint

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var serverVersion = flag.String("server-version", controlplane.ServerVersion, "version of the API server with the policies")

// admission has a server with the policies of examples/admission.
type admission struct {
	*server
	t        *testing.T
	cp       *controlplane.ControlPlane
	mutex    sync.Mutex
	warnings []string
}

// newAdmission starts a server without policies.
func newAdmission(t *testing.T, options ...controlplane.Option) *admission {
	t.Helper()
	a := &admission{t: t, cp: controlplane.New(t, append(options, controlplane.Version(*serverVersion))...)}
	config := rest.CopyConfig(a.cp.Admin())
	a.server = newServer(t, config, dryRun)
	config.WarningHandler = a
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	a.client = client
	return a
}

// HandleWarningHeader collects the warnings of the server.
func (a *admission) HandleWarningHeader(_ int, _ string, text string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.warnings = append(a.warnings, text)
}

// as returns the server with the credentials of another user.
func (a *admission) as(user string) *server {
	return newServer(a.t, a.cp.User(user, "system:masters"), dryRun)
}

// apply creates the policies, or replaces them.
func (a *admission) apply(directory string) {
	a.t.Helper()
	text, err := kustomize.Build(a.t.Context(), filesys.MakeFsOnDisk(), harness.Root+directory)
	if err != nil {
		a.t.Fatal(err)
	}
	a.put(text, 6)
}

// put creates or replaces the n objects of a text.
func (a *admission) put(text []byte, n int) {
	a.t.Helper()
	objects, broken := manifest.Read(text)
	if len(objects) != n || len(broken) > 0 {
		a.t.Fatalf("%d objects, %v", len(objects), broken)
	}
	for _, o := range objects {
		resource, has := a.resources[o.GroupVersionKind()]
		if !has { // before Kubernetes 1.36
			o.SetAPIVersion("admissionregistration.k8s.io/v1beta1")
			resource = a.resources[o.GroupVersionKind()]
		}
		client := a.client.Resource(schema.GroupVersionResource{Group: resource.Group, Version: resource.Version, Resource: resource.Name})
		_, err := client.Apply(a.t.Context(), o.GetName(), o.Unstructured, metav1.ApplyOptions{FieldManager: "test", Force: true})
		if err != nil {
			a.t.Fatal(err)
		}
	}
}

// await waits until the server refuses or allows a create of the object. The server applies policies after a delay.
func (a *admission) await(o *unstructured.Unstructured, refused bool) {
	a.t.Helper()
	harness.Eventually(a.t, func() error {
		_, err := a.create(a.t.Context(), o)
		if (err != nil) == refused {
			return nil
		}
		return errors.Join(err, fmt.Errorf("create %s %s%s: want a refusal: %t", o.GetKind(), o.GetName(), o.GetGenerateName(), refused))
	})
}

// one returns the first object of a text.
func one(text string) *unstructured.Unstructured {
	objects, _ := manifest.Read([]byte(text))
	return objects[0].Unstructured
}

func statefulSet(length int) *unstructured.Unstructured {
	return one("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: " + strings.Repeat("s", length) + "}\nspec:\n" +
		"  serviceName: s\n  selector: {matchLabels: {app: s}}\n  template:\n    metadata: {labels: {app: s}}\n" +
		"    spec: {containers: [{name: s, image: example.com/s}]}\n")
}

// The policies refuse the findings of the lint rules, and nothing else. They leave the objects of controllers alone,
// such as the Pods of a Deployment with a long name, whose prefix is truncated.
func TestAdmissionPolicies(t *testing.T) {
	a := newAdmission(t)
	a.apply("examples/admission/warn")
	t.Run("warn", a.warn)
	a.apply("examples/admission/deny")
	a.await(statefulSet(53), true)
	a.await(one(configMap("generateName: "+long)), true)
	a.await(one(configMap("name: a, generateName: a-")), true)
	t.Run("examples", a.examples)
	t.Run("names", a.names)
}

// warn checks that the bindings warn and refuse nothing.
func (a *admission) warn(t *testing.T) {
	harness.Eventually(t, func() error {
		a.warnings = nil
		for _, o := range []*unstructured.Unstructured{
			one(configMap("generateName: " + long)), statefulSet(53), one(configMap("name: a, generateName: a-")),
		} {
			if _, err := a.create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{"truncates it to 58", "can't create Pods", "has no effect next to metadata.name"} {
			if !strings.Contains(strings.Join(a.warnings, "\n"), text) {
				return fmt.Errorf("no warning %q in %q", text, a.warnings)
			}
		}
		return nil
	})
}

// examples checks the examples of the rules.
func (a *admission) examples(t *testing.T) {
	denied := map[string]bool{"truncated-prefix": true, "both-names": true}
	for _, rule := range rules.All {
		if !denied[rule.Name] {
			continue
		}
		for _, example := range rule.Page().Examples {
			objects, _ := manifest.Read([]byte(example.Manifest))
			for _, o := range objects {
				_, err := a.create(t.Context(), o.Unstructured)
				if (err != nil) != (example.Level != "") {
					t.Errorf("%s: %s: %v, want a denial: %t", rule.Name, example.About, err, example.Level != "")
				}
			}
		}
	}
}

// names checks names around the limits, and objects that the policies leave alone.
func (a *admission) names(t *testing.T) {
	owned := "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]"
	for _, test := range []struct {
		object *unstructured.Unstructured
		user   string
		denied bool
	}{
		{one(configMap("generateName: " + long[:58])), "", false},
		{one(configMap("generateName: " + long[:59])), "", true},
		{one(configMap("generateName: " + long + ", " + owned)), "", false},
		{one(configMap("generateName: " + long)), "system:serviceaccount:kube-system:replicaset-controller", false},
		{one(configMap("generateName: " + long)), "system:serviceaccount:default:builder", true},
		{one(configMap("name: a-x4k2z, generateName: a-")), "", false},
		{one(configMap("name: a-aeiou, generateName: a-")), "", true},
		{one(configMap("name: a, generateName: a-, " + owned)), "", false},
		{one(configMap("name: a")), "", false},
		{statefulSet(52), "", false},
		{statefulSet(53), "", true},
	} {
		server := a.server
		if test.user != "" {
			server = a.as(test.user)
		}
		_, err := server.create(t.Context(), test.object)
		if (err != nil) != test.denied || err != nil && !strings.Contains(err.Error(), "genname.dev") {
			t.Errorf("%v by %q: %v", test.object.Object["metadata"], test.user, err)
		}
	}
}

// ttlJobs are Jobs, by the TTL that they get.
var ttlJobs = []struct {
	metadata, spec string
	warned         bool
	ttl            int64
}{
	{"generateName: run-", "", true, 604_800},
	{"generateName: run-, labels: {app: a}", "", true, 604_800},
	{"generateName: run-", "ttlSecondsAfterFinished: 5, ", false, 5},
	{"generateName: run-, annotations: {" + derive.DigestAnnotation + ": v1-0}", "", false, 0},
	{"generateName: run-, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]", "", false, 0},
	{"name: run", "", false, 0},
}

// Jobs with a generateName get a TTL, or a warning that they have none. Jobs of a run with a key and Jobs of a
// controller get neither.
func TestDefaultTTL(t *testing.T) {
	var options []controlplane.Option
	if *serverVersion == controlplane.ServerVersion { // the version in which these policies are beta
		options = append(options, controlplane.APIServerArgs(
			"--feature-gates=MutatingAdmissionPolicy=true", "--runtime-config=admissionregistration.k8s.io/v1beta1=true"))
	}
	a := newAdmission(t, options...)
	for _, variant := range []string{"default-ttl-warn.yaml", "default-ttl.yaml"} {
		mutates := variant == "default-ttl.yaml"
		a.put([]byte(harness.Read(t, harness.Root+"examples/admission/"+variant)), 2)
		harness.Eventually(t, func() error {
			if ttl, warned := a.ttl(t, 0); mutates && ttl == 0 || !mutates && !warned {
				return fmt.Errorf("%s has no effect: TTL %d, %q", variant, ttl, a.warnings)
			}
			return nil
		})
		for i, job := range ttlJobs {
			want := job.ttl
			if !mutates && job.warned {
				want = 0
			}
			// A warned Job that gets a TTL has no warning, because the server validates after it has mutated.
			if ttl, warned := a.ttl(t, i); ttl != want || warned != (job.warned && !mutates) {
				t.Errorf("%s: {%s} has a TTL of %d, warnings %q", variant, job.metadata, ttl, a.warnings)
			}
		}
	}
}

// ttl creates one of ttlJobs, and returns its TTL and whether the server warned.
func (a *admission) ttl(t *testing.T, i int) (ttl int64, warned bool) {
	t.Helper()
	a.warnings = nil
	o, err := a.create(t.Context(), one("apiVersion: batch/v1\nkind: Job\nmetadata: {"+ttlJobs[i].metadata+"}\nspec: {"+ttlJobs[i].spec+
		"template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	ttl, _, err = unstructured.NestedInt64(o.Object, "spec", "ttlSecondsAfterFinished")
	if err != nil {
		t.Fatal(err)
	}
	return ttl, len(a.warnings) > 0
}
