package exporter

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
)

var ofResource = []string{"group", "resource"}

// The metrics about the watch itself.
var (
	ready = prometheus.NewDesc("genname_exporter_ready",
		"1 once every resource type has been counted that the exporter has permission to list, else 0.", nil, nil)
	chosen = prometheus.NewDesc("genname_exporter_prefixes",
		"Prefixes that have series.", nil, nil)
	dropped = prometheus.NewDesc("genname_exporter_prefixes_dropped",
		"Prefixes that have no series because others have more names or more creates.", nil, nil)
	watches = prometheus.NewDesc("genname_watches",
		"Resource types by how they are counted: watched, quiet (no prefixes, only their number is checked), "+
			"or unwatched (listed repeatedly, because they can't be watched).", []string{"state"}, nil)
	skipped = prometheus.NewDesc("genname_resource_skipped",
		"Always 1. The resource type, or an API group if resource is empty, is not counted or not up to date.",
		[]string{"group", "resource", "reason"}, nil)
	lag = prometheus.NewDesc("genname_watch_lag_seconds",
		"Time since the watch of a resource type failed. 0 while the watch works.", ofResource, nil)
	restarts = prometheus.NewDesc("genname_watch_restarts_total",
		"Failed watches of a resource type.", ofResource, nil)
	gaps = prometheus.NewDesc("genname_watch_gaps_total",
		"How often a resource type was counted again, because not all events could be read. "+
			"Creates and deletes are lower bounds then.", ofResource, nil)
	events = prometheus.NewDesc("genname_watch_events_total",
		"Events read from the watch of a resource type.", ofResource, nil)
)

// missing returns the skipped types that the exporter should be able to count. If no type was counted, it returns all
// skipped types.
func missing(s live.Snapshot) (all []census.Skipped) {
	for _, skip := range s.Skipped {
		switch skip.Reason {
		case census.Forbidden, census.Unauthorized, census.NotFound, census.NotListable,
			census.Excluded, census.Undiscovered, census.Crowded:
		default:
			all = append(all, skip)
		}
	}
	if !slices.ContainsFunc(s.Resources, func(r live.ResourceCount) bool { return r.Counted }) {
		return append(all, s.Skipped...)
	}
	return all
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labelsOf(labels...)...)
}

func counter(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, labelsOf(labels...)...)
}

// collectResource emits the samples of one resource type. shown is the number of its names in prefixes that have
// series. A cluster can have hundreds of types without prefixes. So such a type has only one series, the number of
// names. Alerts calculate growth from it.
func collectResource(metrics chan<- prometheus.Metric, count live.ResourceCount, shown int64) {
	r := count.Resource.GroupResource()
	if count.Counted {
		metrics <- gauge(resourceNames, float64(count.Names), r.Group, r.Resource)
	}
	if hadNone(count) {
		return
	}
	if count.Counted {
		metrics <- prefixNames.others(float64(max(count.Names-shown, 0)), r)
	}
	metrics <- counter(resourceCreates, float64(count.Creates), r.Group, r.Resource)
	metrics <- gauge(lag, count.Behind.Seconds(), r.Group, r.Resource)
	metrics <- counter(restarts, float64(count.Restarts), r.Group, r.Resource)
	metrics <- counter(gaps, float64(count.Gaps), r.Group, r.Resource)
	metrics <- counter(events, float64(count.Events), r.Group, r.Resource)
}

// hadNone reports whether a type has had no prefix and no event since the exporter started.
func hadNone(count live.ResourceCount) bool {
	return count == live.ResourceCount{Resource: count.Resource, Counted: count.Counted}
}

// collectHealth emits the samples about all resource types.
func collectHealth(metrics chan<- prometheus.Metric, s live.Snapshot, left []census.Skipped) {
	for state, types := range map[string]int{"watched": s.Watched, "quiet": s.Quiet, "unwatched": s.Unwatched} {
		metrics <- gauge(watches, float64(types), state)
	}
	type key struct {
		schema.GroupResource
		reason census.Reason
	}
	seen := map[key]bool{}
	for _, list := range [][]census.Skipped{s.Skipped, left} {
		for _, skip := range list {
			k := key{schema.GroupResource{Group: skip.Group, Resource: skip.Resource}, skip.Reason}
			if skip.Reason == census.Excluded || seen[k] {
				continue
			}
			seen[k] = true
			metrics <- gauge(skipped, 1, k.Group, k.Resource, string(k.reason))
		}
	}
}
