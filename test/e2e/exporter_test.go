package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// exporting is a run of the exporter.
type exporting struct {
	*background
	t *testing.T

	metrics, health string // addresses
}

// export starts the exporter, and waits until it listens.
func export(t *testing.T, u harness.User, args ...string) *exporting {
	t.Helper()
	args = append([]string{"exporter", "--web.listen-address=127.0.0.1:0", "--health.listen-address=127.0.0.1:0"}, args...)
	e := &exporting{background: inBackground(t, u, args...), t: t}
	harness.Eventually(t, func() error {
		_, serving, _ := strings.Cut(e.errOut.String(), "Serving /metrics on ")
		metrics, rest, _ := strings.Cut(serving, ", and /healthz and /readyz on ")
		health, _, found := strings.Cut(rest, "\n")
		if !found {
			return fmt.Errorf("it does not listen:\n%s", e.errOut.String())
		}
		e.metrics, e.health = "http://"+metrics, "http://"+health
		return nil
	})
	return e
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
			return fmt.Errorf("not ready:\n%s", e.errOut.String())
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
			return fmt.Errorf("%s is %v (%v), want %v; stderr:\n%s", series, got, ok, want, e.errOut.String())
		}
		return nil
	})
}

// The exporter waits for an API server that is unreachable. Then it counts objects and watches creates, also after a
// restart of the server. Its counters never decrease.
func TestExporterOverRestarts(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	ns := harness.Namespace(t, cp)
	input := harness.File(t, "cm.yaml", configMap)
	add := func(n int) {
		harness.As(t, cp.Admin()).Run("create", "-n", ns, "-f", input, fmt.Sprint("--count=", n)).Has(t, 0)
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
	if err := cp.Servers[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.ready()

	prefix := fmt.Sprintf(`{group="",namespace=%q,naming="generateName",prefix="demo-",resource="configmaps"}`, ns)
	const total = `{group="",resource="configmaps"}`
	e.until("genname_prefix_names"+prefix, 12)
	add(5)
	e.until("genname_prefix_creates_total"+prefix, 5)
	before := e.scrape()
	for _, step := range []func() error{cp.Servers[0].Kill, func() error { return cp.Servers[0].Start(t.Context()) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		e.mustNotDecrease(before)
		if code, _ := e.get(e.health + "/readyz"); code != http.StatusOK { // also while the server is unreachable
			t.Errorf("/readyz: %d, want 200", code)
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
	if code, log := <-e.code, e.errOut.String(); code != 0 ||
		!strings.Contains(log, "Warning: the server is unreachable, so requests are retried until it responds: ") {
		t.Errorf("exit code %d, want 0 and a warning:\n%s", code, log)
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
