// Package exporter turns snapshots of a live engine into Prometheus metrics. The package chooses the prefixes that have
// series, and adds the metrics about the watch itself. The package does no I/O, and it has no HTTP server.
package exporter

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// The metrics of prefixes and of resource types.
var (
	prefixNames = newPrefixDesc("genname_prefix_names",
		"Names that exist under a prefix. 27^5 = 14348907 are possible.")
	prefixRoom = newPrefixDesc("genname_prefix_room_creates",
		"Further creates until the chance of any failure exceeds 0.1%, with the attempts in force.")
	prefixAttempts = newPrefixDesc("genname_prefix_attempts",
		"Attempts per create, by the server or by the client that picks the names. Absent if unknown.")
	prefixInfo = newPrefixDesc("genname_prefix_info",
		"Always 1. The creator is the kind of the controller or the field manager of the newest object. "+
			"Truncated is true if several generateNames share the prefix because the server truncates them.",
		"creator", "truncated")
	prefixCreates = newPrefixDesc("genname_prefix_creates_total",
		"Names created under a prefix since the exporter counts it.")
	prefixDeletes = newPrefixDesc("genname_prefix_deletes_total",
		"Names deleted under a prefix since the exporter counts it.")

	resourceNames = prometheus.NewDesc("genname_resource_names",
		"Names under all prefixes of a resource type.", []string{"group", "resource"}, nil)
	resourceCreates = prometheus.NewDesc("genname_resource_creates_total",
		"Names created under all prefixes of a resource type.", []string{"group", "resource"}, nil)
)

// Odds returns the number of attempts per create in a name pool, or nil if it is unknown, and the room.
type Odds func(pools.Pool) (attempts *int, room int64, err error)

// Collector is a prometheus.Collector that reads snapshots of an engine. Collector has no series until the engine has
// counted everything.
type Collector struct {
	mu        sync.Mutex // guards the rest
	source    Source     // nil until Follow was called
	odds      Odds
	left      func() []census.Skipped
	selection *selection
	ready     bool // everything was counted once
}

// New returns a collector that has series of at most 2*top prefixes. Prefixes with fewer than minCount names have no
// series.
func New(top int, minCount int64) *Collector {
	return &Collector{selection: newSelection(top, minCount)}
}

// Follow sets the engine that the collector reads, and the function that calculates the odds. left returns the resource
// types that discovery could not find or left out. The engine doesn't know them.
func (c *Collector) Follow(source Source, odds Odds, left func() []census.Skipped) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source, c.odds, c.left = source, odds, left
}

// Describe implements prometheus.Collector. It sends no descriptions, because the prefixes are not known in advance.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// State describes how much the engine has counted.
type State struct {
	Ready          bool             // everything was counted once
	Objects, Types int64            // the numbers of counted objects and types
	Skipped        []census.Skipped // types that are not counted, or not up to date
}

// Refresh takes a snapshot without a scrape, so that the choice of prefixes doesn't depend on the interval of scrapes.
// ok is false until the engine has counted everything.
func (c *Collector) Refresh() (s State, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, snapshot, ok := c.choose()
	if !ok {
		return s, false
	}
	for _, of := range snapshot.Resources {
		if of.Counted {
			s.Types++
		}
	}
	s.Ready, s.Objects, s.Skipped = c.ready, snapshot.Objects, slices.Concat(c.left(), snapshot.Skipped)
	return s, true
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows, snapshot, ok := c.choose()
	if !ok {
		metrics <- gauge(ready, 0)
		return
	}
	metrics <- gauge(ready, map[bool]float64{true: 1}[c.ready])
	metrics <- gauge(chosen, float64(len(rows)))
	metrics <- gauge(dropped, float64(c.selection.dropped))
	shown := map[schema.GroupResource]int64{}
	for _, row := range rows {
		shown[row.Pool.GroupResource] += row.Pool.Names
		c.collectPrefix(metrics, row)
	}
	for _, count := range snapshot.Resources {
		collectResource(metrics, count, shown[count.Resource.GroupResource()])
	}
	collectHealth(metrics, snapshot, c.left())
}

// choose takes a snapshot, and returns the rows of the chosen prefixes. ok is false until the engine has counted
// everything. The caller holds mu.
func (c *Collector) choose() (rows []pools.Row, snapshot live.Snapshot, ok bool) {
	if c.source == nil {
		return nil, snapshot, false
	}
	rows, snapshot = c.selection.choose(c.source)
	ok = !snapshot.Began.IsZero()
	c.ready = c.ready || ok && len(missing(snapshot)) == 0
	return rows, snapshot, ok
}

// collectPrefix emits the samples of one prefix.
func (c *Collector) collectPrefix(metrics chan<- prometheus.Metric, row pools.Row) {
	pool, counted := row.Pool.Key, row.Pool
	metrics <- prefixNames.metric(prometheus.GaugeValue, float64(counted.Names), pool)
	attempts, room, err := c.odds(counted)
	if err == nil && pool.Naming != object.ByStem { // for names by stem, a number of attempts per create has no meaning
		metrics <- prefixRoom.metric(prometheus.GaugeValue, float64(room), pool)
	}
	if attempts != nil {
		metrics <- prefixAttempts.metric(prometheus.GaugeValue, float64(*attempts), pool)
	}
	creator := counted.Creator.Kind
	if creator == "" {
		creator = counted.Creator.Manager
	}
	metrics <- prefixInfo.metric(prometheus.GaugeValue, 1, pool, creator, strconv.FormatBool(counted.RawPrefixes > 1))
	if row.Followed { // without a watch, these counters would be 0
		metrics <- prefixCreates.metric(prometheus.CounterValue, float64(row.Creates), pool)
		metrics <- prefixDeletes.metric(prometheus.CounterValue, float64(row.Deletes), pool)
	}
}

// other is the label of a sample that covers all prefixes without series.
const other = "(other)"

// prefixDesc describes a metric that has a sample for each prefix.
type prefixDesc struct{ *prometheus.Desc }

func newPrefixDesc(name, help string, more ...string) prefixDesc {
	labels := append([]string{"namespace", "group", "resource", "prefix", "naming"}, more...)
	return prefixDesc{prometheus.NewDesc(name, help, labels, nil)}
}

func (d prefixDesc) metric(kind prometheus.ValueType, value float64, p pools.Key, more ...string) prometheus.Metric {
	prefix := label(p.Prefix)
	if prefix == other {
		prefix = `\` + other // no escaped text begins like this
	}
	values := append(labelsOf(p.Namespace, p.Group, p.Resource), prefix, string(p.Naming))
	values = append(values, labelsOf(more...)...)
	return prometheus.MustNewConstMetric(d.Desc, kind, value, values...)
}

// others returns one sample for all prefixes of a resource type that have no series of their own.
func (d prefixDesc) others(value float64, r schema.GroupResource) prometheus.Metric {
	labels := append(labelsOf("", r.Group, r.Resource), other, "")
	return prometheus.MustNewConstMetric(d.Desc, prometheus.GaugeValue, value, labels...)
}

// labelsOf converts texts to valid label values, because a server can send any bytes, even as a namespace.
func labelsOf(texts ...string) (labels []string) {
	for _, text := range texts {
		labels = append(labels, label(text))
	}
	return labels
}

// label returns text as the value of a label. label escapes control characters, backslashes, and incomplete characters
// at a truncated end, so that different texts always have different labels.
func label(text string) string {
	unfit := func(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unfit) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
