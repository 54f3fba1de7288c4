package monitoring

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

const (
	never = time.Duration(math.MaxInt64)
	start = 5 * time.Minute // of an incident
	day   = 24 * time.Hour
)

// The alerts.
const (
	growsFast = "GeneratedNamesGrowFast"
	grows     = "GeneratedNamesGrow"
	typeGrows = "GeneratedNamesOfTypeGrow"
	churns    = "GeneratedNamesChurn"
	many      = "GeneratedNamesMany"
	fails     = "GeneratedNameCreatesFail"
	truncated = "GeneratedNamePrefixTruncated"
	missing   = "GeneratedNameExporterMissing"
	notReady  = "GeneratedNameExporterNotReady"
	dropped   = "GeneratedNamePrefixesDropped"
	behind    = "GeneratedNameWatchBehind"
	skipped   = "GeneratedNameTypeSkipped"
)

// within has the longest time from the start of an incident until each alert fires.
type within map[string]time.Duration

// leak returns a pool whose names are created at a constant rate and never deleted.
func leak(prefix string, before, perSecond float64, from time.Duration) pool {
	names := ramp(from, perSecond, never)
	return pool{namespace: "ci", prefix: prefix, names: sum(constant(before), names), creates: names}
}

// burst returns a pool that gains 3,000 names within 30 s.
func burst(prefix string, before float64, from time.Duration) pool {
	names := ramp(from, 100, 30*time.Second)
	return pool{namespace: "ci", prefix: prefix, names: sum(constant(before), names), creates: names}
}

// steady returns a pool whose names are created and deleted at a constant rate.
func steady(prefix string, names, perSecond float64) pool {
	return pool{namespace: "ci", prefix: prefix, names: constant(names), creates: ramp(0, perSecond, never)}
}

// sawtooth returns a pool that gains names for a period, and then loses them at once.
func sawtooth(prefix string, names float64, period time.Duration) pool {
	phase := func(at time.Duration) float64 { return float64(at%period) / float64(period) }
	return pool{
		namespace: "ci", prefix: prefix, names: func(at time.Duration) float64 { return math.Floor(names * phase(at)) },
		creates: func(at time.Duration) float64 { return math.Floor(names * (float64(at/period) + phase(at))) },
	}
}

// bursts returns a pool that gains names in ten minutes of each period, from the second day on. The names are deleted
// after a time, or never.
func bursts(prefix string, before, names float64, period, kept time.Duration) pool {
	inPeriod := func(at time.Duration) float64 {
		return math.Floor(names * min(float64(at%period)/float64(10*time.Minute), 1))
	}
	creates := func(at time.Duration) float64 {
		if at -= day; at < 0 {
			return 0
		}
		return names*float64(at/period) + inPeriod(at)
	}
	left := creates
	if kept < period {
		left = func(at time.Duration) float64 {
			if at -= day; at < 0 || at%period > kept {
				return 0
			}
			return inPeriod(at)
		}
	}
	return pool{namespace: "ci", prefix: prefix, names: sum(constant(before), left), creates: creates}
}

// with sets the number of attempts per create, and the number of generateNames that share the prefix of the pool.
func (p pool) with(attempts, generateNames int) pool {
	p.attempts, p.generateNames = attempts, generateNames
	return p
}

// idle returns prefixes with 10,000 names and without creates.
func idle(n int) (all []pool) {
	for i := range n {
		all = append(all, steady(fmt.Sprintf("idle-%d-", i), 10_000, 0))
	}
	return all
}

// pattern is a pool, and the alerts that fire for it.
type pattern struct {
	pool
	fires within
}

