package exporter

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// A scrape takes longer with --top, and little longer with prefixes without series (lab/exporter/README.md).
func BenchmarkScrape(b *testing.B) {
	for _, n := range []int{40, 400, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, c := newFakeEngine(), New(200, 10)
			for i := range n {
				f.set(fmt.Sprintf("prefix-of-a-team-%d-", i), int64(1000+i), int64(i%50))
			}
			c.Follow(f, someOdds, noneLeft)
			registry := prometheus.NewRegistry()
			registry.MustRegister(c)
			var out bytes.Buffer
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				families, err := registry.Gather()
				if err != nil {
					b.Fatal(err)
				}
				for _, family := range families {
					if _, err := expfmt.MetricFamilyToText(&out, family); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(out.Len()), "B/scrape")
		})
	}
}
