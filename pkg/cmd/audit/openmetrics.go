package audit

import (
	"io"
	"math"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exporter"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// prefixGauge is a gauge with a sample for each item of an audit; value returns
// false for ok where the item has none.
type prefixGauge struct {
	desc  exporter.PrefixDesc
	value func(v1alpha1.AuditItem) (value float64, ok bool)
}

var prefixGauges = []prefixGauge{
	{
		exporter.NewPrefixDesc("genname_prefix_names",
			"Names that exist under a prefix. 27^5 = 14348907 are possible, or 27^suffix_length if that label is set."),
		func(i v1alpha1.AuditItem) (float64, bool) { return float64(i.Names), true },
	},
	{
		exporter.NewPrefixDesc("genname_prefix_failure_ratio",
			"Chance that the next create fails with the attempts in force. "+
				"If the attempts are unknown, it assumes no retries."),
		func(i v1alpha1.AuditItem) (float64, bool) { return audit.NextFails(i), true },
	},
	{
		exporter.NewPrefixDesc("genname_prefix_failure_without_retry_ratio",
			"Chance that the next create fails without retries."),
		func(i v1alpha1.AuditItem) (float64, bool) { return i.NextCreate.NoRetry, true },
	},
	{
		exporter.NewPrefixDesc("genname_prefix_attempts",
			"Attempts per create, by the server or by the client that picks the names. Absent if unknown."),
		func(i v1alpha1.AuditItem) (float64, bool) {
			if i.Attempts == nil {
				return 0, false
			}
			return float64(*i.Attempts), true
		},
	},
	{
		exporter.NewPrefixDesc("genname_prefix_room_creates",
			"Further creates until the chance of any failure exceeds 0.1%, with the attempts in force."),
		func(i v1alpha1.AuditItem) (float64, bool) {
			room := roomOf(i)
			if room == nil {
				return math.Inf(1), true
			}
			return float64(*room), true
		},
	},
	{
		exporter.NewPrefixDesc("genname_prefix_creates_per_day",
			"Creates per day, observed in a window of a day or of --window. "+
				"This is a lower bound, because deleted objects are not observed."),
		func(i v1alpha1.AuditItem) (float64, bool) { return i.Creates.PerDay, true },
	},
	{
		exporter.NewPrefixDesc("genname_prefix_first_failure_days",
			"Mean time in days until the first failed create, if no object is deleted, at the lowest rate that "+
				"the windows of 10 minutes, an hour, a day and a week allow. +Inf if there are no creates."),
		func(i v1alpha1.AuditItem) (float64, bool) {
			if i.FirstFailure == nil || i.FirstFailure.GrowingDays == nil {
				return math.Inf(1), true
			}
			return *i.FirstFailure.GrowingDays, true
		},
	},
}

// auditGauge is a gauge with one sample about the audit itself.
type auditGauge struct {
	desc  *prometheus.Desc
	value func(*v1alpha1.AuditReport) float64
}

var auditGauges = []auditGauge{
	{
		prometheus.NewDesc("genname_audit_complete",
			"1 if the audit read everything that was asked for, else 0. "+
				"Resource types that the user can't list make it 0 only if they were named or none can be listed.",
			nil, nil),
		func(r *v1alpha1.AuditReport) float64 {
			if r.Complete {
				return 1
			}
			return 0
		},
	},
	{
		prometheus.NewDesc("genname_audit_timestamp_seconds", "Start of the audit, in Unix time.", nil, nil),
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Metadata.CreationTimestamp.Unix()) },
	},
	{
		prometheus.NewDesc("genname_audit_duration_seconds", "Duration of the audit.", nil, nil),
		func(r *v1alpha1.AuditReport) float64 { return r.Summary.Seconds },
	},
	{
		prometheus.NewDesc("genname_audit_objects", "Objects that the audit read.", nil, nil),
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Objects) },
	},
	{
		prometheus.NewDesc("genname_audit_prefixes", "Prefixes that have names.", nil, nil),
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Prefixes) },
	},
	{
		prometheus.NewDesc("genname_audit_hidden_prefixes",
			"Prefixes without samples, because of --min-count and --top.", nil, nil),
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Hidden.Prefixes) },
	},
	{
		prometheus.NewDesc("genname_audit_unprefixed_objects", "Objects that belong to no prefix.", nil, nil),
		func(r *v1alpha1.AuditReport) (objects float64) {
			for _, t := range r.Unprefixed {
				objects += float64(t.Objects)
			}
			return objects
		},
	},
	{
		prometheus.NewDesc("genname_audit_skipped", "Resource types, API groups, "+
			"or resource types in one namespace that the audit did not read, "+
			"including those without permission. "+
			"Resource types that generate no names are not counted.", nil, nil),
		func(r *v1alpha1.AuditReport) (skipped float64) {
			for _, s := range r.Skipped {
				if s.Reason != string(census.Excluded) {
					skipped++
				}
			}
			return skipped
		},
	},
}

// reportCollector collects the gauges of a report. There are as many series as the report
// has items, times the gauges.
type reportCollector struct{ report *v1alpha1.AuditReport }

// Describe implements prometheus.Collector. It describes nothing, because the labels of
// prefixes vary.
func (c reportCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c reportCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, gauge := range prefixGauges {
		for _, item := range c.report.Items {
			if value, ok := gauge.value(item); ok {
				metrics <- gauge.desc.Metric(prometheus.GaugeValue, value, poolOf(item))
			}
		}
	}
	for _, gauge := range auditGauges {
		metrics <- prometheus.MustNewConstMetric(gauge.desc, prometheus.GaugeValue, gauge.value(c.report))
	}
}

// poolOf returns the name pool of an item.
func poolOf(item v1alpha1.AuditItem) exporter.Pool {
	return exporter.Pool{
		Namespace: item.Namespace, Resource: schema.GroupResource{Group: item.Group, Resource: item.Resource},
		Prefix: item.Prefix, SuffixLength: item.SuffixLength,
	}
}

// writeOpenMetrics writes the gauges of a report in the OpenMetrics text format, which
// node_exporter's textfile collector reads, too.
func writeOpenMetrics(out io.Writer, report *v1alpha1.AuditReport) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(reportCollector{report}); err != nil {
		return err
	}
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToOpenMetrics(out, f); err != nil {
			return err
		}
	}
	_, err = expfmt.FinalizeOpenMetrics(out)
	return err
}
