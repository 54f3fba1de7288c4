package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"
)

// The minimum number of columns of a chart, and the columns of its axes.
const (
	minColumns  = 40
	axisColumns = 12 // before it
	overhang    = 5  // of the last label of the other axis
)

// letters identify the curves without colors.
const letters = "abcdefghijklmnop"

// Text draws the chart for a terminal with a number of columns, at least 40.
func (c Chart) Text(columns int) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	plotColumns := max(columns, minColumns) - axisColumns - overhang
	low, high := c.span()
	x, y := countAxis(low, high, c.Scale != Linear), chanceAxis(c.Scale)
	var series [][]float64
	var charSets []asciigraph.CharSet
	for i, curve := range c.Curves {
		series = append(series, c.row(curve, x, y, plotColumns))
		charSets = append(charSets, asciigraph.CreateCharSet(letters[i:i+1]))
	}
	plot := asciigraph.PlotMany(series,
		asciigraph.Height(c.rows()), asciigraph.Width(plotColumns),
		asciigraph.LowerBound(y.low), asciigraph.UpperBound(y.high),
		asciigraph.SeriesChars(charSets...),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%8s", c.chanceText(v)) }),
		asciigraph.XAxisRange(0, 1), asciigraph.XAxisTickCount(plotColumns/15+1),
		asciigraph.XAxisValueFormatter(func(place float64) string { return rounded(x.value(place)) }),
	)
	label := strings.Repeat(" ", axisColumns) + c.namesLabel()
	return c.Title + "\n\n" + plot + "\n" + label + "\n\n" + c.textLegend(), nil
}

// row returns a curve as one value for each column. It leaves out values on the axis or at the top,
// where all curves are equal.
func (c Chart) row(curve Curve, x, y axis, columns int) []float64 {
	half := (y.high - y.low) / float64(c.rows()) / 2
	values := make([]float64, columns)
	drawn := false
	for i := range values {
		values[i] = math.NaN()
		names := math.Round(x.value(float64(i) / float64(columns-1)))
		if names < float64(c.Existing) {
			continue
		}
		at := c.chanceAt(curve, names)
		switch {
		case at < y.low+half, drawn && at > y.high-half/50:
			continue
		case !drawn && i > 0 && at > y.low+4*half: // it rises within a column
			values[i-1] = y.low
		}
		values[i], drawn = at, true
	}
	return values
}

// rows returns the number of lines between the first and the last of the plot: two for each
// power of ten, or one for each ten per cent.
func (c Chart) rows() int {
	if c.Scale == Log {
		return 12
	}
	return 10
}

// chanceText returns a value of the vertical axis in per cent.
func (c Chart) chanceText(value float64) string {
	if c.Scale == Log {
		value = math.Pow(10, value)
	}
	percent := value * 100
	if percent >= 1 || percent == 0 {
		return fmt.Sprintf("%.0f%%", percent)
	}
	return fmt.Sprintf("%.1g%%", percent)
}

// rounded returns a number of names with two digits: 25,000 and 1,000,000.
func rounded(x float64) string {
	if x < 100 {
		return grouped(math.Round(x))
	}
	power := math.Pow(10, math.Floor(math.Log10(x))-1)
	return grouped(math.Round(x/power) * power)
}

// textLegend returns a line for each curve, and one for the names that exist.
func (c Chart) textLegend() string {
	var out strings.Builder
	widest := 0
	for _, curve := range c.Curves {
		widest = max(widest, len(curve.Label))
	}
	for i, curve := range c.Curves {
		fmt.Fprintf(&out, "%c  %-*s  %s\n", letters[i], widest, curve.Label, c.milestones(curve))
	}
	if c.Existing > 0 {
		fmt.Fprintf(&out, "now: %s names exist\n", grouped(float64(c.Existing)))
	}
	return out.String()
}
