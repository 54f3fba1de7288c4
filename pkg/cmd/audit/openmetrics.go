package audit

import (
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// prefixGauge is a gauge with a sample for each item of an audit; value returns
// false for ok where the item has none.
type prefixGauge struct {
	name, unit, help string
	value            func(v1alpha1.AuditItem) (value float64, ok bool)
}

var prefixGauges = []prefixGauge{
	{
		"genname_prefix_names", "names",
		"Names that exist under a prefix. 27^5 = 14348907 are possible, or 27^suffix_length if that label is set.",
		func(i v1alpha1.AuditItem) (float64, bool) { return float64(i.Names), true },
	},
	{
		"genname_prefix_failure_ratio", "ratio", "Chance that the next create fails with the attempts in force. " +
			"If the attempts are unknown, it assumes no retries.",
		func(i v1alpha1.AuditItem) (float64, bool) { return audit.NextFails(i), true },
	},
	{
		"genname_prefix_failure_without_retry_ratio", "ratio",
		"Chance that the next create fails without retries.",
		func(i v1alpha1.AuditItem) (float64, bool) { return i.NextCreate.NoRetry, true },
	},
	{
		"genname_prefix_attempts", "attempts",
		"Attempts per create, by the server or by the client that picks the names. Absent if unknown.",
		func(i v1alpha1.AuditItem) (float64, bool) {
			if i.Attempts == nil {
				return 0, false
			}
			return float64(*i.Attempts), true
		},
	},
	{
		"genname_prefix_room_creates", "creates",
		"Further creates until the chance of any failure exceeds 0.1%, with the attempts in force.",
		func(i v1alpha1.AuditItem) (float64, bool) {
			room := roomOf(i)
			if room == nil {
				return math.Inf(1), true
			}
			return float64(*room), true
		},
	},
	{
		"genname_prefix_creates_per_day", "",
		"Creates per day, observed in a window of a day or of --window. " +
			"This is a lower bound, because deleted objects are not observed.",
		func(i v1alpha1.AuditItem) (float64, bool) { return i.Creates.PerDay, true },
	},
	{
		"genname_prefix_first_failure_days", "days",
		"Mean time in days until the first failed create, if no object is deleted, at the lowest rate that " +
			"the windows of 10 minutes, an hour, a day and a week allow. +Inf if there are no creates.",
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
	name, unit, help string
	value            func(*v1alpha1.AuditReport) float64
}

var auditGauges = []auditGauge{
	{
		"genname_audit_complete", "", "1 if the audit read everything that was asked for, else 0. " +
			"Resource types that the user can't list make it 0 only if they were named or none can be listed.",
		func(r *v1alpha1.AuditReport) float64 {
			if r.Complete {
				return 1
			}
			return 0
		},
	},
	{
		"genname_audit_timestamp_seconds", "seconds", "Start of the audit, in Unix time.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Metadata.CreationTimestamp.Unix()) },
	},
	{
		"genname_audit_duration_seconds", "seconds", "Duration of the audit.",
		func(r *v1alpha1.AuditReport) float64 { return r.Summary.Seconds },
	},
	{
		"genname_audit_objects", "objects", "Objects that the audit read.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Objects) },
	},
	{
		"genname_audit_prefixes", "prefixes", "Prefixes that have names.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Prefixes) },
	},
	{
		"genname_audit_hidden_prefixes", "prefixes",
		"Prefixes without samples, because of --min-count and --top.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Hidden.Prefixes) },
	},
	{
		"genname_audit_unprefixed_objects", "objects", "Objects that belong to no prefix.",
		func(r *v1alpha1.AuditReport) (objects float64) {
			for _, t := range r.Unprefixed {
				objects += float64(t.Objects)
			}
			return objects
		},
	},
	{
		"genname_audit_skipped", "", "Resource types, API groups, " +
			"or resource types in one namespace that the audit did not read, " +
			"including those without permission. " +
			"Resource types that generate no names are not counted.",
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

// writeOpenMetrics writes the gauges of a report in the OpenMetrics text
// format, which is also the Prometheus text format that node_exporter and the
// Pushgateway take. There are as many series as the report has items, times the
// gauges.
func writeOpenMetrics(out io.Writer, report *v1alpha1.AuditReport) error {
	var families []*dto.MetricFamily
	for _, gauge := range prefixGauges {
		f := family(gauge.name, gauge.unit, gauge.help)
		for _, item := range report.Items {
			if value, ok := gauge.value(item); ok {
				f.Metric = append(f.Metric, &dto.Metric{Label: labelsOf(item), Gauge: &dto.Gauge{Value: &value}})
			}
		}
		families = append(families, f)
	}
	for _, gauge := range auditGauges {
		f := family(gauge.name, gauge.unit, gauge.help)
		value := gauge.value(report)
		f.Metric = []*dto.Metric{{Gauge: &dto.Gauge{Value: &value}}}
		families = append(families, f)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToOpenMetrics(out, f); err != nil {
			return err
		}
	}
	_, err := expfmt.FinalizeOpenMetrics(out)
	return err
}

func family(name, unit, help string) *dto.MetricFamily {
	f := &dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum()}
	if unit != "" {
		f.Unit = &unit
	}
	return f
}

func labelsOf(item v1alpha1.AuditItem) []*dto.LabelPair {
	label := func(name, value string) *dto.LabelPair {
		value = labelText(value)
		return &dto.LabelPair{Name: &name, Value: &value}
	}
	labels := []*dto.LabelPair{
		label("resource", schema.GroupResource{Group: item.Group, Resource: item.Resource}.String()),
		label("namespace", item.Namespace),
		label("prefix", item.Prefix),
	}
	if item.SuffixLength != 0 {
		labels = append(labels, label("suffix_length", strconv.Itoa(item.SuffixLength)))
	}
	return labels
}

// labelText returns text as a label may have it, and a terminal: control characters,
// and the halves of characters that the cut at 58 bytes leaves, are escaped. So are
// backslashes: two prefixes never have one label.
func labelText(text string) string {
	unfit := func(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unfit) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
