package serverinfo

import (
	"strings"
	"testing"
)

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
