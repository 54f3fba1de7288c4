package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// exporting is a run of the exporter in the background.
type exporting struct {
	t      *testing.T
	mu     sync.Mutex
	errOut bytes.Buffer
	stop   context.CancelFunc
	code   chan int

	metrics, health string // addresses
}

// export starts the exporter, and waits until it listens.
func export(t *testing.T, u harness.User, args ...string) *exporting {
	t.Helper()
	e := &exporting{t: t, code: make(chan int, 1)}
	var ctx context.Context
	ctx, e.stop = context.WithCancel(t.Context())
	t.Cleanup(e.stop)
	args = append([]string{
		"exporter", "--web.listen-address=127.0.0.1:0", "--health.listen-address=127.0.0.1:0",
		"--kubeconfig=" + u.Kubeconfig, "--cache-dir=" + t.TempDir(),
	}, args...)
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: locked{&e.mu, &e.errOut}}
	go func() { e.code <- cmd.Execute(ctx, args, streams) }()
	harness.Eventually(t, func() error {
		_, serving, _ := strings.Cut(e.printed(), "Serving /metrics on ")
		metrics, rest, _ := strings.Cut(serving, ", and /healthz and /readyz on ")
		health, _, found := strings.Cut(rest, "\n")
		if !found {
			return fmt.Errorf("it does not listen:\n%s", e.printed())
		}
		e.metrics, e.health = "http://"+metrics, "http://"+health
		return nil
	})
	return e
}

func (e *exporting) printed() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.errOut.String()
}

