package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
)

const (
	growsFast = "GeneratedNamesGrowFast"
	churns    = "GeneratedNamesChurn"
	behind    = "GeneratedNameWatchBehind"
)

// incident is a load or a failure in its own namespace, and the alert for it.
type incident struct {
	namespace, title string
	before           int           // names that exist under the prefix before
	at               time.Duration // since the start of all incidents
	loads            []load        // one after the other
	fires            string        // the alert; empty for none
	within           time.Duration
}

// incidentsOf returns the incidents that run at the same time.
func incidentsOf(crowdNames int) []incident {
	leaks := func(namespace string, perSecond float64) []load {
		return []load{{namespace: namespace, prefix: namespace + "-", perSecond: perSecond, lasts: 6 * time.Minute}}
	}
	burst := func(namespace string) []load {
		return []load{{namespace: namespace, prefix: namespace + "-", perSecond: 100, lasts: 30 * time.Second}}
	}
	// When its alert is due, it has fewer names than each of the 300 prefixes.
	hidden := min(20, float64(crowdNames)/500)
	return []incident{
		{
			namespace: "leak", title: "leak of 20 per second", loads: leaks("leak", 20),
			fires: growsFast, within: 28 * time.Minute,
		},
		{
			namespace: "hidden", loads: leaks("hidden", hidden),
			title: fmt.Sprintf("leak of %.2g per second beside 300 prefixes of %s names", hidden, humanize.Grouped(crowdNames)),
			fires: growsFast, within: 28 * time.Minute,
		},
		{
			namespace: "burst-new", title: "burst of 3,000 within 30 s in a new prefix", loads: burst("burst-new"),
			fires: growsFast, within: 24 * time.Minute,
		},
		{
			namespace: "burst-old", title: "burst of 3,000 within 30 s in a prefix of 2,000 names",
			before: 2000, at: time.Minute, loads: burst("burst-old"), fires: growsFast, within: 24 * time.Minute,
		},
		{
			namespace: "churn", title: "5 creates per second, each deleted after 5 s", fires: churns, within: 42 * time.Minute,
			loads: []load{{namespace: "churn", prefix: "churn-", perSecond: 5, lasts: 42 * time.Minute, lives: 5 * time.Second}},
		},
		{
			namespace: "restart", title: "leak of 20 per second, with a new exporter after 90 s", at: 5 * time.Minute,
			loads: leaks("restart", 20), fires: growsFast, within: 24 * time.Minute,
		},
		{namespace: "comet", title: "prefix that enters and leaves the top"},
		{namespace: "wave", title: "300 short-lived prefixes of 22 to 50 names"},
		{namespace: "", title: "API server unreachable", fires: behind, within: 390 * time.Second},
	}
}

// replacedAfter is when a new exporter takes the place of the first, since the leak in the
// namespace restart.
const replacedAfter = 90 * time.Second

// trial is one run of all incidents.
type trial struct {
	*lab
	prometheus *prometheus
	incidents  []incident
	crowd      crowd
	began      time.Time // the incidents
	stoppedAt  time.Time // the API server
	result     result
}

// incidents carries out all incidents, and returns the section of the document.
func incidents(ctx context.Context, s settings) (text string, err error) {
	err = onLab(ctx, s, func(l *lab) (err error) {
		t := &trial{lab: l, incidents: incidentsOf(s.crowd), crowd: crowd{"crowd", 300, s.crowd}}
		defer func() {
			if t.prometheus != nil {
				err = errors.Join(err, t.prometheus.stop())
			}
		}()
		if err := t.run(ctx); err != nil {
			return err
		}
		text, err = t.verdict(ctx)
		return err
	})
	return text, err
}

