package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// legends is how many series the legend of a panel names.
const legends = 4

const mebibyte = 1 << 20

// drawLines draws the series over time, and a legend of the largest.
func (d *Dashboard) drawLines(p *picture, panel *Panel, b box) {
	sorted := slices.SortedStableFunc(slices.Values(panel.Series), func(a, b Series) int {
		return cmp.Compare(b.largest(), a.largest())
	})
	plot := box{b.x + 50, b.y + 4, b.w - 58, b.h - 24 - 17*legends - 17}
	unit := 1.0
	if panel.Unit == "bytes" {
		unit = mebibyte
	}
	top := unit * niceAbove(sorted[0].largest()/unit)
	for i := range 5 {
		y := plot.y + plot.h*(1-float64(i)/4)
		fmt.Fprintf(p, `<path d="M%.1f %.1fH%.1f" stroke="%s"/>`+"\n", plot.x, y, plot.x+plot.w, grid)
		p.text(plot.x-6, y+4, small, faint, "end", false, format(top*float64(i)/4, panel.Unit))
	}
	length := d.To.Sub(d.From)
	for at := time.Duration(0); at <= length; at += 5 * time.Minute {
		x := plot.x + plot.w*at.Seconds()/length.Seconds()
		p.text(x, plot.y+plot.h+16, small, faint, "middle", false, fmt.Sprintf("%.0f min", at.Minutes()))
	}
	for i := len(sorted) - 1; i >= 0; i-- { // the largest at last
		color := other
		if i < legends {
			color = colors[i]
		}
		for _, path := range d.paths(sorted[i], plot, top) {
			fmt.Fprintf(p, `<path d="%s" fill="none" stroke="%s" stroke-width="1.8"/>`+"\n", path, color)
		}
	}
	d.legend(p, sorted, box{b.x, plot.y + plot.h + 36, b.w, 0})
}

func (d *Dashboard) legend(p *picture, sorted []Series, b box) {
	for i, series := range sorted[:min(len(sorted), legends)] {
		y := b.y + 17*float64(i)
		fmt.Fprintf(p, `<path d="M%.1f %.1fh18" stroke="%s" stroke-width="3"/>`, b.x, y-4, colors[i])
		p.clipped(box{b.x + 25, y - 14, b.w - 25, 20}, y, series.Legend)
	}
	p.more(b.x+25, b.y+17*legends, len(sorted)-legends)
}

// paths are the lines of a series, of which each ends at a gap.
func (d *Dashboard) paths(s Series, plot box, top float64) (paths []string) {
	last := math.Inf(-1)
	for _, point := range s.Points {
		x := plot.x + plot.w*point.At/d.To.Sub(d.From).Seconds()
		y := plot.y + plot.h*(1-max(point.Value, 0)/top)
		command := "L"
		if point.At-last > 1.5*d.Step.Seconds() {
			command = "M"
			paths = append(paths, "")
		}
		paths[len(paths)-1] += fmt.Sprintf("%s%.1f %.1f", command, x, y)
		last = point.At
	}
	return paths
}

func (s Series) largest() float64 {
	most := 0.0
	for _, point := range s.Points {
		most = max(most, point.Value)
	}
	return most
}

// niceAbove returns the smallest 1, 2, 4 or 8 times a power of ten that is at least x.
func niceAbove(x float64) float64 {
	if x <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, digit := range []float64{1, 2, 4, 8} {
		if digit*power >= x {
			return digit * power
		}
	}
	return 10 * power
}

// format returns a value in its unit.
func format(value float64, unit string) string {
	switch unit {
	case "bytes":
		return number(value/mebibyte) + " MiB"
	case "s":
		return number(value) + " s"
	case "ops":
		return number(value) + "/s"
	}
	return number(value)
}

// number returns three digits at most, with k and M for thousands and millions.
func number(value float64) string {
	suffix := ""
	switch {
	case value >= 1e6:
		value, suffix = value/1e6, "M"
	case value >= 1e3:
		value, suffix = value/1e3, "k"
	}
	return strconv.FormatFloat(value, 'g', 3, 64) + suffix
}
