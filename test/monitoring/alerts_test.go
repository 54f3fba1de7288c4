package monitoring

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"
)

// phase is a time in which an audit an hour prints the same of a population. Without
// one no audit runs, and the gauges stay as they are, or are lost.
type phase struct {
	population *population
	attempts   int // 0: nobody says them
	lasts      time.Duration
	lost       bool
}

// Each alert fires for populations that it is about, after the time that it waits, and
// for no others: Prometheus' own rules are evaluated over what the audit itself prints
// of them.
func TestAlerts(t *testing.T) {
	binary := plugin(t)
	const long = 5 * time.Hour
	few := &population{names: 12}
	for _, test := range []struct {
		name   string
		phases []phase
		fires  []string
	}{
		{"nothing much", []phase{{population: &population{names: 12, perDay: 2}, attempts: 1, lasts: long}}, nil},
		{"5,000 names and two creates a day, without retries", []phase{{population: &population{names: 5000, perDay: 2}, attempts: 1, lasts: long}}, nil},
		{
			"a thousand a day, without retries",
			[]phase{{population: &population{names: 5000, perDay: 1000}, attempts: 1, lasts: long}},
			[]string{"GeneratedNameRoomShort"},
		},
		{"the same, with the server's", []phase{{population: &population{names: 5000, perDay: 1000}, attempts: 8, lasts: long}}, nil},
		{
			"with retries that do not help for long",
			[]phase{{population: &population{names: 60_000, perDay: 9900}, attempts: 2, lasts: long}},
			[]string{"GeneratedNameRoomShort"},
		},
		{
			"one audit that sees a burst",
			[]phase{{population: &population{names: 400, lately: 400}, attempts: 1, lasts: time.Hour}, {population: &population{names: 400}, attempts: 1, lasts: long}},
			nil,
		},
		{
			"creates that fail",
			[]phase{{population: &population{names: 15_000}, attempts: 1, lasts: time.Hour}},
			[]string{"GeneratedNameFailuresLikely"},
		},
		{"the same, with the server's retries", []phase{{population: &population{names: 15_000}, attempts: 8, lasts: time.Hour}}, nil},
		{
			"creates that fail if nobody retries, which is not known",
			[]phase{{population: &population{names: 15_000, custom: true}, lasts: time.Hour}},
			[]string{"GeneratedNameFailuresLikely"},
		},
		{"few of which that is not known", []phase{{population: &population{names: 12, perDay: 2, custom: true}, lasts: long}}, nil},
		{
			"a run-away that has stopped",
			[]phase{{population: &population{names: 100_500}, attempts: 8, lasts: time.Hour}},
			[]string{"GeneratedNamesRunAway"},
		},
		{"a run-away", []phase{{population: &population{names: 13_000, perDay: 12_000}, attempts: 8, lasts: long}}, []string{"GeneratedNamesGrowFast"}},
		{
			"a run-away that was cleared up",
			[]phase{
				{population: &population{names: 100_500, perDay: 12_000}, attempts: 8, lasts: long},
				{population: few, attempts: 8, lasts: time.Hour},
			},
			nil,
		},
		{"a run-away of two hours", []phase{{population: &population{names: 13_000, perDay: 12_000}, attempts: 8, lasts: 2 * time.Hour}}, nil},
		{
			"a list that is refused",
			[]phase{{population: &population{names: 12, refused: true}, attempts: 8, lasts: long}},
			[]string{"GeneratedNameAuditIncomplete"},
		},
		{
			"a list that is refused, and then not",
			[]phase{
				{population: &population{names: 12, refused: true}, attempts: 8, lasts: 2 * time.Hour},
				{population: few, attempts: 8, lasts: 2 * time.Hour},
			},
			nil,
		},
		{"a list that was refused for an hour", []phase{{population: &population{names: 12, refused: true}, attempts: 8, lasts: time.Hour}}, nil},
		{
			"audits that have ended",
			[]phase{{population: &population{names: 12}, attempts: 8, lasts: time.Hour}, {lasts: long}},
			[]string{"GeneratedNameAuditStale"},
		},
		{"an audit that is late", []phase{{population: few, attempts: 8, lasts: time.Hour}, {lasts: 90 * time.Minute}}, nil},
		{
			"gauges that are lost",
			[]phase{{population: &population{names: 100_500}, attempts: 8, lasts: time.Hour}, {lasts: long, lost: true}},
			[]string{"GeneratedNameAuditMissing"},
		},
		{
			"gauges that are lost, and come again",
			[]phase{
				{population: few, attempts: 8, lasts: time.Hour}, {lasts: long, lost: true},
				{population: few, attempts: 8, lasts: time.Hour},
			},
			nil,
		},
		{"no audit at all", []phase{{lasts: long}}, []string{"GeneratedNameAuditMissing"}},
		{"no audit yet", []phase{{lasts: 2 * time.Hour}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now().Truncate(time.Second)
			storage, end := stored(t, binary, test.phases, began)
			if diff := cmp.Diff(test.fires, firing(t, storage, began, end)); diff != "" {
				t.Errorf("alerts that fire (-want +got):\n%s", diff)
			}
		})
	}
	if n := len(loaded(t, nil)); n != 7 {
		t.Errorf("%d rules, of which 7 are tested", n)
	}
}

