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
	c.collectAudit(metrics)
}

// collectAudit emits the samples about the audit itself.
func (c reportCollector) collectAudit(metrics chan<- prometheus.Metric) {
	emit := func(name, help string, value float64) {
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value)
	}
	r := c.report
	complete, unprefixed, skipped := 0.0, int64(0), 0
	if r.Complete {
		complete = 1
	}
	for _, t := range r.Unprefixed {
		unprefixed += t.Objects
	}
	for _, s := range r.Skipped {
		if s.Reason != string(census.Excluded) {
			skipped++
		}
	}
	emit("genname_audit_complete", "1 if the audit read everything that was asked for, else 0. "+
		"Resource types that the user can't list make it 0 only if they were named or none can be listed.", complete)
	emit("genname_audit_timestamp_seconds", "Start of the audit, in Unix time.",
		float64(r.Metadata.CreationTimestamp.Unix()))
	emit("genname_audit_duration_seconds", "Duration of the audit.", r.Summary.Seconds)
	emit("genname_audit_objects", "Objects that the audit read.", float64(r.Summary.Objects))
	emit("genname_audit_prefixes", "Prefixes that have names.", float64(r.Summary.Prefixes))
	emit("genname_audit_hidden_prefixes", "Prefixes without samples, because of --min-count and --top.",
		float64(r.Hidden.Prefixes))
	emit("genname_audit_unprefixed_objects", "Objects that belong to no prefix.", float64(unprefixed))
	emit("genname_audit_skipped", "Resource types, API groups, or resource types in one namespace that the audit "+
		"did not read, including those without permission. Resource types that generate no names are not counted.",
		float64(skipped))
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
