package main

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// confident is the number of standard errors of an error bar on either side, for 95%.
const confident = 1.96

// firstConflicts is the figure of KEP-4420, with measured points.
func (r results) firstConflicts() figure {
	f := figure{
		title:     fmt.Sprintf("Creates until the first conflict, among %d names", r.Names),
		x:         "retries after a conflict",
		y:         "mean number of creates",
		deviation: "off by, %",
	}
	client := series{label: "measured, retries by the client", color: blue, shape: draw.CircleGlyph{}}
	server := series{label: "measured, retries by the server", color: orange, shape: draw.BoxGlyph{}}
	var line plotter.XYs
	for _, c := range r.FirstConflicts {
		retries := float64(c.ServerTries*c.Attempts - 1)
		s, x := &client, retries-0.1
		if c.ServerTries > 1 {
			s, x = &server, retries+0.1 // beside the client's
		}
		s.values = append(s.values, point{x, c.Mean, confident * c.Error})
		s.deviations = append(s.deviations, point{x, 100 * (c.Mean/c.Expected - 1), 100 * confident * c.Error / c.Expected})
		if c.ServerTries == 1 {
			line = append(line, plotter.XY{X: retries, Y: c.Expected})
		}
	}
	f.expected = []curve{{label: "expected", points: line, crosses: true}}
	f.measured = []series{client, server}
	f.xMin, f.xMax, f.xStep = -0.5, line[len(line)-1].X+0.5, 1
	f.yMax, f.yStep = 500, 100
	return f
}

// rates shows the conflict rate by the number of existing names.
func (r results) rates() figure {
	f := figure{
		title:     fmt.Sprintf("Creates that fail, among %d names", r.Names),
		x:         "names that exist",
		y:         "conflicts per create",
		deviation: "off by",
	}
	f.xMax, f.xStep = float64(r.Names), 81
	f.yMax, f.yStep = 1, 0.2
	styles := map[int]series{
		1: {label: "measured, 1 try (gate off)", color: blue, shape: draw.CircleGlyph{}},
		8: {label: "measured, 8 tries", color: orange, shape: draw.BoxGlyph{}},
	}
	for _, tries := range []int{1, 8} {
		s := styles[tries]
		for _, c := range r.Rates {
			if c.ServerTries == tries {
				s.values = append(s.values, point{c.Existing, c.Measured, confident * c.Error})
				s.deviations = append(s.deviations, point{c.Existing, c.Measured - c.Expected, confident * c.Error})
			}
		}
		f.measured = append(f.measured, s)
		var line plotter.XYs
		for k := range r.Names + 1 {
			u := float64(k) / float64(r.Names)
			line = append(line, plotter.XY{X: float64(k), Y: math.Pow(u, float64(tries))})
		}
		label := ""
		if tries == 1 {
			label = "expected, (k/N)^t"
		}
		f.expected = append(f.expected, curve{label: label, points: line})
	}
	return f
}
