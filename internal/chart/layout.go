package chart

import "math"

// The picture and the plot in it, in pixels.
const (
	width, height       = 1000, 540
	left, right         = 108, 672
	top, bottom         = 76, 468
	legendLeft          = right + 24
	legendTop           = top + 4
	smallText, mainText = 13, 15
)

// draw draws the chart on a canvas of width and height.
func (c Chart) draw(on canvas) {
	low, high := c.span()
	x, y := countAxis(low, high, c.Scale != Linear), chanceAxis(c.Scale)
	on.text(point{left, 26}, shortened(c.Title), textStyle{size: 18, color: ink, bold: true})
	drawAxes(on, x, y)
	on.text(point{(left + right) / 2, 520}, c.namesLabel(), textStyle{size: mainText, color: ink, anchor: 0.5})
	on.text(point{20, (top + bottom) / 2}, "chance that any create has failed",
		textStyle{size: mainText, color: ink, anchor: 0.5, vertical: true})
	if c.Existing > 0 {
		c.drawExisting(on, x)
	}
	for i, curve := range c.Curves {
		on.line(c.points(curve, x, y), strokeOf(i, len(c.Curves)))
	}
	c.legend(on)
}

// shortened returns a title that fits the picture.
func shortened(title string) string {
	const most = 84
	if runes := []rune(title); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return title
}

// namesLabel returns the label of the axis of names.
func (c Chart) namesLabel() string {
	label := "names created under one prefix"
	if c.Existing > 0 {
		label = "names under the prefix"
	}
	if c.Scale != Linear {
		label += " (logarithmic)"
	}
	return label
}

// across returns where in the picture a place of the horizontal axis is.
func across(place float64) float64 { return left + place*(right-left) }

// upwards returns where in the picture a place of the vertical axis is.
func upwards(place float64) float64 { return bottom - place*(bottom-top) }

// drawAxes draws the frame, the grid, and the labels of the ticks.
func drawAxes(on canvas, x, y axis) {
	grid, frame := stroke{color: gridColor, width: 1}, stroke{color: frameColor, width: 1}
	for _, t := range x.ticks {
		at := across(t.at)
		if t.label == "" {
			on.line([]point{{at, bottom}, {at, bottom + 3}}, frame)
			continue
		}
		on.line([]point{{at, top}, {at, bottom}}, grid)
		on.line([]point{{at, bottom}, {at, bottom + 6}}, frame)
		on.text(point{at, bottom + 20}, t.label, textStyle{size: smallText, color: faintInk, anchor: 0.5})
	}
	for _, t := range y.ticks {
		at := upwards(t.at)
		on.line([]point{{left, at}, {right, at}}, grid)
		on.line([]point{{left - 6, at}, {left, at}}, frame)
		on.text(point{left - 11, at}, t.label, textStyle{size: smallText, color: faintInk, anchor: 1})
	}
	on.line([]point{{left, top}, {left, bottom}, {right, bottom}}, frame)
}

// drawExisting draws a line at the names that exist.
func (c Chart) drawExisting(on canvas, x axis) {
	place := x.place(float64(c.Existing))
	at := across(place)
	on.line([]point{{at, top - 8}, {at, bottom}}, stroke{color: ink, width: 1.5, dash: []float64{3, 4}})
	on.text(point{at, top - 16}, "now: "+grouped(float64(c.Existing)),
		textStyle{size: smallText, color: ink, anchor: place})
}

// samples is the maximum number of points of a curve, more than one for 2 pixels.
const samples = 400

// points returns the points of a curve at whole numbers of names, from the axis to the top.
func (c Chart) points(curve Curve, x, y axis) []point {
	const flat = 0.0005 // of the height: no pixel
	var points []point
	last := -1.0
	for i := -1.0; i <= samples; i++ {
		names := math.Max(math.Round(x.value(i/samples)), float64(c.Existing))
		if i < 0 {
			names = float64(c.Existing) // where a steep curve leaves the axis
		}
		place := (c.chanceAt(curve, names) - y.low) / (y.high - y.low)
		if names == last || x.place(names) < 0 {
			continue
		}
		last = names
		if place < flat {
			points = points[:0] // only the last on the axis is kept
		}
		points = append(points, point{across(x.place(names)), upwards(math.Max(place, 0))})
		if place > 1-flat {
			break
		}
	}
	return points
}

// legend lists the curves in their order, each with the number of names at which a failure becomes
// likely.
func (c Chart) legend(on canvas) {
	const sample, gap = 34, 8
	pitch := math.Min(44, (bottom-legendTop)/float64(len(c.Curves)))
	for i, curve := range c.Curves {
		y := legendTop + pitch*float64(i) + 8
		on.line([]point{{legendLeft, y}, {legendLeft + sample, y}}, strokeOf(i, len(c.Curves)))
		on.text(point{legendLeft + sample + gap, y}, curve.Label, textStyle{size: smallText + 1, color: ink})
		if pitch > 30 {
			on.text(point{legendLeft + sample + gap, y + 16}, c.milestones(curve),
				textStyle{size: smallText - 1.5, color: faintInk})
		}
	}
}

// milestones returns the numbers of names at which a failure has the chance of 0.1% and of
// 50 %.
func (c Chart) milestones(curve Curve) string {
	return "0.1% at " + grouped(c.names(curve, 0.001)) + ", 50% at " + grouped(c.names(curve, 0.5))
}
