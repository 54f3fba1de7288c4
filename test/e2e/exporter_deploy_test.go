package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// deployed returns the objects of a kustomization, by kind.
func deployed(t *testing.T, directory string) map[string]*unstructured.Unstructured {
	t.Helper()
	text, err := kustomize.Build(t.Context(), filesys.MakeFsOnDisk(), harness.Root+directory)
	if err != nil {
		t.Fatal(err)
	}
	objects, broken := manifest.Read(text)
	if len(broken) > 0 {
		t.Fatal(broken)
	}
	byKind := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		byKind[o.GetKind()] = o.Unstructured
	}
	return byKind
}

// as converts an object.
func as[T any](t *testing.T, o *unstructured.Unstructured) (object T) {
	t.Helper()
	if o == nil {
		t.Fatalf("the kustomization has no %T", object)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// permissions are the permissions that a client uses: a verb, and a resource type or path.
type permissions struct {
	mu  sync.Mutex
	all map[string]bool
}

// note records the permission that a request needs.
func (p *permissions) note(r *http.Request) faultproxy.Fault {
	verb := "list"
	if r.URL.Query().Get("watch") == "true" {
		verb = "watch"
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	what := ""
	switch {
	case r.Method != http.MethodGet, len(path) < 3: // SelfSubjectReviews and discovery, which all users can use
	case path[0] == "api" && len(path) == 3:
		what = verb + " " + path[2]
	case path[0] == "apis" && len(path) == 4:
		what = verb + " " + path[3] + "." + path[1]
	}
	if r.URL.Path == "/metrics" {
		what = "get /metrics"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if what != "" {
		p.all[what] = true
	}
	return nil
}

// granted returns the permissions of a role.
func granted(role rbacv1.ClusterRole) (all []string) {
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			for _, path := range rule.NonResourceURLs {
				all = append(all, verb+" "+path)
			}
			for _, resource := range rule.Resources {
				all = append(all, strings.TrimSuffix(verb+" "+resource+"."+rule.APIGroups[0], "."))
			}
		}
	}
	slices.Sort(all)
	return all
}

// The server accepts the manifests. The ClusterRole is enough for the arguments of the Deployment, and
// each of its permissions is used.
func exporterManifests(t *testing.T, cp *controlplane.ControlPlane) {
	admin := harness.As(t, cp.Admin())
	admin.Run("create", "--validate=strict", "-k", harness.Root+"deploy/exporter").Has(t, 0)
	all := deployed(t, "deploy/exporter")
	role := as[rbacv1.ClusterRole](t, all["ClusterRole"])
	deployment := as[appsv1.Deployment](t, all["Deployment"])
	account := deployment.Spec.Template.Spec.ServiceAccountName
	checkDeployment(t, deployment.Spec, as[corev1.Service](t, all["Service"]).Spec)

	admin.Run("create", "-n", "kube-public", "-f", "testdata/exporter.yaml").Has(t, 0)
	user := cp.User("system:serviceaccount:"+deployment.Namespace+":"+account, "system:serviceaccounts", "system:authenticated")
	used := &permissions{all: map[string]bool{}}
	proxy := faultproxy.New(t, user, used.note)
	e := export(t, harness.As(t, proxy.Config), deployment.Spec.Template.Spec.Containers[0].Args[1:]...)
	e.ready()
	// The exporter reads /metrics only of Kubernetes 1.30 to 1.34. The version of this server decides its attempts.
	want := slices.DeleteFunc(granted(role), func(p string) bool { return p == "get /metrics" })
	harness.Eventually(t, func() error {
		used.mu.Lock()
		defer used.mu.Unlock()
		if got := slices.Sorted(maps.Keys(used.all)); !slices.Equal(got, want) {
			return fmt.Errorf("used  %q\ngrants %q", got, want)
		}
		return nil
	})
	for series, value := range e.scrape() {
		if strings.HasPrefix(series, "genname_resource_skipped") || strings.HasPrefix(series, "genname_resource_names") && value != 1 {
			t.Errorf("%s is %v", series, value)
		}
	}
	if text := fmt.Sprint(granted(role)); strings.Contains(text, "secrets") || strings.Contains(text, "configmaps") || strings.Contains(text, "*") {
		t.Errorf("the role grants too much: %s", text)
	}
	checkPodSecurity(t, cp, deployment.Namespace, deployment.Spec.Template.Spec)
}

// checkDeployment checks that only the readiness of the Pod depends on the API server, that two exporters
// never run at once, and that the Service has the port of the metrics.
func checkDeployment(t *testing.T, deployment appsv1.DeploymentSpec, service corev1.ServiceSpec) {
	t.Helper()
	container, ports := deployment.Template.Spec.Containers[0], map[string]int32{}
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
	}
	if live, ready := container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path; live != "/healthz" || ready != "/readyz" {
		t.Errorf("liveness %s, readiness %s", live, ready)
	}
	if *deployment.Replicas != 1 || deployment.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Errorf("%d replicas, %s", *deployment.Replicas, deployment.Strategy.Type)
	}
	if target := service.Ports[0].TargetPort.String(); ports[target] != 9810 || ports["health"] != 9811 {
		t.Errorf("%v, target %s", ports, target)
	}
}

// checkPodSecurity checks with the admission of a restricted namespace that a Pod is allowed, and that a wrong Pod is
// not.
func checkPodSecurity(t *testing.T, cp *controlplane.ControlPlane, namespace string, spec corev1.PodSpec) {
	t.Helper()
	pods := harness.Clientset(t, cp).CoreV1().Pods(namespace)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "checked-"}, Spec: spec}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := pods.Create(t.Context(), pod, dryRun); err != nil {
		t.Error(err)
	}
	pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
	if _, err := pods.Create(t.Context(), pod, dryRun); !apierrors.IsForbidden(err) {
		t.Errorf("a Pod that may escalate privileges is not refused: %v", err)
	}
}

// The NetworkPolicy lets only Prometheus Pods in the namespace monitoring read the metrics. A tenant's Pod with the
// same label can't.
func TestExporterNetworkPolicy(t *testing.T) {
	t.Parallel()
	got := as[networkingv1.NetworkPolicy](t, deployed(t, "deploy/exporter")["NetworkPolicy"]).Spec
	if len(got.Ingress) != 1 || len(got.Ingress[0].Ports) != 1 {
		t.Fatalf("ingress %+v, want one rule with one port", got.Ingress)
	}
	prometheus := []networkingv1.NetworkPolicyPeer{{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "monitoring"}},
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "prometheus"}},
	}}
	if diff := cmp.Diff(prometheus, got.Ingress[0].From); diff != "" {
		t.Errorf("other Pods have access (-want +got):\n%s", diff)
	}
	if ingress := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}; !slices.Equal(got.PolicyTypes, ingress) {
		t.Errorf("types %v, want %v", got.PolicyTypes, ingress)
	}
}