// patterns returns patterns that last some days, by name. The name is also their resource type.
func patterns() map[string]pattern {
	branches := leak("", 0, 50_000/(6*day).Seconds(), day)
	branches.small = true
	netGrowth := leak("net-", 0, 2333./600, day)
	netGrowth.creates = ramp(day, 5000./600, never)
	onSawtooth := sawtooth("saw-", 2_333, 10*time.Minute)
	slowly := ramp(day, 1./60, never)
	onSawtooth.names, onSawtooth.creates = sum(onSawtooth.names, slowly), sum(onSawtooth.creates, slowly)
	shared := steady(strings.Repeat("x", 58), 40, 0).with(8, 2)
	shared.alternates = true
	leaks := within{growsFast: 30 * time.Minute, grows: day, many: never}
	return map[string]pattern{
		"hourly bursts of 120 a minute":        {bursts("cron-", 30_000, 1_200, time.Hour, never), leaks},
		"hourly bursts of 500 a minute":        {bursts("cron-", 30_000, 5_000, time.Hour, never), leaks},
		"20 a second":                          {leak("leak-", 50_000, 20, day), within{growsFast: 25 * time.Minute, grows: day, many: 50 * time.Minute}},
		"20 a second in a new prefix":          {leak("leak-", 0, 20, day), within{growsFast: 25 * time.Minute, grows: day, many: 2 * time.Hour}},
		"growth beside deletes":                {netGrowth, leaks},
		"one a minute":                         {leak("one-", 2_000, 1./60, day), within{grows: day}},
		"one a minute in a new prefix":         {leak("one-", 0, 1./60, day), within{grows: day}},
		"one a minute on a sawtooth":           {onSawtooth, within{grows: 2 * day, churns: never}},
		"50,000 branches":                      {branches, within{typeGrows: day}},
		"a burst":                              {burst("burst-", 500, day), within{growsFast: 25 * time.Minute, grows: day}},
		"a burst in a new prefix":              {burst("burst-", 0, day), within{growsFast: 25 * time.Minute}},
		"a sawtooth of 2,333 in ten minutes":   {sawtooth("saw-", 2_333, 10*time.Minute), within{churns: never}},
		"a sawtooth of 4,000 in 20 minutes":    {sawtooth("saw-", 4_000, 20*time.Minute), within{churns: never}},
		"a sawtooth of 5,000 in three hours":   {sawtooth("saw-", 5_000, 3*time.Hour), within{growsFast: never}}, // the first three hours
		"a nightly burst that is cleaned up":   {bursts("night-", 0, 3_000, day, 17*time.Minute), nil},
		"a nightly burst, kept for four hours": {bursts("night-", 0, 3_000, day, 4*time.Hour), within{growsFast: 30 * time.Minute}}, // the first night
		"churn with few names":                 {steady("churn-", 40, 20), within{churns: day}},
		"few creates":                          {steady("run-", 12, 0.001), nil},
		"15,000 names without retries":         {steady("many-", 15_000, 0.01).with(1, 1), within{fails: day}},
		"14,000 names without retries":         {steady("many-", 14_000, 0.01).with(1, 1), nil},
		"50,000 names with retries":            {steady("many-", 50_000, 0.01), nil},
		"a truncated prefix and two creators":  {shared, within{truncated: day}},
	}
}

// In five days with a restart of the exporter, each pattern fires its alerts in time, once, and no others.
func TestPatterns(t *testing.T) {
	t.Parallel()
	patterns := patterns()
	const restart = 2*day + 7*time.Hour
	s := &simulation{lasts: 5 * day, unannotated: true, restarted: restart, down: outage{restart - interval, restart}}
	for name, pattern := range patterns {
		pattern.resource = name
		s.pools = append(s.pools, pattern.pool)
	}
	s.run(t)
	for a := range s.fired {
		if _, expected := patterns[a.resource].fires[a.name]; !expected {
			t.Errorf("%s: %s fired %d times, first at %s, at last until %s",
				a.resource, a.name, s.fired[a].times, s.fired[a].from, s.fired[a].to)
		}
	}
	for name, pattern := range patterns {
		for fires, latest := range pattern.fires {
			switch f := s.fired[alert{fires, name}]; {
			case f.times != 1:
				t.Errorf("%s: %s fired %d times, first at %s, at last until %s", name, fires, f.times, f.from, f.to)
			case f.from > day && f.from-day > latest:
				t.Errorf("%s: %s fired after %s", name, fires, f.from-day)
			}
		}
	}
}

