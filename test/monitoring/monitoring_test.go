// Package monitoring checks deploy/exporter and the gauges of audit with Prometheus' own code. It has its own module,
// so that the plugin doesn't depend on Prometheus' dependencies.
package monitoring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// exposition returns the output of an audit of a real server with two prefixes. --top shows one of them.
func exposition(t *testing.T) string {
	t.Helper()
	cp := controlplane.New(t)
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		for _, prefix := range []string{"run-", fmt.Sprint(strings.Repeat("x", 58), i, "-")} {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
			if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, cp.Admin()); err != nil {
		t.Fatal(err)
	}
	audit := exec.CommandContext(t.Context(), plugin(t), "audit", "-A", "--top=1", "-o", "openmetrics", "--kubeconfig="+kubeconfig, "--cache-dir="+t.TempDir())
	var errOut bytes.Buffer
	audit.Stderr = &errOut
	out, err := audit.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	return string(out)
}

// plugin builds the plugin. The test doesn't import it, so that this module does not change with the plugin's
// dependencies.
func plugin(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubectl-genname")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, "./cmd/kubectl-genname")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// The parser of Prometheus accepts the output of the audit as OpenMetrics. HELP and TYPE precede every sample, no
// series occurs twice, and the output has an end marker.
func TestOpenMetrics(t *testing.T) {
	text := exposition(t)
	p := textparse.NewOpenMetricsParser([]byte(text), labels.NewSymbolTable())
	types, helps, series := map[string]bool{}, map[string]bool{}, map[string]float64{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			types[string(name)] = kind == "gauge"
		case textparse.EntryHelp:
			name, help := p.Help()
			helps[string(name)] = len(help) > 0
		case textparse.EntrySeries:
			var l labels.Labels
			p.Labels(&l)
			_, at, value := p.Series()
			name := l.Get(model.MetricNameLabel)
			if !types[name] || !helps[name] || at != nil {
				t.Errorf("%s has no type, no help, or a timestamp", l)
			}
			if _, twice := series[l.String()]; twice {
				t.Errorf("%s comes twice", l)
			}
			series[l.String()] = value
		}
	}
	if len(series) != 7+8 {
		t.Errorf("%d series in\n%s", len(series), text)
	}
	names := fmt.Sprintf(`{__name__="genname_prefix_names", group="", namespace="default", prefix=%q, resource="configmaps"}`, "run-")
	if series[names] != 12 || series[`{__name__="genname_audit_complete"}`] != 1 || series[`{__name__="genname_audit_hidden_prefixes"}`] != 1 {
		t.Errorf("%v", series)
	}
}
