package exporter

import (
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exporter"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// searchEvery is the interval at which the exporter searches for named types that the server doesn't have.
const searchEvery = time.Minute

// watch counts everything, and follows the changes until ctx is done. watch waits for a server that is unreachable.
// When a named type that was missing appears, watch counts everything again.
func (o *options) watch(ctx context.Context, collector *exporter.Collector) error {
	wait := cluster.ServerWait{For: apistatus.NoEnd, Print: o.log}
	c, err := cluster.New(ctx, o.conn.Factory, &o.serverAttempts, wait)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(pools.GarbagePercent))
	go c.RefreshRetries(ctx)
	for ctx.Err() == nil {
		if err := o.watchTypes(ctx, c, collector); err != nil {
			return err
		}
	}
	return nil
}

// watchTypes counts the existing types until ctx is done or another named type appears.
func (o *options) watchTypes(ctx context.Context, c *cluster.Cluster, collector *exporter.Collector) error {
	known, skipped, absent, err := o.resolve(ctx, c)
	if err != nil {
		return c.Suggest(ctx, err)
	}
	types := c.Types(known, skipped, len(o.types) > 0, o.scope.Namespace)
	odds := audit.NewOdds(c.RetriesOf)
	c.Retries() // fetches them now; otherwise the engine would wait for them
	engine := o.newEngine(ctx, c, types, known)
	collector.Follow(engine, odds.Room, func() []census.Skipped { return slices.Concat(types.Skipped(), absent) })
	ctx, end := context.WithCancel(ctx)
	defer end()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-engine.Counted():
			o.report(collector.Refresh())
		}
	})
	running.Go(func() {
		for len(absent) > 0 && apistatus.Sleep(ctx, searchEvery) == nil {
			if mapper, err := o.conn.Factory.ToRESTMapper(); err == nil {
				meta.MaybeResetRESTMapper(mapper) // the mapper keeps the types that it has discovered
			}
			_, _, still, err := o.resolve(ctx, c)
			appeared := func(a census.Skipped) bool { return !slices.Contains(still, a) }
			if err == nil && slices.ContainsFunc(absent, appeared) {
				end()
			}
		}
	})
	err = engine.Run(ctx)
	end()
	return err
}

// resolve returns the resource types to count, the types that discovery leaves out, and the named types that the
// server doesn't have. If the server has none of the named types, resolve returns an error.
func (o *options) resolve(
	ctx context.Context, c *cluster.Cluster,
) (known []census.Resource, skipped, absent []census.Skipped, err error) {
	if len(o.types) == 0 {
		known, skipped, err = c.Resources(ctx, nil, o.scope.Namespace)
		return known, skipped, nil, err
	}
	var missing error
	for _, name := range strings.Split(strings.Join(o.types, ","), ",") {
		found, excluded, err := c.Resources(ctx, []string{name}, o.scope.Namespace)
		switch {
		case errors.As(err, new(census.NoSuchType)):
			missing = err
			absent = append(absent, census.Skipped{Resource: name, Reason: census.NotFound, Message: err.Error()})
		case err != nil:
			return nil, nil, nil, err
		default:
			skipped = append(skipped, excluded...)
			isKnown := func(r census.Resource) bool { return census.Contains(known, r) }
			known = append(known, slices.DeleteFunc(found, isKnown)...)
		}
	}
	if len(known) == 0 && missing != nil {
		return nil, nil, nil, missing
	}
	return known, skipped, absent, nil
}

func (o *options) newEngine(
	ctx context.Context, c *cluster.Cluster, types *cluster.Types, known []census.Resource,
) *live.Engine {
	engine := live.New(census.Scanner{
		Config: c.Config, Version: c.EmulatedVersion(), MinCount: o.minCount,
		Unreachable: cluster.ServerWait{For: apistatus.NoEnd, Print: o.log}.Report,
	})
	engine.Types, engine.Namespace, engine.Named = known, o.scope.Namespace, len(o.types) > 0
	engine.MinCount, engine.Discover, engine.ClockSkew = o.minCount, types.Discover, c.ClockSkew(ctx)
	engine.Notify = o.notice
	return engine
}

// notice prints a notice. A type that is gone isn't counted again.
func (o *options) notice(n live.Notice) {
	o.log(scan.NoticeText(n))
	o.reporting.Lock()
	defer o.reporting.Unlock()
	if n.Type == live.Vanished {
		delete(o.skipped, humanize.Scope(n.Resource.Group, n.Resource.Resource, ""))
	}
}

// report prints the changes since the last report: types that are no longer counted, types that are counted again, and
// the end of the first count. complete is false until then.
func (o *options) report(state exporter.State, complete bool) {
	o.reporting.Lock()
	defer o.reporting.Unlock()
	if !complete {
		return
	}
	now := map[string][]census.Reason{}
	var forbidden []string
	for _, s := range state.Skipped {
		name := humanize.Scope(s.Group, s.Resource, "")
		switch {
		case slices.Contains(now[name], s.Reason):
			continue // in another namespace
		case s.Reason == census.Excluded, s.Reason == census.Crowded, slices.Contains(o.skipped[name], s.Reason):
		case s.Reason == census.Forbidden:
			forbidden = append(forbidden, name)
		default:
			o.log(terminal.Warningf("%s is not counted: %s", name, s.Message))
		}
		now[name] = append(now[name], s.Reason)
	}
	if len(forbidden) > 0 {
		o.log(terminal.Warningf("%s not counted, because the exporter needs permission to list and watch: %s",
			humanize.Count(len(forbidden), "type"), strings.Join(forbidden, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(o.skipped)) {
		if now[name] == nil {
			o.log(terminal.Sprintf("%s is counted again", name))
		}
	}
	o.skipped = now
	if state.Ready && !o.isReady.Swap(true) {
		o.log(terminal.Sprintf("Counted %s of %s. The exporter is ready.",
			humanize.Count(state.Objects, "object"), humanize.Count(state.Types, "type")))
	}
}
