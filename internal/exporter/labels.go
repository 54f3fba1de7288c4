package exporter

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// other is the label of the prefixes without series.
const other = "(other)"

// Pool identifies a name pool in labels.
type Pool struct {
	Namespace string
	Resource  schema.GroupResource
	Prefix    string
}

// poolOf returns the key of a name pool.
func poolOf(p *census.NamePool) Pool {
	return Pool{p.Namespace, p.Resource.GroupResource(), p.Prefix}
}

// PrefixDesc describes a metric that has a sample for each prefix.
type PrefixDesc struct{ *prometheus.Desc }

// NewPrefixDesc returns the description of a metric with the labels of a prefix and some
// more.
func NewPrefixDesc(name, help string, more ...string) PrefixDesc {
	labels := append([]string{"namespace", "group", "resource", "prefix"}, more...)
	return PrefixDesc{prometheus.NewDesc(name, help, labels, nil)}
}

// Metric returns the sample of a prefix, with the values of the other labels.
func (d PrefixDesc) Metric(kind prometheus.ValueType, value float64, p Pool, more ...string) prometheus.Metric {
	prefix := Label(p.Prefix)
	if prefix == other {
		prefix = `\` + other // no escaped text begins like this
	}
	values := append(labelsOf(p.Namespace, p.Resource.Group, p.Resource.Resource), prefix)
	values = append(values, labelsOf(more...)...)
	return prometheus.MustNewConstMetric(d.Desc, kind, value, values...)
}

// others returns the sample of all prefixes of a resource type without series.
func (d PrefixDesc) others(value float64, r schema.GroupResource) prometheus.Metric {
	labels := append(labelsOf("", r.Group, r.Resource), other)
	return prometheus.MustNewConstMetric(d.Desc, prometheus.GaugeValue, value, labels...)
}

// labelsOf returns texts as labels can have them. A server can send any bytes, also as a namespace.
func labelsOf(texts ...string) (labels []string) {
	for _, text := range texts {
		labels = append(labels, Label(text))
	}
	return labels
}

// Label returns text as a label can have it. It escapes control characters, the halves of
// characters that truncation leaves, and backslashes, so two texts never have one label.
func Label(text string) string {
	unfit := func(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unfit) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
