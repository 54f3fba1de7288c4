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
		"Names that exist under a prefix, of 27^5 = 14348907 possible ones; of 27^suffix_length where that is a label.",
		func(i v1alpha1.AuditItem) (float64, bool) { return float64(i.Names), true },
	},
	{
		"genname_prefix_conflict_ratio", "ratio", "Chance that the next create conflicts with the attempts in force; " +
			"without retries where these are unknown.",
		func(i v1alpha1.AuditItem) (float64, bool) { return audit.NextFails(i), true },
	},
	{
		"genname_prefix_conflict_without_retry_ratio", "ratio",
		"Chance that the next create conflicts if it tries one name.",
		func(i v1alpha1.AuditItem) (float64, bool) { return i.NextCreate.NoRetry, true },
	},
	{
		"genname_prefix_attempts", "attempts",
		"Names tried per create: by the server, or by clients that pick the names; absent where that is unknown.",
		func(i v1alpha1.AuditItem) (float64, bool) {
			if i.Attempts == nil {
				return 0, false
			}
			return float64(*i.Attempts), true
		},
	},
	{
		"genname_prefix_headroom_creates", "creates",
		"Further creates until the chance of any conflict passes 0.1 %, with the attempts in force.",
		func(i v1alpha1.AuditItem) (float64, bool) {
			headroom := headroomOf(i)
			if headroom == nil {
				return math.Inf(1), true
			}
			return float64(*headroom), true
		},
	},
	{
		"genname_prefix_creates_per_day", "",
		"Creates seen in the window, a day unless --window says another, per day. " +
			"A lower bound: only survivors are seen.",
		func(i v1alpha1.AuditItem) (float64, bool) { return i.Creates.PerDay, true },
	},
	{
		"genname_prefix_first_failure_days", "days",
		"Days until the first failed create is to be expected, if none is deleted, at the least rate of creation " +
			"that 10 minutes, an hour, a day and a week show; +Inf if none is.",
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
		"genname_audit_complete", "", "1 if all that was to be counted was counted, else 0. " +
			"Types that the user may not list do not make it 0, unless they were named or none may be listed: " +
			"genname_audit_skipped counts them.",
		func(r *v1alpha1.AuditReport) float64 {
			if r.Complete {
				return 1
			}
			return 0
		},
	},
	{
		"genname_audit_timestamp_seconds", "seconds", "When the audit began, in Unix time.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Metadata.CreationTimestamp.Unix()) },
	},
	{
		"genname_audit_duration_seconds", "seconds", "How long the audit took.",
		func(r *v1alpha1.AuditReport) float64 { return r.Summary.Seconds },
	},
	{
		"genname_audit_objects", "objects", "Objects that were read.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Objects) },
	},
	{
		"genname_audit_prefixes", "prefixes", "Prefixes that have names.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Summary.Prefixes) },
	},
	{
		"genname_audit_hidden_prefixes", "prefixes",
		"Prefixes that are not among the samples, by --min-count and --top.",
		func(r *v1alpha1.AuditReport) float64 { return float64(r.Hidden.Prefixes) },
	},
	{
		"genname_audit_unprefixed_objects", "objects", "Objects under no prefix.",
		func(r *v1alpha1.AuditReport) (objects float64) {
			for _, t := range r.Unprefixed {
				objects += float64(t.Objects)
			}
			return objects
		},
	},
	{
		"genname_audit_skipped", "", "Types, groups, or types in one namespace that were not counted, " +
			"for want of rights too. Types that generate no names are not among them.",
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
// and the halves of characters that the cut at 58 bytes leaves, are escaped.
func labelText(text string) string {
	unfit := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unfit) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
