package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
)

const (
	prefixesOfMemory = 40
	memoryBar        = 150 << 20
	scrapeBar        = 100 * time.Millisecond
	scrapes          = 20
)

// memory measures the exporter beside a tenth of the objects, and beside all of them.
func memory(ctx context.Context, s settings) (string, error) {
	var b strings.Builder
	b.WriteString("| objects | prefixes | first count | peak of resident memory | heap in use | scrape, median | scrape, slowest | bytes |\n" +
		"|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, objects := range []int{s.objects / 10, s.objects} {
		err := onLab(ctx, s, func(l *lab) error {
			row, err := l.memoryOf(ctx, crowd{"crowd", prefixesOfMemory, objects / prefixesOfMemory})
			b.WriteString(row)
			return err
		})
		if err != nil {
			return b.String(), err
		}
	}
	return b.String(), nil
}

// memoryOf returns the row of one population. It fails if a bar is missed.
func (l *lab) memoryOf(ctx context.Context, c crowd) (string, error) {
	if err := c.store(ctx, l.cluster); err != nil {
		return "", err
	}
	if err := l.exporter.start(ctx); err != nil {
		return "", err
	}
	counted, err := l.exporter.waitReady(ctx)
	if err != nil {
		return "", err
	}
	m, err := l.measureScrapes(ctx)
	if err != nil {
		return "", err
	}
	if m.names != c.n() {
		return "", fmt.Errorf("the exporter has counted %d of %d ConfigMaps", m.names, c.n())
	}
	row := fmt.Sprintf("| %s | %d | %.0f s | %d MiB | %d MiB | %.1f ms | %.1f ms | %s |\n",
		humanize.Grouped(c.n()), c.prefixes, counted.Seconds(), m.peak>>20, m.heap>>20,
		milliseconds(m.median), milliseconds(m.slowest), humanize.Grouped(m.bytes))
	if m.peak > memoryBar || m.median > scrapeBar {
		return row, fmt.Errorf("%d objects need %d MiB and %s per scrape, the bars are %d MiB and %s",
			c.n(), m.peak>>20, m.median, memoryBar>>20, scrapeBar)
	}
	return row, nil
}

// measured are the costs of the exporter.
type measured struct {
	median, slowest time.Duration
	bytes, names    int // names are those of all ConfigMaps
	peak, heap      int64
}

// measureScrapes scrapes repeatedly.
func (l *lab) measureScrapes(ctx context.Context) (m measured, err error) {
	var took []time.Duration
	var text []byte
	for range scrapes {
		var d time.Duration
		if text, d, err = l.exporter.scrape(ctx); err != nil {
			return m, err
		}
		took = append(took, d)
		sleep(ctx, 200*time.Millisecond)
	}
	slices.Sort(took)
	heap, err := metric(text, "go_memstats_heap_inuse_bytes")
	if err != nil {
		return m, err
	}
	names, err := metric(text, `genname_resource_names{group="",resource="configmaps"}`)
	if err != nil {
		return m, err
	}
	peak, err := l.exporter.highWater(ctx)
	return measured{
		median: took[len(took)/2], slowest: took[len(took)-1],
		bytes: len(text), names: int(names), peak: peak, heap: int64(heap),
	}, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
