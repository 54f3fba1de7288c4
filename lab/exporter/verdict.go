package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
)

// result is the measurement of a trial.
type result struct {
	without, with                float64 // cores that kube-apiserver takes
	counted, replaced, recovered time.Duration
	cores                        float64 // that the exporter takes
	scrapes                      measured
}

// measureExporter measures the first exporter during the first six minutes, in which most
// incidents happen, and the scrapes at their end.
func (t *trial) measureExporter(ctx context.Context) error {
	const during = 6 * time.Minute
	seconds := func() (float64, error) {
		text, _, err := t.exporter.scrape(ctx)
		if err != nil {
			return 0, err
		}
		return metric(text, "process_cpu_seconds_total")
	}
	before, err := seconds()
	if err != nil {
		return err
	}
	sleep(ctx, during)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	after, err := seconds()
	if err != nil {
		return err
	}
	t.result.cores = (after - before) / during.Seconds()
	t.result.scrapes, err = t.measureScrapes(ctx)
	return err
}

// compareCounts compares the gauges with the objects of the server: in each namespace whose
// prefix has series, and in all. After a restart, the comet is too small to have any.
func (t *trial) compareCounts(ctx context.Context) error {
	total := t.crowd.n()
	for _, i := range t.incidents {
		if i.namespace == "" {
			continue
		}
		n, err := t.names(ctx, i.namespace)
		if err != nil {
			return err
		}
		total += n
		if i.namespace == "wave" || i.namespace == "comet" || n == 0 {
			continue
		}
		if err := t.awaitValue(ctx, fmt.Sprintf(`genname_prefix_names{namespace=%q}`, i.namespace), n); err != nil {
			return err
		}
	}
	return errors.Join(
		t.awaitValue(ctx, `genname_resource_names{resource="configmaps"}`, total),
		t.awaitValue(ctx, `sum(genname_prefix_names{resource="configmaps"})`, total))
}

// awaitValue waits until an expression has a value.
func (t *trial) awaitValue(ctx context.Context, expression string, want int) error {
	return eventually(ctx, 4*interval, func() error {
		got, err := t.prometheus.value(ctx, expression)
		if err == nil && got != float64(want) {
			err = fmt.Errorf("%s is %.0f, and the server has %d", expression, got, want)
		}
		return err
	})
}

// verdict compares the alerts, and returns the section of the document.
func (t *trial) verdict(ctx context.Context) (string, error) {
	fired, err := t.prometheus.fired(ctx, t.began)
	if err != nil {
		return "", err
	}
	table, err := t.compareAlerts(fired)
	return table + "\n" + t.result.table(t.crowd), err
}

// compareAlerts compares the alerts that fired with those that should, and returns a table.
func (t *trial) compareAlerts(fired map[alert]time.Time) (string, error) {
	var b strings.Builder
	var problems []error
	b.WriteString("| incident | alert | fired after | allowed |\n|---|---|--:|--:|\n")
	for _, i := range t.incidents {
		since := t.began.Add(i.at)
		if i.fires == behind {
			since = t.stoppedAt
		}
		at, found := fired[alert{i.fires, i.namespace}]
		switch took := at.Sub(since).Round(time.Second); {
		case i.fires == "":
			fmt.Fprintf(&b, "| %s | none | | |\n", i.title)
		case !found:
			problems = append(problems, fmt.Errorf("%s: %s did not fire", i.title, i.fires))
		case took > i.within:
			problems = append(problems, fmt.Errorf("%s: %s fired after %s", i.title, i.fires, took))
		default:
			fmt.Fprintf(&b, "| %s | `%s` | %.0f s | %.0f s |\n", i.title, i.fires, took.Seconds(), i.within.Seconds())
		}
	}
	for a, at := range fired {
		if !t.expected(a) {
			problems = append(problems, fmt.Errorf("%s fired in namespace %q after %s", a.name, a.namespace, at.Sub(t.began)))
		}
	}
	return b.String(), errors.Join(problems...)
}

// expected reports whether an alert may fire.
func (t *trial) expected(a alert) bool {
	return slices.ContainsFunc(t.incidents, func(i incident) bool {
		return i.namespace == a.namespace && i.fires == a.name
	})
}

// table is the costs.
func (r result) table(c crowd) string {
	return fmt.Sprintf("| measured | value |\n|---|--:|\n"+
		"| first count of %s ConfigMaps | %.0f s |\n"+
		"| from SIGTERM until the new exporter was ready | %.0f s |\n"+
		"| from the return of the API server until the exporter was ready | %.0f s |\n"+
		"| processor time of the exporter per second, during the first six minutes | %.1f ms |\n"+
		"| peak of the exporter's resident memory | %d MiB |\n"+
		"| scrape, median and slowest of %d | %.1f ms, %.1f ms |\n"+
		"| size of a scrape | %s bytes |\n"+
		"| kube-apiserver at 20 creates and 20 deletes per second, processor time per second without the exporter | %.0f ms |\n"+
		"| the same with the exporter | %.0f ms |\n",
		humanize.Grouped(c.n()), r.counted.Seconds(), r.replaced.Seconds(), r.recovered.Seconds(), 1000*r.cores, r.scrapes.peak>>20,
		scrapes, milliseconds(r.scrapes.median), milliseconds(r.scrapes.slowest), humanize.Grouped(r.scrapes.bytes), 1000*r.without, 1000*r.with)
}