// A prefix that has grown slowly since the exporter started doesn't grow fast when it gets series.
func TestLateSeries(t *testing.T) {
	t.Parallel()
	s := &simulation{pools: append(idle(2), leak("slow-", 8_500, 45./3600, 0)), top: 2, lasts: 36 * time.Hour, unannotated: true}
	query := s.run(t)
	if late := query(`genname_prefix_names{prefix="slow-"} offset 30m and genname_prefix_names > 10000`); len(late) != 1 {
		t.Fatalf("%v: the prefix has no series", late)
	}
	if f, fired := s.fired[alert{growsFast, "configmaps"}]; fired {
		t.Errorf("%s fired at %s", growsFast, f.from)
	}
}

// A central Prometheus has the series of several clusters, with a label that tells them apart. A prefix of one cluster
// doesn't affect alerts about another cluster, and the dashboard has the creators of each cluster.
func TestSeveralClusters(t *testing.T) {
	t.Parallel()
	store := promqltest.LoadedStorage(t, `load 1m
		genname:growth:18h{cluster="a", resource="jobs", prefix="run-", namespace="ci"} 2000
		genname:growth:18h{cluster="a", resource="jobs"} 2000
		genname:growth:18h{cluster="b", resource="jobs"} 2000
		genname:growth:1h{cluster="a", resource="workflows", prefix="run-", namespace="ci"} 2000
		genname:growth:1h{cluster="b", resource="workflows", prefix="run-", namespace="ci"} 2000
		genname_prefix_info{cluster="a", resource="workflows", prefix="run-", namespace="ci", creator="x", instance="1"} 1
		genname_prefix_info{cluster="b", resource="workflows", prefix="run-", namespace="ci", creator="y", instance="1"} 1
	`)
	ask := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), store)
	expressions := map[string]string{"Created by": readDashboard(t).queries()["Created by"]}
	for _, rule := range all(alertRules(t, store, ask, false)) {
		expressions[rule.Name()] = rule.Query().String()
	}
	for name, want := range map[string][]string{typeGrows: {"b"}, "Created by": {"a", "b"}} {
		vector, err := ask(t.Context(), expressions[name], time.Unix(0, 0))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var clusters []string
		for _, s := range vector {
			clusters = append(clusters, s.Metric.Get("cluster"))
		}
		if slices.Sort(clusters); !slices.Equal(clusters, want) {
			t.Errorf("%s: the clusters %q, want %q", name, clusters, want)
		}
	}
}

// incident is a failure of the exporter or of its server, and the alerts that fire.
type incident struct {
	simulation
	fires within
}

func incidents() map[string]incident {
	quiet := []pool{steady("run-", 12, 0.001)}
	return map[string]incident{
		"nothing":                       {simulation{pools: quiet}, nil},
		"the exporter away":             {simulation{pools: quiet, down: outage{start, never}}, within{missing: 20 * time.Minute}},
		"the exporter away for a while": {simulation{pools: quiet, down: outage{start, start + 2*time.Minute}}, nil},
		"the API server away":           {simulation{pools: quiet, server: outage{start, never}}, within{behind: 7 * time.Minute}},
		"the API server restarted":      {simulation{pools: quiet, server: outage{start, start + time.Minute}}, nil},
		"a type without permission":     {simulation{pools: quiet, skips: forbidden}, within{skipped: 20 * time.Minute}},
		"a type skipped for two reasons in turns": {
			simulation{pools: quiet, skips: forbidden, reasons: []census.Reason{census.Forbidden, census.Unreachable}}, within{skipped: 20 * time.Minute},
		},
		"a group without a server": {
			simulation{pools: quiet, skips: []census.Skipped{{Group: "dead.example", Reason: census.Undiscovered}}}, within{skipped: 20 * time.Minute},
		},
		"types that can't be discovered": {
			simulation{pools: quiet, skips: []census.Skipped{{Reason: census.Undiscovered}}}, within{skipped: 20 * time.Minute},
		},
		"never counted": {simulation{pools: quiet, notCounted: true}, within{notReady: 20 * time.Minute}},
		"300 prefixes":  {simulation{pools: idle(300)}, within{dropped: 2 * time.Hour}},
	}
}