func (t *trial) run(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	t.began = time.Now()
	group, running := errgroup.WithContext(ctx)
	for _, i := range t.incidents {
		group.Go(func() error { return t.carryOut(running, i) })
	}
	group.Go(func() error { return t.comet(running) })
	group.Go(func() error { return t.measureExporter(running) })
	group.Go(func() error { return t.replaceDuringLeak(running) })
	for _, i := range t.incidents {
		group.Go(func() error {
			if i.fires != behind {
				sleep(running, i.at+i.within)
			}
			return running.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := t.compareCounts(ctx); err != nil {
		return err
	}
	return t.stopServer(ctx)
}

// carryOut creates the objects of an incident.
func (t *trial) carryOut(ctx context.Context, i incident) error {
	sleep(ctx, i.at)
	for _, load := range i.loads {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		logf("%s: %s", i.namespace, i.title)
		if err := load.run(ctx, t.cluster); err != nil {
			return fmt.Errorf("%s: %w", i.title, err)
		}
	}
	return nil
}

// prepare makes the namespaces and the names that exist before.
func (t *trial) prepare(ctx context.Context) error {
	if err := t.crowd.store(ctx, t.cluster); err != nil {
		return err
	}
	for _, i := range append(slices.Clone(t.incidents), incident{namespace: "load"}) {
		if i.namespace == "" {
			continue
		}
		if err := t.makeNamespace(ctx, i.namespace); err != nil {
			return err
		}
		if i.before > 0 {
			all := load{namespace: i.namespace, prefix: i.namespace + "-", perSecond: 200, lasts: time.Duration(i.before) * time.Second / 200}
			if err := all.run(ctx, t.cluster); err != nil {
				return err
			}
		}
	}
	return nil
}

// startAll measures the server without the exporter, starts the exporter and Prometheus, and
// measures the server with them.
func (t *trial) startAll(ctx context.Context) (err error) {
	if t.result.without, err = t.serverCost(ctx); err != nil {
		return err
	}
	if err := t.exporter.start(ctx); err != nil {
		return err
	}
	if t.result.counted, err = t.exporter.waitReady(ctx); err != nil {
		return err
	}
	if t.prometheus, err = startPrometheus(ctx, t.lab, t.exporter.address()); err != nil {
		return err
	}
	if t.result.with, err = t.serverCost(ctx); err != nil {
		return err
	}
	return nil
}

// serverCost is the share of a core that kube-apiserver takes for a load of 20 creates and as
// many deletes per second.
func (t *trial) serverCost(ctx context.Context) (float64, error) {
	before, err := t.serverSeconds(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	all := load{namespace: "load", prefix: "load-", perSecond: 20, lasts: time.Minute, lives: time.Second}
	if err := all.run(ctx, t.cluster); err != nil {
		return 0, err
	}
	after, err := t.serverSeconds(ctx)
	return (after - before) / time.Since(began).Seconds(), err
}

// replaceDuringLeak stops the exporter in the middle of a leak, and starts a new one at
// another address, as the strategy Recreate does.
func (t *trial) replaceDuringLeak(ctx context.Context) error {
	at := slices.IndexFunc(t.incidents, func(i incident) bool { return i.namespace == "restart" })
	sleep(ctx, time.Until(t.began.Add(t.incidents[at].at+replacedAfter)))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	began := time.Now()
	if err := t.exporter.stop(ctx); err != nil {
		return err
	}
	if err := t.exporter.start(ctx); err != nil {
		return err
	}
	if err := t.prometheus.scrapes(t.exporter.address()); err != nil {
		return err
	}
	_, err := t.exporter.waitReady(ctx)
	t.result.replaced = time.Since(began)
	return err
}

// stopServer kills the API server until the alert fires. A new exporter that starts meanwhile
// waits for the server. Then the server returns, and the counts are right.
func (t *trial) stopServer(ctx context.Context) error {
	t.stoppedAt = time.Now()
	logf("the API server is killed")
	if err := t.Servers[0].Kill(); err != nil {
		return err
	}
	if err := t.prometheus.awaitAlert(ctx, alert{name: behind}, t.stoppedAt, 7*time.Minute); err != nil {
		return err
	}
	if err := t.checkHealth(ctx, 200, 200); err != nil {
		return err
	}
	if err := errors.Join(t.exporter.stop(ctx), t.exporter.start(ctx)); err != nil {
		return err
	}
	if err := t.prometheus.scrapes(t.exporter.address()); err != nil {
		return err
	}
	sleep(ctx, 20*time.Second)
	if err := t.checkHealth(ctx, 200, 503); err != nil {
		return err
	}
	if err := t.Servers[0].Start(ctx); err != nil {
		return err
	}
	began := time.Now()
	if _, err := t.exporter.waitReady(ctx); err != nil {
		return err
	}
	t.result.recovered = time.Since(began)
	return t.compareCounts(ctx)
}

// checkHealth compares the status codes of the two probes.
func (t *trial) checkHealth(ctx context.Context, live, ready int) error {
	gotLive, err := t.exporter.probe(ctx, t.exporter.spec.LivenessProbe)
	if err != nil {
		return err
	}
	gotReady, err := t.exporter.probe(ctx, t.exporter.spec.ReadinessProbe)
	if err == nil && (gotLive != live || gotReady != ready) {
		err = fmt.Errorf("without the API server the probes return %d and %d, not %d and %d", gotLive, gotReady, live, ready)
	}
	return err
}
