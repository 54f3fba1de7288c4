package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colors that color-blind readers can distinguish (Okabe and Ito 2008). The shapes differ, too. The background is
// painted for dark pages.
var (
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	gray   = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	black  = color.RGBA{0x22, 0x22, 0x22, 0xff}
)

const (
	width  = 16 * vg.Centimeter
	height = 13 * vg.Centimeter
	margin = 3 * vg.Millimeter
)

// figure shows measured points and expected values, and below them their difference.
type figure struct {
	title, x, y, deviation string
	xMin, xMax, xStep      float64
	yMax, yStep            float64
	expected               []curve
	measured               []series
}

// curve is a line of expected values. Crosses show its points if the values between them have no meaning.
type curve struct {
	label   string
	points  plotter.XYs
	crosses bool
}

// series is a group of measured values, and their differences from the expected values.
type series struct {
	label              string
	color              color.Color
	shape              draw.GlyphDrawer
	values, deviations []point
}

// point is a measured value with half its interval.
type point struct{ x, y, spread float64 }

// save writes the figure as SVG.
func (f figure) save(path string) error {
	above, err := f.above()
	if err != nil {
		return err
	}
	below, err := f.below()
	if err != nil {
		return err
	}
	return saveSVG(path, func(canvas draw.Canvas) {
		drawAligned(above, draw.Crop(canvas, 0, 0, height*0.345, 0), below, draw.Crop(canvas, 0, 0, 0, -height*0.635))
	})
}

// saveSVG writes a drawing as SVG.
func saveSVG(path string, drawOn func(draw.Canvas)) error {
	svg := vgsvg.New(width, height)
	canvas := draw.New(svg)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Path())
	drawOn(draw.Crop(canvas, margin, -margin, margin, -margin))
	var text bytes.Buffer
	if _, err := svg.WriteTo(&text); err != nil {
		return err
	}
	// Viewers without this font use a similar one.
	drawing := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif"))
	return os.WriteFile(path, drawing, 0o644)
}

// above plots the measured and expected values.
func (f figure) above() (*plot.Plot, error) {
	p := f.plot()
	p.Title.Text, p.Y.Label.Text = f.title, f.y
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, f.yMax, every(f.yStep)
	p.X.Tick.Label.Font.Size = 0 // below has them
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(6), vg.Points(-4)
	for _, c := range f.expected {
		if err := c.addTo(p); err != nil {
			return nil, err
		}
	}
	for _, s := range f.measured {
		if err := s.addTo(p, s.values, s.label); err != nil {
			return nil, err
		}
	}
	p.Legend.Add("(bars: 95 % intervals)")
	return p, nil
}

// below plots the differences of the measured values from the expected values.
func (f figure) below() (*plot.Plot, error) {
	p := f.plot()
	p.X.Label.Text, p.Y.Label.Text = f.x, f.deviation
	if err := (curve{points: plotter.XYs{{X: f.xMin}, {X: f.xMax}}}).addTo(p); err != nil {
		return nil, err
	}
	for _, s := range f.measured {
		if err := s.addTo(p, s.deviations, ""); err != nil {
			return nil, err
		}
		for _, d := range s.deviations {
			p.Y.Max = max(p.Y.Max, 1.1*(math.Abs(d.y)+d.spread))
		}
	}
	p.Y.Min = -p.Y.Max
	return p, nil
}

// plot returns an empty plot with the figure's x axis.
func (f figure) plot() *plot.Plot {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.BackgroundColor = color.Transparent // save paints it
	p.X.Min, p.X.Max, p.X.Tick.Marker = f.xMin, f.xMax, every(f.xStep)
	p.Title.Padding = vg.Points(6)
	p.Title.TextStyle.Font.Size = vg.Points(13)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Label.TextStyle.Color, axis.Tick.Color, axis.Tick.Label.Color = black, black, black, black
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = vg.Points(10), vg.Points(9)
		axis.Padding = 0
	}
	p.Title.TextStyle.Color, p.Legend.TextStyle.Color = black, black
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Padding = vg.Points(3)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gray, gray
	p.Add(grid)
	return p
}

// every returns numbered ticks at a distance of step.
func every(step float64) plot.TickerFunc {
	return func(low, high float64) (ticks []plot.Tick) {
		for i := int(math.Ceil(low / step)); float64(i)*step <= high; i++ {
			value := float64(i) * step
			ticks = append(ticks, plot.Tick{Value: value, Label: fmt.Sprintf("%.4g", value)})
		}
		return ticks
	}
}

func (c curve) addTo(p *plot.Plot) error {
	line, crosses, err := plotter.NewLinePoints(c.points)
	if err != nil {
		return err
	}
	line.Color, line.Width = black, vg.Points(1)
	p.Add(line)
	thumbnails := []plot.Thumbnailer{line}
	if c.crosses {
		crosses.Color, crosses.Shape, crosses.Radius = black, draw.CrossGlyph{}, vg.Points(3)
		p.Add(crosses)
		thumbnails = append(thumbnails, crosses)
	}
	if c.label != "" {
		p.Legend.Add(c.label, thumbnails...)
	}
	return nil
}

func (s series) addTo(p *plot.Plot, points []point, label string) error {
	data := struct {
		plotter.XYs
		plotter.YErrors
	}{make(plotter.XYs, len(points)), make(plotter.YErrors, len(points))}
	for i, point := range points {
		data.XYs[i].X, data.XYs[i].Y = point.x, point.y
		data.YErrors[i].Low, data.YErrors[i].High = point.spread, point.spread
	}
	bars, err := plotter.NewYErrorBars(data)
	if err != nil {
		return err
	}
	dots, err := plotter.NewScatter(data)
	if err != nil {
		return err
	}
	bars.Color, bars.Width = s.color, vg.Points(1.2)
	dots.Color, dots.Shape, dots.Radius = s.color, s.shape, vg.Points(2.5)
	p.Add(bars, dots)
	if label != "" {
		p.Legend.Add(label, dots)
	}
	return nil
}

// drawAligned draws two plots whose y axes are aligned, even if the widths of their numbers differ.
func drawAligned(above *plot.Plot, upper draw.Canvas, below *plot.Plot, lower draw.Canvas) {
	left := above.DataCanvas(upper).Min.X - below.DataCanvas(lower).Min.X
	right := above.DataCanvas(upper).Max.X - below.DataCanvas(lower).Max.X
	above.Draw(draw.Crop(upper, max(-left, 0), min(-right, 0), 0, 0))
	below.Draw(draw.Crop(lower, max(left, 0), min(right, 0), 0, 0))
}