// Each alert about the exporter fires once, in time, until its incident ends, and in no other incident.
func TestExporterAlerts(t *testing.T) {
	t.Parallel()
	for name, test := range incidents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.simulation
			s.lasts = 2 * time.Hour
			s.run(t)
			for a, f := range s.fired {
				if latest, expected := test.fires[a.name]; !expected || f.times != 1 || f.to > 0 || f.from-start > latest {
					t.Errorf("%s fired %d times, first at %s, at last until %s", a.name, f.times, f.from, f.to)
				}
				if words := strings.Join(strings.Fields(f.summary), " "); words != f.summary {
					t.Errorf("%s: %q lacks a word", a.name, f.summary)
				}
			}
			for fires := range test.fires {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(s.fired)), func(a alert) bool { return a.name == fires }) {
					t.Errorf("%s did not fire", fires)
				}
			}
		})
	}
}

// Each alert has a section in the page that its runbook_url names.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/troubleshooting/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for _, rule := range all(alertRules(t, nil, nil, true)) {
		alerting, is := rule.(*rules.AlertingRule)
		if !is {
			continue
		}
		const url = "https://github.com/kubectl-genname/kubectl-genname/blob/main/docs/troubleshooting/alerts.md#"
		if got := alerting.Annotations().Get("runbook_url"); got != url+strings.ToLower(rule.Name()) {
			t.Errorf("%s: %s, want %s", rule.Name(), got, url+strings.ToLower(rule.Name()))
		}
		sections = append(sections, rule.Name())
	}
	var has []string
	for _, match := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllSubmatch(page, -1) {
		has = append(has, string(match[1]))
	}
	if len(has) == 0 || !slices.Equal(has, sections) {
		t.Errorf("sections %q, alerts %q", has, sections)
	}
}

// The command that an alert suggests has no text of a tenant, and finds cluster-scoped objects too.
func TestSuggestedCommands(t *testing.T) {
	t.Parallel()
	const evil = "$(touch PWN)`touch PWN`;touch PWN;"
	audit := func(arguments ...string) []string {
		return append(append([]string{"genname", "audit"}, arguments...), "-A", "--sort-by", "last-24h", "--top", "20")
	}
	tests := []struct {
		prefix, namespace, resource string
		want                        []string
	}{
		{evil, "ci", "configmaps", audit("configmaps")},
		{"--yes", "ci", "jobs", audit("jobs")},
		{"run-", evil, "pods", audit("pods")},
		{"run-", "", "certificatesigningrequests", audit("certificatesigningrequests")},
		{"run-", "ci", evil, audit()},
		{"run-", "ci", "-x", audit()},
	}
	s := &simulation{lasts: day}
	for _, test := range tests {
		p := burst(test.prefix, 500, 18*time.Hour)
		p.namespace, p.resource = test.namespace, test.resource
		s.pools = append(s.pools, p)
	}
	branches := leak("", 0, 0.5, 18*time.Hour)
	branches.small, branches.resource = true, evil+evil
	s.pools = append(s.pools, branches)
	s.run(t)
	for _, test := range tests {
		for _, name := range []string{growsFast, grows} {
			description := s.fired[alert{name, test.resource}].description
			if strings.Contains(description, "in namespace") != (test.namespace != "") {
				t.Errorf("%s: %q, want a namespace: %t", name, description, test.namespace != "")
			}
			checkCommand(t, description, test.want)
		}
	}
	checkCommand(t, s.fired[alert{typeGrows, evil + evil}].description, audit())
}

// checkCommand runs the command of a description in a shell, and compares its arguments.
func checkCommand(t *testing.T, description string, want []string) {
	t.Helper()
	_, command, found := strings.Cut(description, "run: ")
	if !found {
		t.Fatalf("no command in %q", description)
	}
	dir := t.TempDir()
	shell := exec.CommandContext(t.Context(), "bash", "-c", `kubectl() { printf '%s\0' "$@"; }`+"\n"+command)
	shell.Dir = dir
	out, err := shell.CombinedOutput()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %q, want %q", err, got, want)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%q ran a command of the tenant: %v %v", command, files, err)
	}
}
