package exporter

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// other is the label of the prefixes without series.
const other = "(other)"

// prefixDesc describes a metric that has a sample for each prefix.
type prefixDesc struct{ *prometheus.Desc }

func newPrefixDesc(name, help string, more ...string) prefixDesc {
	labels := append([]string{"namespace", "group", "resource", "prefix", "naming"}, more...)
	return prefixDesc{prometheus.NewDesc(name, help, labels, nil)}
}

func (d prefixDesc) metric(kind prometheus.ValueType, value float64, p pools.Key, more ...string) prometheus.Metric {
	prefix := label(p.Prefix)
	if prefix == other {
		prefix = `\` + other // no escaped text begins like this
	}
	values := append(labelsOf(p.Namespace, p.Group, p.Resource), prefix, string(p.Naming))
	values = append(values, labelsOf(more...)...)
	return prometheus.MustNewConstMetric(d.Desc, kind, value, values...)
}

// others returns the sample for all prefixes of a resource type that have no series.
func (d prefixDesc) others(value float64, r schema.GroupResource) prometheus.Metric {
	labels := append(labelsOf("", r.Group, r.Resource), other, "")
	return prometheus.MustNewConstMetric(d.Desc, prometheus.GaugeValue, value, labels...)
}

// labelsOf returns texts as labels can have them. A server can send any bytes, also as a namespace.
func labelsOf(texts ...string) (labels []string) {
	for _, text := range texts {
		labels = append(labels, label(text))
	}
	return labels
}

// label returns text as the value of a label. label escapes control characters, incomplete characters at a truncated
// end, and backslashes. So different texts always have different labels.
func label(text string) string {
	unfit := func(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unfit) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
