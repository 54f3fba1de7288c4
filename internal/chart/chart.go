// Package chart draws the probability of a failure against the number of names. It draws one curve
// for each retry policy, as SVG, as PNG, or as text for a terminal. It owns the axes, colors and
// legend. It knows no Kubernetes, calculates no probability, and writes no file.
package chart

import (
	"errors"
	"fmt"
	"math"
)

// Chart has the data of a chart.
type Chart struct {
	Title string
	Scale Scale
	// Existing is the number of existing names, where the curves begin. The chart shows it unless
	// it is 0.
	Existing int64
	// Names is the number of names that there can be, at least 1.
	Names int64
	// Curves are drawn in their order, at most MaxCurves.
	Curves []Curve
}

// MaxCurves is the number of curves that people can distinguish.
const MaxCurves = 16

// Curve is the chance of a failure under one policy.
type Curve struct {
	Label string
	// Log10 returns the decimal logarithm of the probability that any of a number of further
	// creates fails. It is -Inf if none can fail, and never falls.
	Log10 func(creates int64) float64
	// Reaches returns the smallest number of further creates of which any
	// fails with at least the probability p.
	Reaches func(p float64) int64
}

// Scale is how the axes are divided.
type Scale string

const (
	// Linear divides both axes evenly.
	Linear Scale = "linear"
	// Semilog has the logarithm of the number of names.
	Semilog Scale = "semilog"
	// Log has the logarithms of both, so that small chances can be read.
	Log Scale = "log"
)

// Scales are all scales, from the plainest to the one for small chances.
var Scales = []Scale{Linear, Semilog, Log}

// check returns why the chart cannot be drawn, or nil.
func (c Chart) check() error {
	switch {
	case len(c.Curves) == 0:
		return errors.New("no curve to draw")
	case len(c.Curves) > MaxCurves:
		return fmt.Errorf("%d curves cannot be distinguished: at most %d", len(c.Curves), MaxCurves)
	case c.Existing >= c.Names:
		return fmt.Errorf("all %d names exist: there is no curve to draw", c.Names)
	}
	return nil
}

// The probabilities between which a curve is drawn. Below the first it is on the axis, and above
// the last at the top.
const (
	smallest = 1e-6 // where chances are logarithmic
	visible  = 1e-3 // where they are not
	certain  = 0.999
)

// names returns the number of names at which a curve reaches a chance.
func (c Chart) names(curve Curve, p float64) float64 {
	return math.Min(float64(c.Existing)+float64(curve.Reaches(p)), float64(c.Names))
}

// span returns the range of the numbers of names that shows all curves.
func (c Chart) span() (low, high float64) {
	low, high = math.Inf(1), 0
	begin := visible
	if c.Scale == Log {
		begin = smallest
	}
	for _, curve := range c.Curves {
		low = math.Min(low, c.names(curve, begin)-1) // where it is still less likely
		high = math.Max(high, c.names(curve, certain))
	}
	if c.Existing > 0 {
		low = math.Min(low, float64(c.Existing)*0.8) // with space before the line
	}
	if c.Scale == Linear {
		return 0, high
	}
	return low, high
}

// chanceAt returns the probability at a number of names, or its decimal logarithm, as the scale
// needs.
func (c Chart) chanceAt(curve Curve, names float64) float64 {
	log10 := curve.Log10(int64(math.Round(names)) - c.Existing)
	if c.Scale == Log {
		return log10
	}
	return math.Pow(10, log10)
}
