package monitoring

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// The times of the simulations.
const (
	never = time.Duration(math.MaxInt64)
	start = 5 * time.Minute // of the incident
)

// leak returns a pool whose names are created at a constant rate and never deleted.
func leak(prefix string, before, perSecond float64) pool {
	names := ramp(start, perSecond, never)
	return pool{namespace: "ci", prefix: prefix, names: sum(constant(before), names), creates: names}
}

// burst returns a pool with 3,000 names that are created within 30 s.
func burst(prefix string, before float64, from time.Duration) pool {
	names := ramp(from, 100, 30*time.Second)
	return pool{namespace: "ci", prefix: prefix, names: sum(constant(before), names), creates: names}
}

// steady returns a pool whose names are created and deleted at a constant rate.
func steady(prefix string, names, perSecond float64) pool {
	return pool{namespace: "ci", prefix: prefix, names: constant(names), creates: ramp(0, perSecond, never)}
}

// with sets the number of attempts of the server, and the number of generateNames.
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

// Each alert fires in time in its incident, and in no other.
func TestAlerts(t *testing.T) {
	const fast = "GeneratedNamesGrowFast"
	fires := func(names ...string) []string { return names }
	quiet := steady("run-", 12, 0.001)
	tested := map[string]bool{}
	for name, test := range map[string]struct {
		simulation
		fires  []string
		within time.Duration // after the start of the incident; 0 for any time
	}{
		"nothing much":                  {simulation{pools: []pool{quiet}, lasts: time.Hour}, nil, 0},
		"a leak in a new prefix":        {simulation{pools: []pool{quiet, leak("leak-", 0, 20)}, lasts: 10 * time.Minute}, fires(fast), 5 * time.Minute},
		"a leak in an old prefix":       {simulation{pools: []pool{leak("leak-", 50_000, 20)}, lasts: 10 * time.Minute}, fires(fast), 5 * time.Minute},
		"a leak among 300 prefixes":     {simulation{pools: append(idle(300), leak("leak-", 0, 20)), lasts: 10 * time.Minute}, fires(fast), 5 * time.Minute},
		"a net leak beside deletes":     {simulation{pools: []pool{{namespace: "ci", prefix: "net-", names: ramp(start, 20, never), creates: ramp(start, 60, never)}}, lasts: 10 * time.Minute}, fires(fast), 5 * time.Minute},
		"a leak and a restart":          {simulation{pools: []pool{leak("leak-", 0, 20)}, lasts: 15 * time.Minute, restarted: start + 6*time.Minute}, fires(fast), 5 * time.Minute},
		"a leak, long":                  {simulation{pools: []pool{leak("leak-", 0, 20)}, lasts: 100 * time.Minute}, fires(fast, "GeneratedNamesGrow", "GeneratedNamesMany"), 0},
		"a slow leak":                   {simulation{pools: []pool{leak("leak-", 100, 0.5)}, lasts: time.Hour}, fires("GeneratedNamesGrow"), 22 * time.Minute},
		"1,050 in ten minutes":          {simulation{pools: []pool{leak("leak-", 50_000, 1.75)}, lasts: 20 * time.Minute}, fires(fast), 6 * time.Minute},
		"108 in ten minutes":            {simulation{pools: []pool{leak("leak-", 500, 0.18)}, lasts: 40 * time.Minute}, fires("GeneratedNamesGrow"), 22 * time.Minute},
		"a burst in a new prefix":       {simulation{pools: []pool{quiet, burst("burst-", 0, start)}, lasts: time.Hour}, nil, 0},
		"a burst in an old prefix":      {simulation{pools: []pool{burst("burst-", 500, start)}, lasts: time.Hour}, nil, 0},
		"a burst between scrapes":       {simulation{pools: []pool{burst("burst-", 0, start+14*time.Second)}, lasts: time.Hour}, nil, 0},
		"churn with few names":          {simulation{pools: []pool{steady("churn-", 40, 20)}, lasts: 30 * time.Minute}, fires("GeneratedNamesChurn"), 0},
		"churn without retries":         {simulation{pools: []pool{steady("churn-", 15_000, 0.5).with(1, 1)}, lasts: time.Hour}, fires("GeneratedNameCreatesFail", "GeneratedNameCreatesWillFail"), 0},
		"a few creates without retries": {simulation{pools: []pool{steady("few-", 5000, 0.00002).with(1, 1)}, lasts: time.Hour}, nil, 0},
		"1,000 a day without retries":   {simulation{pools: []pool{steady("day-", 5000, 1000./86_400).with(1, 1)}, lasts: time.Hour}, fires("GeneratedNameCreatesWillFail"), 0},
		"1,000 a day with retries":      {simulation{pools: []pool{steady("day-", 5000, 1000./86_400)}, lasts: time.Hour}, nil, 0},
		"a truncated prefix":            {simulation{pools: []pool{steady(strings.Repeat("x", 58), 40, 0).with(8, 2)}, lasts: time.Hour}, fires("GeneratedNamePrefixTruncated"), 0},
		"300 prefixes":                  {simulation{pools: idle(300), lasts: 2 * time.Hour}, fires("GeneratedNamePrefixesDropped"), 0},
		"the exporter away":             {simulation{pools: []pool{quiet}, lasts: 30 * time.Minute, down: outage{start, never}}, fires("GeneratedNameExporterMissing"), 0},
		"the exporter away for a while": {simulation{pools: []pool{quiet}, lasts: 30 * time.Minute, down: outage{start, start + 2*time.Minute}}, nil, 0},
		"the API server away":           {simulation{pools: []pool{quiet}, lasts: 30 * time.Minute, server: outage{start, never}}, fires("GeneratedNameWatchBehind"), 0},
		"the API server restarted":      {simulation{pools: []pool{quiet}, lasts: 30 * time.Minute, server: outage{start, start + time.Minute}}, nil, 0},
		"a type without permission":     {simulation{pools: []pool{quiet}, lasts: 30 * time.Minute, skips: forbidden}, fires("GeneratedNameTypeSkipped"), 0},
		"never counted":                 {simulation{pools: []pool{quiet}, lasts: 30 * time.Minute, notCounted: true}, fires("GeneratedNameExporterNotReady"), 0},
	} {
		for _, alert := range test.fires {
			tested[alert] = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.simulation
			fired, ended, _ := s.run(t)
			if got := slices.Sorted(maps.Keys(fired)); !slices.Equal(got, slices.Sorted(slices.Values(test.fires))) {
				t.Errorf("fired: %v, want %q", fired, test.fires)
			}
			if len(ended) > 0 {
				t.Errorf("stopped firing before the end: %q", ended)
			}
			for alert, at := range fired {
				if test.within > 0 && at-start > test.within {
					t.Errorf("%s fired after %s", alert, at-start)
				}
			}
		})
	}
	var alerts int
	for _, group := range alertRules(t, nil, nil) {
		for _, rule := range group.AlertingRules() {
			if alerts++; !tested[rule.Name()] {
				t.Errorf("%s fires in no test", rule.Name())
			}
		}
	}
	if alerts == 0 {
		t.Error("there are no alerts")
	}
}