// get returns the status code and the body of a response.
func (e *exporting) get(url string) (int, string) {
	e.t.Helper()
	response, err := http.Get(url)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// ready waits until everything has been counted.
func (e *exporting) ready() {
	e.t.Helper()
	harness.Eventually(e.t, func() error {
		if code, _ := e.get(e.health + "/readyz"); code != http.StatusOK {
			return fmt.Errorf("not ready:\n%s", e.printed())
		}
		return nil
	})
}

// scrape returns the values of all series, by name and sorted labels.
func (e *exporting) scrape() map[string]float64 {
	e.t.Helper()
	_, body := e.get(e.metrics + "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	series := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			series[name+labelsOf(m)] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return series
}

func labelsOf(m *dto.Metric) string {
	var labels []string
	for _, l := range m.GetLabel() {
		labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	return "{" + strings.Join(labels, ",") + "}"
}

// until waits for the value of a series.
func (e *exporting) until(series string, want float64) {
	e.t.Helper()
	harness.Eventually(e.t, func() error {
		if got, ok := e.scrape()[series]; !ok || got != want {
			return fmt.Errorf("%s is %v (%v), want %v; stderr:\n%s", series, got, ok, want, e.printed())
		}
		return nil
	})
}

// The exporter waits for an API server that is unreachable. Then it counts, and watches creates, also
// after a restart of the server. Its counters never decrease.
func exporterOverRestarts(t *testing.T, cp *controlplane.ControlPlane) {
	ns := harness.Namespace(t, cp)
	add := func(n int) {
		for range n {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "leak-"}}
			if _, err := harness.Clientset(t, cp).CoreV1().ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(12)
	if err := cp.Servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	e := export(t, harness.As(t, cp.Admin()), "-A")
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		if code, _ := e.get(e.health + path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if ready, ok := e.scrape()["genname_exporter_ready{}"]; !ok || ready != 0 {
		t.Errorf("it is ready (%v, %v)", ready, ok)
	}
	if err := cp.Servers[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.ready()

	prefix := fmt.Sprintf(`{group="",namespace=%q,naming="generateName",prefix="leak-",resource="configmaps"}`, ns)
	const total = `{group="",resource="configmaps"}`
	e.until("genname_prefix_names"+prefix, 12)
	first := e.scrape()
	for series, want := range map[string]float64{
		"genname_prefix_creates_total" + prefix: 0, "genname_prefix_attempts" + prefix: 8,
		"genname_prefix_deletes_total" + prefix: 0, "genname_resource_creates_total" + total: 0,
		"genname_resource_names" + total: 12, "genname_exporter_ready{}": 1,
		`genname_prefix_names{group="",namespace="",naming="",prefix="(other)",resource="configmaps"}`: 0,
	} {
		if got, ok := first[series]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", series, got, ok, want)
		}
	}
	add(5)
	e.until("genname_prefix_creates_total"+prefix, 5)
	before := e.scrape()
	for _, step := range []func() error{cp.Servers[0].Kill, func() error { return cp.Servers[0].Start(t.Context()) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		e.mustNotDecrease(before)
		for _, path := range []string{"/healthz", "/readyz"} { // also while the server is unreachable
			if code, _ := e.get(e.health + path); code != http.StatusOK {
				t.Errorf("%s: %d, want 200", path, code)
			}
		}
	}
	add(3)
	e.until("genname_prefix_names"+prefix, 20)
	e.until("genname_prefix_creates_total"+prefix, 8)
	e.until("genname_resource_creates_total"+total, 8)
	e.mustNotDecrease(before)
	if e.scrape()["genname_watch_restarts_total"+total] == 0 {
		t.Error("no watch has been restarted")
	}
	e.stop()
	if code := <-e.code; code != 0 {
		t.Errorf("exit code %d", code)
	}
	unreachable, _, _ := strings.Cut("Warning: the server is unreachable, so requests are retried until it responds: %v", "%")
	if !strings.Contains(e.printed(), unreachable) {
		t.Errorf("no word of the server that was unreachable:\n%s", e.printed())
	}
}

// mustNotDecrease compares the counters of the exporter with those of an earlier scrape.
func (e *exporting) mustNotDecrease(before map[string]float64) {
	e.t.Helper()
	now := e.scrape()
	for series, value := range before {
		name, _, _ := strings.Cut(series, "{")
		got, ok := now[series]
		if ours := strings.HasPrefix(name, "genname_") && strings.HasSuffix(name, "_total"); ours && (!ok || got < value) {
			e.t.Errorf("%s went from %v to %v (%v)", series, value, got, ok)
		}
	}
}

// A named type that the server doesn't have doesn't stop the exporter, and neither does a type that is named in two
// versions. The exporter reports its scope.
func TestExporterOfAMissingType(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	const types = "configmaps,hpa,horizontalpodautoscalers.v1.autoscaling,nosuchtypes"
	e := export(t, harness.As(t, single.Admin()), types, "-n", ns)
	e.ready()
	e.until(`genname_resource_skipped{group="",reason="notFound",resource="nosuchtypes"}`, 1)
	e.prints("nosuchtypes")
	e.prints(`Counting ` + types + ` in the namespace "` + ns + `". To count all namespaces, use -A`)
	if code, page := e.get(e.metrics); code != http.StatusOK || !strings.Contains(page, ns) {
		t.Errorf("the page at /: %d %s", code, page)
	}
}

// An exporter that may list nothing is not ready. A permission that is taken away later is reported as forbidden.
func exporterLosesPermission(t *testing.T, cp *controlplane.ControlPlane) {
	ns := harness.Namespace(t, cp)
	user := "loser-of-" + ns
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-"}}
	if _, err := harness.Clientset(t, cp).CoreV1().ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	forbidden := `genname_resource_skipped{group="",reason="forbidden",resource="configmaps"}`
	e := export(t, harness.As(t, cp.User(user)), "configmaps", "-n", ns)
	e.until(forbidden, 1)
	if code, _ := e.get(e.health + "/readyz"); code != http.StatusServiceUnavailable || e.scrape()["genname_exporter_ready{}"] != 0 {
		t.Errorf("ready without permission: %d", code)
	}
	harness.Grant(t, cp, ns, user, []string{"list", "watch"}, "configmaps")
	e = export(t, harness.As(t, cp.User(user)), "configmaps", "-n", ns)
	e.ready()
	err := harness.Clientset(t, cp).RbacV1().Roles(ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// An open watch survives the loss of the permission.
	for _, step := range []func() error{cp.Servers[0].Kill, func() error { return cp.Servers[0].Start(t.Context()) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	e.until(forbidden, 1)
	e.prints("Warning: 1 type not counted, because the exporter needs permission to list and watch: configmaps")
}

// prints waits for a text in the log.
func (e *exporting) prints(text string) {
	e.t.Helper()
	harness.Eventually(e.t, func() error {
		if !strings.Contains(e.printed(), text) {
			return fmt.Errorf("no %q in\n%s", text, e.printed())
		}
		return nil
	})
}

// SIGTERM, with which Kubernetes ends a container, is no failure.
func TestExporterTerminates(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"counting": harness.As(t, single.Admin()).Kubeconfig, "waiting": unreachableKubeconfig(t),
	} {
		t.Run(name, func(t *testing.T) {
			p := startPlugin(t, nil, "exporter", "-A", "--kubeconfig="+config,
				"--web.listen-address=127.0.0.1:0", "--health.listen-address=127.0.0.1:0")
			want := "Counted "
			if name == "waiting" {
				want = "Warning: the server is unreachable, so requests are retried until it responds: "
			}
			p.prints(want)
			p.signal(syscall.SIGTERM)
			p.ends(0)
		})
	}
}

// unreachableKubeconfig writes a kubeconfig of a server that does not exist.
func unreachableKubeconfig(t *testing.T) string {
	t.Helper()
	config := single.Admin()
	config.Host = "https://127.0.0.1:1"
	return harness.As(t, config).Kubeconfig
}

// Wrong flags are errors that name the flag.
func TestExporterFlags(t *testing.T) {
	t.Parallel()
	u := harness.As(t, single.Admin())
	missing := harness.File(t, "web.yml", "nonsense: true\n")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--top=0"}, `error: --top must be 1 or more, not 0`},
		{[]string{"--min-count=0"}, `error: --min-count must be 1 or more, not 0`},
		{[]string{"-A", "-n", "default"}, `error: --namespace and --all-namespaces can't be used together`},
		{[]string{"jobs/run-"}, `error: "jobs/run-" names a prefix. The exporter takes only resource types, like jobs`},
		{[]string{"--web.config.file=" + missing}, "error: --web.config.file: "},
		{[]string{"--web.listen-address=nowhere"}, "error: --web.listen-address: "},
		{[]string{"--web.listen-address=127.0.0.1:0", "--health.listen-address=127.0.0.1:99999"}, "error: --health.listen-address: "},
		{[]string{"jbs", "--web.listen-address=127.0.0.1:0", "--health.listen-address=127.0.0.1:0"}, `"jbs". Did you mean jobs?`},
	} {
		u.Run(append([]string{"exporter"}, test.args...)...).Has(t, 1, test.want)
	}
}