// each is how often gauges are scraped and rules are evaluated.
const each = 15 * time.Minute

// auditOf returns what the audit of a server prints. That it cannot read everything is
// no failure here.
func auditOf(t *testing.T, binary, server string, attempts int) string {
	t.Helper()
	args := []string{"audit", "configmaps", "-A", "-o", "openmetrics", "--server=" + server, "--cache-dir=" + t.TempDir()}
	if attempts > 0 {
		args = append(args, fmt.Sprint("--server-attempts=", attempts))
	}
	audit := exec.CommandContext(t.Context(), binary, args...)
	var errOut bytes.Buffer
	audit.Stderr = &errOut
	out, err := audit.Output()
	if len(out) == 0 {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	return string(out)
}

// stored returns a storage with the gauges that audits print in phases, and when the
// last one ends. The time of the audit moves on, as that of one an hour does.
func stored(t *testing.T, binary string, phases []phase, began time.Time) (storage *teststorage.TestStorage, end time.Duration) {
	t.Helper()
	storage = teststorage.New(t)
	appender := storage.Appender(t.Context())
	var gauges map[string]float64
	for _, p := range phases {
		switch {
		case p.lost:
			gauges = nil
		case p.population != nil:
			gauges = seriesOf(t, auditOf(t, binary, p.population.serve(t, began), p.attempts))
		}
		for at := end; at <= end+p.lasts; at += each {
			for series, value := range gauges {
				if strings.Contains(series, "genname_audit_timestamp_seconds") && p.population != nil {
					value += at.Truncate(time.Hour).Seconds()
				}
				if _, err := appender.Append(0, metric(t, series), began.Add(at).UnixMilli(), value); err != nil {
					t.Fatal(err)
				}
			}
		}
		end += p.lasts + each
	}
	if err := appender.Commit(); err != nil {
		t.Fatal(err)
	}
	return storage, end - each
}

// metric returns the labels that a text says.
func metric(t *testing.T, series string) labels.Labels {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseMetric(series)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// seriesOf returns the series of an exposition, by Prometheus' parser.
func seriesOf(t *testing.T, text string) map[string]float64 {
	t.Helper()
	series := map[string]float64{}
	p := textparse.NewOpenMetricsParser([]byte(text), labels.NewSymbolTable())
	for text != "" {
		entry, err := p.Next()
		if err != nil {
			break
		}
		if entry == textparse.EntrySeries {
			var l labels.Labels
			p.Labels(&l)
			_, _, value := p.Series()
			series[l.String()] = value
		}
	}
	return series
}

// loaded returns the groups of examples/monitoring's rules as Prometheus has them.
func loaded(t *testing.T, query rules.QueryFunc) []*rules.AlertingRule {
	t.Helper()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: query, Context: t.Context(), Logger: slog.New(slog.DiscardHandler),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Parser: parser.NewParser(parser.Options{}),
		NameValidationScheme: model.UTF8Validation,
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, "../../examples/monitoring/alerts.yaml")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []*rules.AlertingRule
	for _, group := range groups {
		all = append(all, group.AlertingRules()...)
	}
	return all
}

// firing returns the alerts that fire at the end, sorted, after evaluations at each
// interval.
func firing(t *testing.T, storage *teststorage.TestStorage, began time.Time, end time.Duration) []string {
	t.Helper()
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	query := rules.EngineQueryFunc(engine, storage)
	var names []string
	for _, rule := range loaded(t, query) {
		for at := time.Duration(0); at <= end; at += each {
			if _, err := rule.Eval(t.Context(), 0, began.Add(at), query, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		isFiring := func(alert *rules.Alert) bool { return alert.State == rules.StateFiring }
		if slices.ContainsFunc(rule.ActiveAlerts(), isFiring) {
			names = append(names, rule.Name())
		}
	}
	slices.Sort(names)
	return names
}