// The command that an alert suggests has no text of a tenant, and finds cluster-scoped objects too.
func TestSuggestedCommands(t *testing.T) {
	const evil = "$(touch PWN)`touch PWN`;touch PWN;"
	audit := func(arguments ...string) []string {
		return append(append([]string{"genname", "audit"}, arguments...), "-A", "--top", "20")
	}
	for name, test := range map[string]struct {
		prefix, namespace, resource string
		want                        []string
	}{
		"hostile prefix":        {evil, "ci", "configmaps", audit("configmaps")},
		"prefix with an option": {"--yes", "ci", "configmaps", audit("configmaps")},
		"hostile namespace":     {"run-", evil, "configmaps", audit("configmaps")},
		"cluster-scoped":        {"run-", "", "certificatesigningrequests", audit("certificatesigningrequests")},
		"hostile type":          {"run-", "ci", evil, audit()},
		"type like an option":   {"run-", "ci", "-x", audit()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := leak(test.prefix, 0, 20)
			p.namespace, p.resource = test.namespace, test.resource
			s := &simulation{pools: []pool{p}, lasts: time.Hour}
			s.run(t)
			for _, alert := range []string{"GeneratedNamesGrowFast", "GeneratedNamesGrow"} {
				text, command, found := strings.Cut(s.described[alert], "run: ")
				if !found || strings.Contains(text, "namespace") != (test.namespace != "") {
					t.Fatalf("%s: %q", alert, s.described[alert])
				}
				dir := t.TempDir()
				shell := exec.CommandContext(t.Context(), "bash", "-c", `kubectl() { printf '%s\0' "$@"; }`+"\n"+command)
				shell.Dir = dir
				out, err := shell.CombinedOutput()
				if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, test.want) {
					t.Errorf("%s: %v %q, want %q", alert, err, got, test.want)
				}
				if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
					t.Errorf("%s ran a command of the tenant: %v %v", alert, files, err)
				}
			}
		})
	}
}
