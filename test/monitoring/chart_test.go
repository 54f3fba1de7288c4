// Package monitoring checks deploy/exporter and deploy/chart with the code of Prometheus and Helm. The package has
// its own module, so that the plugin doesn't depend on their dependencies.
package monitoring

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const chart = "../../deploy/chart"

// objects returns the objects of a text by kind, without the Namespace, which helm install --create-namespace makes.
func objects(t *testing.T, text string) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if o.Object != nil && o.GetKind() != "Namespace" {
			all[o.GetKind()] = o
		}
	}
	return all
}

// rendered returns the objects of the chart with some values, as helm install prints them with --dry-run.
func rendered(t *testing.T, namespace, values string) map[string]*unstructured.Unstructured {
	t.Helper()
	c, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "any", Namespace: namespace, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, texts["genname-exporter/templates/exporter.yaml"])
}

// The chart has the objects of the kustomizations.
func TestChartEqualsTheKustomizations(t *testing.T) {
	t.Parallel()
	for directory, values := range map[string]string{
		".": "", "with-prometheus-operator": "prometheusOperator: {enabled: true}",
	} {
		text, err := kustomize.Build(t.Context(), filesys.MakeFsOnDisk(), filepath.Join("../../deploy/exporter", directory))
		if err != nil {
			t.Fatal(err)
		}
		got, want := rendered(t, "genname-exporter", values), objects(t, string(text))
		if len(got) != len(want) {
			t.Errorf("%s: the chart has %d objects, and the kustomization %d", directory, len(got), len(want))
		}
		for kind, object := range want {
			if !reflect.DeepEqual(got[kind], object) {
				t.Errorf("%s: the chart has\n%v\nand the kustomization\n%v", directory, got[kind], object)
			}
		}
	}
}

// Each value of the chart reaches its fields.
func TestChartValues(t *testing.T) {
	t.Parallel()
	all := rendered(t, "elsewhere", `{image: example.com/e:1, types: [secrets, workflows.argoproj.io], flags: [--top=400], resources: {limits: {memory: 1Gi}},
		prometheusNamespace: observe, prometheusOperator: {enabled: true, labels: {release: mine}}}`)
	container := field(t, all["Deployment"], "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
	ingress := field(t, all["NetworkPolicy"], "spec", "ingress").([]any)[0].(map[string]any)
	peer := ingress["from"].([]any)[0].(map[string]any)
	rules := field(t, all["ClusterRole"], "rules").([]any)
	for _, test := range []struct {
		got  any
		want string
	}{
		{container["image"], `example.com/e:1`},
		{container["args"], `[exporter, "secrets,workflows.argoproj.io", --all-namespaces, --top=400]`},
		{container["resources"], `{limits: {memory: 1Gi}}`},
		{rules[0], `{apiGroups: [""], resources: [secrets], verbs: [list, watch]}`},
		{rules[1], `{apiGroups: [argoproj.io], resources: [workflows], verbs: [list, watch]}`},
		{rules[2], `{apiGroups: [apiregistration.k8s.io], resources: [apiservices], verbs: [list]}`},
		{field(t, all["ClusterRoleBinding"], "subjects"), `[{kind: ServiceAccount, name: genname-exporter, namespace: elsewhere}]`},
		{peer["namespaceSelector"], `{matchLabels: {kubernetes.io/metadata.name: observe}}`},
		{field(t, all["ServiceMonitor"], "metadata", "labels"), `{app.kubernetes.io/name: genname-exporter, release: mine}`},
		{field(t, all["PrometheusRule"], "metadata", "labels"), `{app.kubernetes.io/name: genname-exporter, release: mine}`},
	} {
		var want any
		if err := yaml.Unmarshal([]byte(test.want), &want); err != nil || !reflect.DeepEqual(test.got, want) {
			t.Errorf("%v, want %s (%v)", test.got, test.want, err)
		}
	}
	if env, has := container["env"]; has {
		t.Errorf("%v, want no GOMEMLIMIT below another memory limit", env)
	}
	for kind, object := range all {
		if got := object.GetNamespace(); (got == "elsewhere") == strings.HasPrefix(kind, "ClusterRole") {
			t.Errorf("%s is in namespace %q", kind, got)
		}
	}
}

// field returns a field of an object.
func field(t *testing.T, o *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil || !found {
		t.Fatalf("no %s: %v", path, err)
	}
	return value
}

// "helm lint" finds nothing. It suggests an icon, which no other page of the project has.
func TestChartLint(t *testing.T) {
	t.Parallel()
	messages := lint.All(chart, nil, "genname-exporter", true).Messages
	found := slices.DeleteFunc(messages, func(m support.Message) bool { return strings.Contains(m.Error(), "icon is recommended") })
	if len(found) > 0 {
		t.Error(found)
	}
}

// dashboard contains the fields of deploy/exporter/grafana/genname.json that the test reads.
type dashboard struct {
	Panels []struct {
		Type, Title string
		Targets     []struct{ Expr string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/exporter/grafana/genname.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries returns the queries by the title of their panel.
func (d dashboard) queries() map[string]string {
	queries := map[string]string{}
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			queries[panel.Title] = target.Expr
		}
	}
	return queries
}

// Every query of the dashboard can be evaluated. In a leak, the first row shows the growth, the prefix and its
// creator.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	s := &simulation{pools: append(idle(30), leak("leak-", 0, 20, start), steady("churn-", 40, 20)), lasts: 30 * time.Minute, skips: forbidden}
	query := s.run(t)
	first := map[string]string{}
	rows := 0
	for _, panel := range d.Panels {
		if panel.Type == "row" {
			rows++
			continue
		}
		for _, target := range panel.Targets {
			vector := query(target.Expr)
			process := strings.Contains(target.Expr, "process_") || strings.Contains(target.Expr, "go_") // not of the simulation
			if len(vector) == 0 && !process {
				t.Errorf("%s: nothing for %s", panel.Title, target.Expr)
			}
			if rows == 1 {
				first[panel.Title] = vector.String()
			}
		}
	}
	for title, want := range map[string][]string{
		"Prefixes that grow fast": {"=> 1 "},
		"Names gained in an hour": {`prefix="leak-"`},
		"Created by":              {`prefix="leak-"`, `creator="leaky-operator"`},
	} {
		for _, text := range want {
			if !strings.Contains(first[title], text) {
				t.Errorf("%s: no %s in %s", title, text, first[title])
			}
		}
	}
}
