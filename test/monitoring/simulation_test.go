package monitoring

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exporter"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// interval is the interval of scrapes and of rules. A real Prometheus scrapes more often, which would take a
// simulation longer.
const interval = 3 * time.Minute

// over is a quantity as a function of the time since the beginning.
type over func(at time.Duration) float64

func constant(value float64) over { return func(time.Duration) float64 { return value } }

// ramp returns a quantity that is 0 until a time, and then rises at a constant rate for a while.
func ramp(from time.Duration, perSecond float64, lasts time.Duration) over {
	return func(at time.Duration) float64 { return math.Floor(perSecond * min(max(at-from, 0), lasts).Seconds()) }
}

func sum(a, b over) over { return func(at time.Duration) float64 { return a(at) + b(at) } }

// pool is a prefix. creates can exceed names, because objects are deleted.
type pool struct {
	prefix         string
	resource       string // empty for configmaps
	namespace      string
	names, creates over
	attempts       int // 0 for 8
	generateNames  int
	alternates     bool // between two creators
	small          bool // many prefixes with few names each
}

// outage is a period in which a component is unreachable.
type outage struct{ from, to time.Duration }

func (a outage) at(t time.Duration) bool { return t >= a.from && t < a.to }

// simulation is a cluster whose exporter Prometheus scrapes.
type simulation struct {
	pools     []pool
	top       int // of the exporter; 0 for 200
	lasts     time.Duration
	down      outage        // the exporter
	server    outage        // the API server
	restarted time.Duration // when the exporter restarts at another address; 0 for never
	skips     []census.Skipped
	reasons   []census.Reason // of skips, in turns

	notCounted  bool
	unannotated bool // alerts have no texts, which take a third of a long simulation

	fired map[alert]firings

	at, began time.Duration // now, and when the exporter began to count
}

// alert is an alert about a resource type, or about the exporter.
type alert struct{ name, resource string }

// firings has the number of times that an alert fired, its first start, its end, and its last texts.
type firings struct {
	times                int
	from, to             time.Duration // to is 0 while it fires
	summary, description string
}

// epoch is the beginning.
var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func resourceOf(name string) census.Resource {
	return census.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: name}, Namespaced: true}
}

// forbidden are resource types that the user has no permission to list.
var forbidden = []census.Skipped{{Resource: "secrets", Reason: census.Forbidden}}

// Snapshot implements exporter.Source.
func (s *simulation) Snapshot(each func(pools.Row)) live.Snapshot {
	snapshot := live.Snapshot{At: epoch.Add(s.at)}
	types := map[string]*live.ResourceCount{}
	for _, p := range s.pools {
		row := p.row(s.at, s.began)
		row.At = snapshot.At
		total := types[p.resource]
		if total == nil {
			total = &live.ResourceCount{Resource: resourceOf(row.Pool.Resource), Counted: true}
			if s.server.at(s.at) {
				total.Behind = s.at - s.server.from
			}
			types[p.resource] = total
		}
		total.Names += row.Pool.Names
		total.Creates += row.Creates
		if !p.small {
			each(row)
		}
	}
	if s.notCounted {
		return snapshot
	}
	snapshot.Began, snapshot.Watched, snapshot.Skipped = epoch.Add(s.began), len(types), slices.Clone(s.skips)
	for i := range snapshot.Skipped {
		if len(s.reasons) > 0 {
			snapshot.Skipped[i].Reason = s.reasons[turn(s.at)%len(s.reasons)]
		}
	}
	for _, total := range types {
		snapshot.Types, snapshot.Resources = append(snapshot.Types, total.Resource), append(snapshot.Resources, *total)
	}
	return snapshot
}

// turn returns the number of whole five minutes before a time.
func turn(at time.Duration) int { return int(at / (5 * time.Minute)) }

// row returns the pool at a time. It counts creates and deletes from the time since.
func (p pool) row(at, since time.Duration) pools.Row {
	creates := p.creates(at) - p.creates(since)
	row := pools.Row{Followed: true, Since: epoch.Add(since), Creates: int64(creates)}
	row.Pool = pools.Pool{
		Key: pools.Key{Namespace: p.namespace, Prefix: p.prefix}, Names: int64(p.names(at)),
		RawPrefixes: max(p.generateNames, 1), Creator: object.Creator{Manager: "leaky-operator"},
	}
	row.Pool.Resource = cmp.Or(p.resource, "configmaps")
	if p.alternates && turn(at)%2 == 1 {
		row.Pool.Creator.Manager = "another-operator"
	}
	row.Deletes = int64(creates - p.names(at) + p.names(since))
	recent := p.creates(at) - p.creates(max(at-10*time.Minute, since))
	row.Weighed[1].Creates = recent
	return row
}

func (p pool) attemptsPerCreate() int {
	if p.attempts == 0 {
		return 8
	}
	return p.attempts
}

// odds implements exporter.Odds.
func (s *simulation) odds(of pools.Pool) (*int, int64, error) {
	at := slices.IndexFunc(s.pools, func(p pool) bool {
		return p.prefix == of.Prefix && cmp.Or(p.resource, "configmaps") == of.Resource
	})
	attempts := s.pools[at].attemptsPerCreate()
	return &attempts, 1000, nil
}

