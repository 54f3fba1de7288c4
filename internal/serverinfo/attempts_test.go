package serverinfo

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The rows are the versions of KEP-4420's feature gate. For some versions, the version alone decides. For the others,
// the metric or the default decides.
func TestDecide(t *testing.T) {
	const on, off, unreadable = `1`, `0`, ``
	for _, test := range []struct {
		major, minor, emulation string
		gate                    string
		attempts                int // 0 for unknown
		source                  v1alpha1.AttemptsSource
	}{
		{"1", "29", "", on, 1, v1alpha1.SourceVersion},
		{"1", "9+", "", unreadable, 1, v1alpha1.SourceVersion},
		{"1", "30", "", unreadable, 1, v1alpha1.SourceDefault},
		{"1", "30+", "", on, 8, v1alpha1.SourceMetric},
		{"1", "30", "", off, 1, v1alpha1.SourceMetric},
		{"1", "31", "", unreadable, 8, v1alpha1.SourceDefault},
		{"1", "31", "", off, 1, v1alpha1.SourceMetric},
		{"1", "32", "", unreadable, 8, v1alpha1.SourceDefault},
		{"1", "34", "31", off, 1, v1alpha1.SourceMetric},
		{"1", "34", "31", unreadable, 8, v1alpha1.SourceDefault},
		{"1", "33", "32", unreadable, 8, v1alpha1.SourceVersion},
		{"1", "34", "34", unreadable, 8, v1alpha1.SourceVersion},
		{"1", "34+", "33+", unreadable, 8, v1alpha1.SourceVersion},
		{"1", "34", "", unreadable, 8, v1alpha1.SourceDefault},
		{"1", "34", "next", unreadable, 8, v1alpha1.SourceDefault},
		{"1", "35", "35", unreadable, 8, v1alpha1.SourceVersion},
		{"1", "37", "36", off, 8, v1alpha1.SourceVersion},
		{"2", "0", "", on, 0, v1alpha1.SourceUnknown},
		{"1", "", "", on, 0, v1alpha1.SourceUnknown},
		{"", "31", "", on, 0, v1alpha1.SourceUnknown},
	} {
		info := &version.Info{
			Major: test.major, Minor: test.minor,
			EmulationMajor: test.major, EmulationMinor: test.emulation,
		}
		asked := false
		got := decide(info, func() (bool, bool) {
			asked = true
			return test.gate == on, test.gate != unreadable
		})
		if asked == (test.source == v1alpha1.SourceVersion || test.source == v1alpha1.SourceUnknown) {
			t.Errorf("%+v: asked for the metrics: %v", test, asked)
		}
		attempts := 0
		if got.Attempts != nil {
			attempts = *got.Attempts
		}
		if attempts != test.attempts || got.AttemptsSource != test.source {
			t.Errorf("%+v: %d (%s)", test, attempts, got.AttemptsSource)
		}
	}
}

func TestReadGate(t *testing.T) {
	const metric = "kubernetes_feature_enabled"
	const others = "# TYPE apiserver_requests gauge\napiserver_requests{name=\"RetryGenerateName\",stage=\"\"} 1\n" +
		metric + "_not{name=\"RetryGenerateName\",stage=\"\"} 1\n" + metric + "{name=\"RetryGenerateNames\",stage=\"\"} 1\n"
	const gate = metric + "{name=\"RetryGenerateName\",stage=\"BETA\"}"
	for _, test := range []struct {
		name, scrape string
		on, ok       bool
	}{
		{"empty", "", false, false},
		{"absent", others, false, false},
		{"on", others + gate + " 1\nzz 0\n", true, true},
		{"off", others + gate + " 0\n", false, true},
		{"cut", others + gate, false, false},
		{"another number", others + gate + " 1e+06\n", false, false},
		{"a long line", others + strings.Repeat("a", 1<<20) + "\n" + gate + " 1\n", false, false},
	} {
		if on, ok := readGate(strings.NewReader(test.scrape)); on != test.on || ok != test.ok {
			t.Errorf("%s: on %t, found %t, want %t and %t", test.name, on, ok, test.on, test.ok)
		}
	}
}
