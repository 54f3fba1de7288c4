package exporter

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

func someOdds(pools.Pool) (*int, int64, error) { return nil, 1, nil }

func noneLeft() []census.Skipped { return nil }

// sample is one sample of a metric.
type sample struct {
	labels map[string]string
	value  float64
}

// gather returns all samples of a collector by the name of the metric. The registry fails if a sample appears twice.
func gather(t interface{ Fatal(...any) }, c *Collector) map[string][]sample {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]sample{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			s := sample{map[string]string{}, m.GetGauge().GetValue() + m.GetCounter().GetValue()}
			for _, label := range m.GetLabel() {
				s.labels[label.GetName()] = label.GetValue()
			}
			all[family.GetName()] = append(all[family.GetName()], s)
		}
	}
	return all
}

// of returns the value of the sample of a prefix.
func of(samples []sample, prefix string) string {
	for _, s := range samples {
		if s.labels["prefix"] == prefix {
			return fmt.Sprint(s.value)
		}
	}
	return "none"
}

// Before the first count is complete, the only metric shows that the exporter is not ready.
func TestNotReady(t *testing.T) {
	c := New(10, 10)
	for _, source := range []Source{nil, notCounted{}} {
		if source != nil {
			c.Follow(source, someOdds, noneLeft)
		}
		c.Refresh()
		if got := gather(t, c); len(got) != 1 || got["genname_exporter_ready"][0].value != 0 {
			t.Errorf("%T: %v", source, got)
		}
	}
}

// notCounted is an engine that has not counted everything.
type notCounted struct{}

func (notCounted) Snapshot(each func(pools.Row)) live.Snapshot {
	f := newFakeEngine()
	f.set("run-", 20, 0)
	s := f.Snapshot(each)
	s.Began = time.Time{}
	return s
}

// Collect emits the samples of a prefix, of a resource type and of the watch.
func TestCollect(t *testing.T) {
	f := newFakeEngine()
	f.set("run-", 20, 0)
	row := f.rows["run-"]
	row.Creates, row.Deletes = 7, 3
	row.Pool.Creator = object.Creator{Kind: "CronJob", Name: "nightly"}
	f.rows["run-"] = row
	row.Pool.Prefix, row.Pool.RawPrefixes, row.Pool.Names = "long-", 2, 11
	row.Pool.Creator = object.Creator{Manager: "team\n"}
	f.rows["long-"] = row
	f.total.Names, f.total.Creates, f.total.Gaps, f.total.Restarts, f.total.Events = 36, 9, 1, 2, 30
	f.total.Behind = 90 * time.Second
	f.skips = []census.Skipped{
		{Resource: "secrets", Reason: census.Forbidden, Namespace: "a"}, {Resource: "secrets", Reason: census.Forbidden, Namespace: "b"},
	}
	attempts := 8
	odds := func(pools.Pool) (*int, int64, error) { return &attempts, 1e6, nil }
	c := New(10, 10)
	c.Follow(f, odds, func() []census.Skipped {
		return []census.Skipped{{Group: "dead.example", Reason: census.Unreachable}, {Resource: "x", Reason: census.Excluded}}
	})
	want, err := os.Open("testdata/metrics.prom")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = want.Close() }()
	if err := testutil.CollectAndCompare(c, want); err != nil {
		t.Error(err)
	}
	problems, err := testutil.CollectAndLint(c)
	if err != nil || len(problems) > 0 {
		t.Errorf("problems %v, want none: %v", problems, err)
	}
}

// A type without prefixes and events has one series. After its first event, it has all series and keeps them.
func TestSeriesOfAQuietType(t *testing.T) {
	f, c := newFakeEngine(), New(10, 10)
	c.Follow(f, someOdds, noneLeft)
	count := func() (series int) {
		for _, samples := range gather(t, c) {
			for _, s := range samples {
				if s.labels["resource"] == "jobs" {
					series++
				}
			}
		}
		return series
	}
	if got := count(); got != 1 {
		t.Errorf("%d series of a type without prefixes, want 1", got)
	}
	f.total.Events = 1
	if got := count(); got != 7 {
		t.Errorf("%d series of a type with an event, want 7", got)
	}
}

// A server can send any bytes as a namespace, a group, a type or a creator.
func TestAnyBytes(t *testing.T) {
	const bytes = "a\xff\n"
	f := newFakeEngine()
	f.total.Resource.Group, f.total.Resource.Resource = bytes, bytes
	f.set("run-", 20, 0)
	row := f.rows["run-"]
	row.Pool.Namespace, row.Pool.GroupResource, row.Pool.Creator.Kind = bytes, f.total.Resource.GroupResource(), bytes
	f.rows["run-"] = row
	f.skips = []census.Skipped{{Group: bytes, Resource: bytes, Reason: census.Forbidden}}
	c := New(10, 10)
	c.Follow(f, someOdds, noneLeft)
	for name, samples := range gather(t, c) {
		for _, s := range samples {
			for label, value := range s.labels {
				if strings.HasPrefix(value, "a") && value != `a\xff\n` {
					t.Errorf("%s: %s=%q", name, label, value)
				}
			}
		}
	}
}