// scraper is a Prometheus that scrapes one exporter.
type scraper struct {
	*teststorage.TestStorage
	known map[string]labels.Labels // the series of the last scrape
}

// scrape stores the metrics of a registry, or a failed scrape.
func (p *scraper) scrape(t *testing.T, registry *prometheus.Registry, at time.Time, instance string) {
	t.Helper()
	appender := p.Appender(t.Context())
	store := func(l labels.Labels, v float64) {
		if _, err := appender.Append(0, l, at.UnixMilli(), v); err != nil {
			t.Fatal(err)
		}
	}
	now := map[string]labels.Labels{}
	if registry != nil {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				b := labels.NewBuilder(labels.EmptyLabels())
				for _, l := range m.GetLabel() {
					b.Set(l.GetName(), l.GetValue())
				}
				b.Set(model.MetricNameLabel, family.GetName())
				b.Set("instance", instance).Set("job", "genname-exporter")
				l := b.Labels()
				now[l.String()] = l
				store(l, m.GetGauge().GetValue()+m.GetCounter().GetValue())
			}
		}
	}
	for text, l := range p.known {
		if _, still := now[text]; !still {
			store(l, math.Float64frombits(value.StaleNaN))
		}
	}
	p.known = now
	if err := appender.Commit(); err != nil {
		t.Fatal(err)
	}
}

// alertRules loads the rules of the PrometheusRule, with or without their annotations.
func alertRules(t *testing.T, store storage.Storage, query rules.QueryFunc, annotated bool) []*rules.Group {
	t.Helper()
	manifest, err := os.ReadFile("../../deploy/exporter/prometheus-operator/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rule struct {
		Spec struct {
			Groups []struct {
				Name  string           `json:"name"`
				Rules []map[string]any `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(manifest, &rule); err != nil {
		t.Fatal(err)
	}
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			if !annotated {
				delete(r, "annotations")
			}
		}
	}
	groups, err := yaml.Marshal(rule.Spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, groups, 0o600); err != nil {
		t.Fatal(err)
	}
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: query, Appendable: store, Queryable: store, Context: t.Context(),
		Logger: slog.New(slog.DiscardHandler), Parser: parser.NewParser(parser.Options{}),
		NotifyFunc:           func(context.Context, string, ...*rules.Alert) {},
		NameValidationScheme: model.UTF8Validation,
	})
	loaded, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, file)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []*rules.Group
	for _, group := range loaded {
		all = append(all, group)
	}
	return all
}

// run scrapes and evaluates the rules until the end. run returns a function that queries the storage at the end.
func (s *simulation) run(t *testing.T) (query func(string) promql.Vector) {
	t.Helper()
	scraper := &scraper{TestStorage: teststorage.New(t)}
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	ask := rules.EngineQueryFunc(engine, scraper.TestStorage)
	groups := alertRules(t, scraper.TestStorage, ask, !s.unannotated)
	instance := "10.0.0.1:9810"
	registry := s.start()
	s.fired = map[alert]firings{}
	for s.at = 0; s.at <= s.lasts; s.at += interval {
		if s.restarted > 0 && s.at == s.restarted {
			s.began, instance = s.at, "10.0.0.2:9810"
			registry = s.start()
		}
		up := registry
		if s.down.at(s.at) {
			up = nil
		}
		scraper.scrape(t, up, epoch.Add(s.at), instance)
		for _, group := range groups { // between two scrapes
			group.Eval(t.Context(), epoch.Add(s.at+interval/2))
		}
		s.note(t, groups)
	}
	return func(text string) promql.Vector {
		t.Helper()
		vector, err := ask(t.Context(), text, epoch.Add(s.lasts+interval/2))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return vector
	}
}

// note records the alerts that fire now.
func (s *simulation) note(t *testing.T, groups []*rules.Group) {
	t.Helper()
	now := map[alert]bool{}
	for _, rule := range all(groups) {
		if err := rule.LastError(); err != nil {
			t.Fatalf("%s: %v", rule.Name(), err)
		}
		alerting, is := rule.(*rules.AlertingRule)
		if !is {
			continue
		}
		alerting.ForEachActiveAlert(func(active *rules.Alert) {
			if active.State != rules.StateFiring {
				return
			}
			a := alert{rule.Name(), active.Labels.Get("resource")}
			now[a] = true
			f, before := s.fired[a]
			if !before {
				f.from = s.at
			}
			if !before || f.to > 0 {
				f.times++
			}
			f.to, f.summary, f.description = 0, active.Annotations.Get("summary"), active.Annotations.Get("description")
			s.fired[a] = f
		})
	}
	for a, f := range s.fired {
		if !now[a] && f.to == 0 {
			f.to = s.at
			s.fired[a] = f
		}
	}
}

// all returns the rules of groups.
func all(groups []*rules.Group) (of []rules.Rule) {
	for _, group := range groups {
		of = append(of, group.Rules()...)
	}
	return of
}

// start returns a registry with a new exporter.
func (s *simulation) start() *prometheus.Registry {
	collector := exporter.New(cmp.Or(s.top, 200), 10)
	collector.Follow(s, s.odds, func() []census.Skipped { return nil })
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	return registry
}
