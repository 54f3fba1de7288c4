package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/common/model"
)

const (
	cometFirst, cometThen = 15, 60
	names, creates        = "genname_prefix_names", "genname_prefix_creates_total"
	ofComet               = `{namespace="comet"}`
	prefixesOfWave        = 100
)

// comet creates a prefix that enters the top, leaves it while other prefixes take its place, and returns. Its counter
// must continue.
func (t *trial) comet(ctx context.Context) error {
	if err := t.cometCreates(ctx, cometFirst); err != nil {
		return err
	}
	if err := t.awaitValue(ctx, names+ofComet, cometFirst); err != nil {
		return err
	}
	before, err := t.prometheus.value(ctx, creates+ofComet)
	if err != nil {
		return err
	}
	for wave, names := range []int{22, 33, 50} {
		if err := t.wave(ctx, wave, names); err != nil {
			return err
		}
		sleep(ctx, 2*interval) // a choice of prefixes, and a scrape
	}
	if err := eventually(ctx, 3*time.Minute, func() error {
		if _, err := t.prometheus.value(ctx, names+ofComet); err == nil {
			return errors.New("the comet still has series")
		}
		return nil
	}); err != nil {
		return err
	}
	logf("comet: it has no series, and its counter was %g", before)
	if err := t.cometCreates(ctx, cometThen); err != nil {
		return err
	}
	return t.awaitValue(ctx, creates+ofComet, int(before)+cometThen)
}

func (t *trial) cometCreates(ctx context.Context, n int) error {
	return load{namespace: "comet", prefix: "comet-", perSecond: 20, lasts: time.Duration(n) * time.Second / 20}.run(ctx, t.cluster)
}

// wave creates names under new prefixes. They push older prefixes out of the list by recent
// creates, and at last out of those that have series.
func (t *trial) wave(ctx context.Context, wave, names int) error {
	for i := range prefixesOfWave {
		l := load{
			namespace: "wave", prefix: fmt.Sprintf("wave-%d-%02d-", wave, i), perSecond: 300,
			lasts: time.Duration(names)*time.Second/300 + time.Millisecond,
		}
		if err := l.run(ctx, t.cluster); err != nil {
			return err
		}
	}
	logf("wave %d: %d prefixes of %d names", wave+1, prefixesOfWave, names)
	return nil
}

// value is the present value of an expression with one result.
func (p *prometheus) value(ctx context.Context, expression string) (float64, error) {
	value, _, _, err := p.Query(ctx, expression, time.Now())
	if err != nil {
		return 0, err
	}
	vector, is := value.(model.Vector)
	if !is || len(vector) != 1 {
		return 0, fmt.Errorf("%s has %d results", expression, len(vector))
	}
	return float64(vector[0].Value), nil
}
