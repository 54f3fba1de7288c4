package main

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// confident is the number of standard errors of an error bar on either side, for 95%.
const confident = 1.96

// firstFailures is the figure of KEP-4420, with measured points.
func (r results) firstFailures() figure {
	f := figure{
		title:     fmt.Sprintf("Creates until the first failure, among %d names", r.Names),
		x:         "retries after a conflict",
		y:         "mean number of creates",
		deviation: "off by, %",
	}
	client := series{label: "measured, retries by the client", color: blue, shape: draw.CircleGlyph{}}
	server := series{label: "measured, retries by the server", color: orange, shape: draw.BoxGlyph{}}
	var line plotter.XYs
	for _, c := range r.FirstFailures {
		retries := float64(c.ServerAttempts*c.ClientAttempts - 1)
		s, x := &client, retries-0.1
		if c.ServerAttempts > 1 {
			s, x = &server, retries+0.1 // beside the client's
		}
		s.values = append(s.values, point{x, c.Mean, confident * c.Error})
		s.deviations = append(s.deviations, point{x, 100 * (c.Mean/c.Expected - 1), 100 * confident * c.Error / c.Expected})
		if c.ServerAttempts == 1 {
			line = append(line, plotter.XY{X: retries, Y: c.Expected})
		}
	}
	f.expected = []curve{{label: "expected", points: line, crosses: true}}
	f.measured = []series{client, server}
	f.xMin, f.xMax, f.xStep = -0.5, line[len(line)-1].X+0.5, 1
	f.yMax, f.yStep = 500, 100
	return f
}

// rates shows the failure rate by the number of existing names.
func (r results) rates() figure {
	f := figure{
		title:     fmt.Sprintf("Creates that fail, among %d names", r.Names),
		x:         "names that exist",
		y:         "failures per create",
		deviation: "off by",
	}
	f.xMax, f.xStep = float64(r.Names), 81
	f.yMax, f.yStep = 1, 0.2
	styles := map[int]series{
		1: {label: "measured, 1 attempt (gate off)", color: blue, shape: draw.CircleGlyph{}},
		8: {label: "measured, 8 attempts", color: orange, shape: draw.BoxGlyph{}},
	}
	for _, attempts := range []int{1, 8} {
		s := styles[attempts]
		for _, c := range r.Rates {
			if c.ServerAttempts == attempts {
				s.values = append(s.values, point{c.Existing, c.Measured, confident * c.Error})
				s.deviations = append(s.deviations, point{c.Existing, c.Measured - c.Expected, confident * c.Error})
			}
		}
		f.measured = append(f.measured, s)
		var line plotter.XYs
		for k := range r.Names + 1 {
			u := float64(k) / float64(r.Names)
			line = append(line, plotter.XY{X: float64(k), Y: math.Pow(u, float64(attempts))})
		}
		label := ""
		if attempts == 1 {
			label = "expected, (k/N)^t"
		}
		f.expected = append(f.expected, curve{label: label, points: line})
	}
	return f
}
