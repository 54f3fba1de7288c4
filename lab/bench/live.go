package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	churnTime   = 15 * time.Second
	reportEvery = 100 * time.Millisecond
	// newNames is the number of names from which the watch shows a prefix.
	newNames = 10
)

// live measures audit --watch of many objects while objects are created and deleted.
var live = []section{
	livePart("few", "under forty prefixes", 0, 130),
	// More than 100,000 prefixes of a type count as (other), and have no row whose delay could be measured.
	livePart("own", "under 83,334 prefixes", 12, 300),
}

// livePart returns a section about a watch of a million objects. bar is the maximum of its
// memory in MiB.
func livePart(name, title string, perPrefix, bar int) section {
	return section{name: "live, " + name, measure: func(ctx context.Context, b *bench) (string, error) {
		p := population{"configmaps", "ConfigMap", b.size(1_000_000), 2, perPrefix, 0, nil}
		text, err := onControlPlane(ctx, b, func(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
			return watchChurn(ctx, b, cp, p, bar)
		})
		return fmt.Sprintf("### %s ConfigMaps, %s\n\n%s", humanize.Grouped(p.objects), title, text), err
	}}
}

// watchChurn measures one population and returns its section.
func watchChurn(
	ctx context.Context, b *bench, cp *controlplane.ControlPlane, p population, bar int,
) (string, error) {
	if err := store(ctx, cp, p); err != nil {
		return "", err
	}
	l, err := newLoad(cp)
	if err != nil {
		return "", err
	}
	defer l.end()
	if err := l.prepare(ctx); err != nil {
		return "", err
	}
	alone, err := l.run(ctx, 0)
	if err != nil {
		return "", err
	}
	w, err := startWatch(ctx, b, "configmaps", "--top=100")
	if err != nil {
		return "", err
	}
	text, err := l.watched(ctx, b, w, bar, alone)
	if err != nil {
		return "", errors.Join(err, w.cmd.Process.Kill())
	}
	return text, nil
}

// watched runs the loads beside a watch, and returns the results. alone is the processor time of the server without a
// watch.
func (l *load) watched(
	ctx context.Context, b *bench, w *watchRun, bar int, alone float64,
) (string, error) {
	began := time.Now()
	before, created := len(l.responses(lagPrefix)), len(l.responses(churnPrefix))
	beside, err := l.run(ctx, 0)
	if err != nil {
		return "", err
	}
	steadily, created := len(l.responses(lagPrefix)), len(l.responses(churnPrefix))-created
	bursting, err := l.run(ctx, burstSize)
	if err != nil {
		return "", err
	}
	passed, err := l.passage(ctx, w)
	if err != nil {
		return "", err
	}
	period := w.period(began)
	if err := w.end(); err != nil {
		return "", err
	}
	lags, err := w.lags(lagPrefix, l.responses(lagPrefix))
	if err != nil {
		return "", err
	}
	inBursts, err := w.lags(burstPrefix, l.responses(burstPrefix))
	if err != nil {
		return "", err
	}
	steady, bursts := sorted(lags[before:steadily]), sorted(append(inBursts, lags[steadily:]...))
	limit := max(time.Second, 2*period).Seconds()
	perSecond := func(all float64) float64 { return all / churnTime.Seconds() }
	return fmt.Sprintf("| | lag, median | lag, 99th percentile | lag, maximum | the server's processor time per second, without a watch | with the watch |\n|---|---|---|---|---|---|\n"+
		"| %.0f creates and as many deletes a second | %.2f s | %.2f s | %.2f s | %.2f s | %.2f s |\n"+
		"| the same, and every %v %s creates and %s deletes within %.2f s | %.2f s | %.2f s | %.2f s | | %.2f s |\n\n"+
		"%s\nThe audit ran with `--interval=%v`. The 99th percentile of the time between two reports was %.2f s. "+
		"A prefix appears in the report when it has ten names. A new prefix appeared %.1f s after its tenth name was created.\n",
		perSecond(float64(created)), median(steady).Seconds(), most(steady).Seconds(), steady[len(steady)-1].Seconds(), perSecond(alone), perSecond(beside),
		burstEvery, humanize.Grouped(burstSize), humanize.Grouped(burstDeleted), l.lasted.Seconds(), median(bursts).Seconds(), most(bursts).Seconds(), bursts[len(bursts)-1].Seconds(), perSecond(bursting),
		b.compare(memory("peak memory", float64(w.memory)/1e6, float64(bar)),
			comparison{fmt.Sprintf("99th percentile of the lag without bursts / %.2f s", limit), most(steady).Seconds() / limit, 1},
			comparison{fmt.Sprintf("99th percentile of the lag with bursts / %.2f s", limit), most(bursts).Seconds() / limit, 1}),
		reportEvery, period.Seconds(), passed.Seconds()), nil
}

func sorted(lags []time.Duration) []time.Duration {
	slices.Sort(lags)
	return lags
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// most returns the 99th percentile.
func most(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// passage creates names of a prefix that had few names until the watch shows the prefix. passage returns how long
// that took. A prefix that appears during the watch must not take longer than others.
func (l *load) passage(ctx context.Context, w *watchRun) (time.Duration, error) {
	for range newNames - fewNames {
		if _, err := l.create(ctx, newPrefix); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	for time.Since(began) < 2*time.Minute {
		if at := w.has(newPrefix, newNames); !at.IsZero() {
			return at.Sub(began), nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return 0, errors.New("a new prefix was not counted in two minutes")
}

// serverMetric returns the value of a kube-apiserver metric without labels.
func serverMetric(ctx context.Context, client kubernetes.Interface, name string) (float64, error) {
	metrics, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").Do(ctx).Raw()
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(metrics), "\n") {
		if value, is := strings.CutPrefix(line, name+" "); is {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the server does not say %s", name)
}

// serverSeconds returns the processor time that kube-apiserver has used.
func serverSeconds(ctx context.Context, client kubernetes.Interface) (float64, error) {
	return serverMetric(ctx, client, "process_cpu_seconds_total")
}
