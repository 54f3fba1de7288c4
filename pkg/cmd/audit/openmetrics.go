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

// The gauges of prefixes. Those that the exporter has, too, are described there.
var (
	prefixFails = exporter.NewPrefixDesc("genname_prefix_failure_ratio",
		"Chance that the next create fails with the attempts in force. "+
			"If the attempts are unknown, it assumes no retries.")
	prefixFailsWithoutRetry = exporter.NewPrefixDesc("genname_prefix_failure_without_retry_ratio",
		"Chance that the next create fails without retries.")
	prefixCreatesPerDay = exporter.NewPrefixDesc("genname_prefix_creates_per_day",
		"Creates per day, observed in a window of a day or of --window. "+
			"This is a lower bound, because deleted objects are not observed.")
	prefixFirstFailure = exporter.NewPrefixDesc("genname_prefix_first_failure_days",
		"Mean time in days until the first failed create, if no object is deleted, at the lowest rate that "+
			"the windows of 10 minutes, an hour, a day and a week allow. +Inf if there are no creates.")
)

// auditGauges are the names and the descriptions of the gauges about the audit itself, each with
// its value.
var auditGauges = []struct {
	name, help string
	value      func(*v1alpha1.AuditReport) float64
}{
	{
		"genname_audit_complete", "1 if the audit read everything that was asked for, else 0. " +
			"Resource types that the user can't list make it 0 only if they were named or none can be listed.",
		func(r *v1alpha1.AuditReport) float64 {
			if r.Complete {
				return 1
			}
			return 0
		},
	},
	{
		"genname_audit_timestamp_seconds", "Start of the audit, in Unix time.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Metadata.CreationTimestamp.Unix()) },
	},
	{
		"genname_audit_duration_seconds", "Duration of the audit.",
		func(r *v1alpha1.AuditReport) float64 { return r.Summary.Seconds },
	},
	{
		"genname_audit_objects", "Objects that the audit read.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Objects) },
	},
	{
		"genname_audit_prefixes", "Prefixes that have names.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Prefixes) },
	},
	{
		"genname_audit_hidden_prefixes", "Prefixes without samples, because of --min-count and --top.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Hidden.Prefixes) },
	},
	{
		"genname_audit_unprefixed_objects", "Objects that belong to no prefix.",
		func(r *v1alpha1.AuditReport) (objects float64) {
			for _, t := range r.Unprefixed {
				objects += float64(t.Objects)
			}
			return objects
		},
	},
	{
		"genname_audit_skipped", "Resource types, API groups, or resource types in one namespace that the audit " +
			"did not read, including those without permission. Resource types that generate no names are not counted.",
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
	for i := range c.report.Items {
		collectItem(metrics, &c.report.Items[i])
	}
	for _, g := range auditGauges {
		desc := prometheus.NewDesc(g.name, g.help, nil, nil)
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, g.value(c.report))
	}
}

// collectItem emits the samples of one prefix.
func collectItem(metrics chan<- prometheus.Metric, item *v1alpha1.AuditItem) {
	emit := func(desc exporter.PrefixDesc, value float64) {
		metrics <- desc.Metric(prometheus.GaugeValue, value, poolOf(item))
	}
	emit(exporter.PrefixNames, float64(item.Names))
	emit(prefixFails, audit.NextFails(*item))
	emit(prefixFailsWithoutRetry, item.NextCreate.NoRetry)
	emit(prefixCreatesPerDay, item.Creates.PerDay)
	if item.Attempts != nil {
		emit(exporter.PrefixAttempts, float64(*item.Attempts))
	}
	room, days := math.Inf(1), math.Inf(1)
	if r := roomOf(*item); r != nil {
		room = float64(*r)
	}
	if first := item.FirstFailure; first != nil && first.GrowingDays != nil {
		days = *first.GrowingDays
	}
	emit(exporter.PrefixRoom, room)
	emit(prefixFirstFailure, days)
}

// poolOf returns the name pool of an item.
func poolOf(item *v1alpha1.AuditItem) exporter.Pool {
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