// The exporter is ready if every type that it has permission to read was read, and at least one. Then it stays ready.
func TestReady(t *testing.T) {
	forbidden := census.Skipped{Resource: "secrets", Reason: census.Forbidden}
	for name, test := range map[string]struct {
		counted bool
		skips   []census.Skipped
		want    float64
	}{
		"all":                         {true, nil, 1},
		"one is forbidden":            {true, []census.Skipped{forbidden}, 1},
		"one is missing":              {true, []census.Skipped{{Resource: "x", Reason: census.NotFound}}, 1},
		"nothing":                     {false, []census.Skipped{forbidden}, 0},
		"one has too many prefixes":   {true, []census.Skipped{{Resource: "x", Reason: census.Crowded}}, 1},
		"one did not respond in time": {true, []census.Skipped{{Resource: "x", Reason: census.TimedOut}}, 0},
	} {
		f := newFakeEngine()
		f.total.Counted, f.skips = test.counted, test.skips
		c := New(10, 10)
		c.Follow(f, someOdds, noneLeft)
		if got := gather(t, c)["genname_exporter_ready"]; got[0].value != test.want {
			t.Errorf("%s: %v, want %v", name, got[0].value, test.want)
		}
		if state, ok := c.Refresh(); !ok || (state.Types == 1) != test.counted {
			t.Errorf("%s: %d types are counted", name, state.Types)
		}
		f.total.Counted, f.skips = true, nil
		gather(t, c)
		f.skips = []census.Skipped{{Resource: "x", Reason: census.TimedOut}}
		if got := gather(t, c)["genname_exporter_ready"]; got[0].value != 1 {
			t.Errorf("%s: no longer ready", name)
		}
	}
}

// Different prefixes have different labels.
func TestLabels(t *testing.T) {
	f, c := newFakeEngine(), New(10, 10)
	c.Follow(f, someOdds, noneLeft)
	for _, text := range []string{"a\nb", `a\nb`, `a\\nb`, "\xc3", `\xc3`, "é", "(other)", `\(other)`, `"`, `\"`} {
		f.set(text, 20, 0)
	}
	seen := map[string]bool{}
	for _, s := range gather(t, c)["genname_prefix_room_creates"] {
		seen[s.labels["prefix"]] = true
	}
	if len(seen) != 10 || seen[other] {
		t.Errorf("labels %v, want 10 without %s", seen, other)
	}
}

// A prefix has no counters while its events aren't counted. Otherwise the counters would drop to 0 and rise again, and
// Prometheus would report these changes as creates.
func TestCountersOfAnUnwatchedType(t *testing.T) {
	f, c := newFakeEngine(), New(1, 10)
	c.Follow(f, someOdds, noneLeft)
	f.set("run-", 20, 0)
	for _, followed := range []bool{true, false, true} {
		row := f.rows["run-"]
		row.Followed = followed
		row.Creates = map[bool]int64{true: 5}[followed]
		f.rows["run-"] = row
		got := gather(t, c)
		want := map[bool]string{true: "5", false: "none"}[followed]
		if creates := of(got["genname_prefix_creates_total"], "run-"); creates != want {
			t.Errorf("%s creates, want %s", creates, want)
		}
		if names := of(got["genname_prefix_names"], "run-"); names != "20" {
			t.Errorf("%s names", names)
		}
	}
}

// manyTypes is a source with many types and prefixes.
type manyTypes struct{ types, prefixed, prefixes, first int }

func (m manyTypes) Snapshot(each func(pools.Row)) live.Snapshot {
	s := live.Snapshot{At: began.Add(time.Hour), Began: began}
	for i := range m.types {
		r := census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: fmt.Sprint("type", i)}}
		count := live.ResourceCount{Resource: r, Counted: true}
		if i < m.prefixed {
			count.Names, count.Events = 1000, 1
		}
		s.Types, s.Resources = append(s.Types, r), append(s.Resources, count)
	}
	for i := range m.prefixes {
		r := s.Types[i%m.prefixed].GroupResource()
		for _, naming := range []object.Naming{object.FromGenerateName, object.ByStem} {
			row := pools.Row{Followed: true, Since: began, At: s.At}
			row.Pool = pools.Pool{Key: pools.Key{GroupResource: r, Namespace: "ci", Prefix: fmt.Sprint("p", m.first+i, "-"), Naming: naming}, Names: int64(20 + i)}
			row.Weighed[lately].Creates = float64(m.prefixes - i)
			each(row)
		}
	}
	return s
}

// The page Monitor promises at most about 2,500 series, plus one for each type without prefixes. A generateName and a
// stem with the same prefix have different labels, because equal labels fail the whole scrape.
func TestNumberOfSeries(t *testing.T) {
	attempts := 8
	odds := func(pools.Pool) (*int, int64, error) { return &attempts, 1, nil }
	for _, prefixed := range []int{5, 10} {
		c := New(200, 10)
		c.Follow(manyTypes{372, prefixed, 5_000, 0}, odds, noneLeft)
		c.Refresh()
		c.Follow(manyTypes{372, prefixed, 5_000, 5_000}, odds, noneLeft) // the earlier prefixes keep their series
		c.Refresh()
		c.Follow(manyTypes{372, prefixed, 10_000, 0}, odds, noneLeft)
		series := 0
		for _, samples := range gather(t, c) {
			series += len(samples)
		}
		if most := 2_500 + 372 - prefixed; series > most || series < 2_500 {
			t.Errorf("%d types with prefixes: %d series, want at most %d", prefixed, series, most)
		}
		t.Logf("%d types with prefixes of 372: %d series", prefixed, series)
	}
}
