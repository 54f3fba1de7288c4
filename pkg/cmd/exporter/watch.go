package exporter

import (
	"context"
	"runtime/debug"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exporter"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/exporter/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
)

// garbagePercent is the limit of garbage, in percent of the memory in use. The counts stay
// in use, and little garbage is made.
const garbagePercent = 25

// watch counts everything, and follows the changes until ctx is done. It waits for a server
// that is unreachable.
func (o *options) watch(ctx context.Context, collector *exporter.Collector, ready func()) error {
	patience := cluster.Patience{For: cluster.Forever, Print: func(line string) { o.log("%s", line) }}
	c, err := cluster.New(ctx, o.conn.Factory, &o.serverAttempts, patience)
	if err != nil {
		return err
	}
	known, skipped, err := c.Resources(ctx, o.types, o.namespace)
	if err != nil {
		return err
	}
	types := c.Types(known, skipped, len(o.types) > 0, o.namespace)
	odds := audit.NewOdds(c.RetriesOf)
	c.Retries() // the engine asks for them while all else waits
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	engine := o.newEngine(ctx, c, types)
	engine.Chance = odds.NextFails
	collector.Follow(engine, odds.Room, types.Skipped)
	go func() {
		select {
		case <-ctx.Done():
		case <-engine.Counted():
			o.counted(engine, types)
			ready()
		}
	}()
	return engine.Run(ctx)
}

// newEngine returns the engine of the exporter.
func (o *options) newEngine(ctx context.Context, c *cluster.Cluster, types *cluster.Types) *live.Engine {
	engine := live.New(census.Scanner{
		Config: c.Config, Version: c.ListsLike(), MinCount: o.minCount,
		Absent: cluster.Patience{For: cluster.Forever, Print: func(line string) { o.log("%s", line) }}.Report,
	})
	engine.Types, engine.Namespace, engine.Named = types.Known(), o.namespace, len(o.types) > 0
	engine.MinCount, engine.Discover, engine.Ahead = o.minCount, types.Discover, c.Ahead(ctx)
	engine.Notify = o.notice
	return engine
}

// counted prints that the first count is complete, and the types that it skipped.
func (o *options) counted(engine *live.Engine, types *cluster.Types) {
	snapshot := engine.Snapshot(func(live.Row) {})
	var forbidden []string
	for _, list := range [][]census.Skipped{types.Skipped(), snapshot.Skipped} {
		for _, s := range list {
			name := humanize.Scope(s.Group, s.Resource, "")
			switch s.Reason {
			case census.Excluded:
			case census.Forbidden:
				forbidden = append(forbidden, name)
			default:
				o.log(messages.Skipped, name, s.Message)
			}
		}
	}
	if n := len(forbidden); n > 0 {
		o.log(messages.Forbidden, humanize.Count(n, "type"), strings.Join(forbidden, ", "))
	}
	o.log(messages.Counted, humanize.Count(snapshot.Objects, "object"), humanize.Count(len(snapshot.Types), "type"))
}

// notice prints a notice of the engine.
func (o *options) notice(n live.Notice) {
	resource := n.Resource.String()
	switch n.Type {
	case live.Gap:
		o.log(messages.Gap, resource, n.Cause)
	case live.Unwatched:
		o.log(messages.Unwatched, resource, n.Cause)
	case live.Watched:
		o.log(messages.WatchedAgain, resource)
	case live.Appeared:
		o.log(messages.Appeared, resource)
	case live.Vanished:
		o.log(messages.Vanished, resource)
	case live.Crowded:
		o.log("%s has more than %d prefixes: names under new prefixes count as (other)", resource, live.MaxPrefixes)
	case live.Undiscovered:
		o.log(messages.Undiscovered, n.Cause)
	}
}
