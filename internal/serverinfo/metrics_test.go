package serverinfo

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

// scrapeOf encodes metrics as kube-apiserver does.
func scrapeOf(t testing.TB, families ...*dto.MetricFamily) string {
	var scrape bytes.Buffer
	encoder := expfmt.NewEncoder(&scrape, expfmt.NewFormat(expfmt.TypeProtoDelim))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			t.Fatal(err)
		}
	}
	return scrape.String()
}

// gauges is one metric with a value for each name.
func gauges(metric string, values map[string]float64) *dto.MetricFamily {
	family := &dto.MetricFamily{Name: &metric, Type: dto.MetricType_GAUGE.Enum()}
	for name, value := range values {
		family.Metric = append(family.Metric, &dto.Metric{
			Label: []*dto.LabelPair{{Name: proto.String("name"), Value: &name}},
			Gauge: &dto.Gauge{Value: &value},
		})
	}
	return family
}

func TestReadGate(t *testing.T) {
	const metric = "kubernetes_feature_enabled"
	others := []*dto.MetricFamily{
		gauges("x", nil),
		gauges("apiserver_requests", map[string]float64{"RetryGenerateName": 1}),
		gauges(metric+"_not", map[string]float64{"RetryGenerateName": 1}),
	}
	with := func(gates map[string]float64) string {
		return scrapeOf(t, append(slices.Clone(others), gauges(metric, gates), gauges("zz", nil))...)
	}
	whole := with(map[string]float64{"APIServerTracing": 0, "RetryGenerateName": 1})
	begin, _, _ := strings.Cut(whole, "APIServerTracing")
	for _, test := range []struct {
		name, scrape string
		on, ok       bool
	}{
		{"empty", "", false, false},
		{"absent", scrapeOf(t, others...), false, false},
		{"another gate", with(map[string]float64{"APIServerTracing": 1}), false, false},
		{"on", whole, true, true},
		{"off", with(map[string]float64{"APIServerTracing": 1, "RetryGenerateName": 0}), false, true},
		{"cut", begin, false, false},
		{"text", metric + "{name=\"RetryGenerateName\",stage=\"\"} 1\n", false, false},
		{"a length of 2^64-1", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + whole, false, false},
		{"a metric of 2^28 bytes", "\x80\x80\x80\x80\x01\x0a\x1a" + metric, false, false},
		{"malformed", "\x1e\x0a\x1a" + metric + "\xff\xff", false, false},
	} {
		if on, ok := readGate(strings.NewReader(test.scrape)); on != test.on || ok != test.ok {
			t.Errorf("%s: on %t, found %t, want %t and %t", test.name, on, ok, test.on, test.ok)
		}
	}
}

func FuzzReadGate(f *testing.F) {
	f.Add(scrapeOf(f, gauges("kubernetes_feature_enabled", map[string]float64{"RetryGenerateName": 1})))
	f.Fuzz(func(_ *testing.T, scrape string) { readGate(strings.NewReader(scrape)) })
}
