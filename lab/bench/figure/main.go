// Command figure draws the figures of docs/internals/kep-4420.md: the chance of a failure for 0 to 8 retries.
//
//	go run -C lab/bench ./figure ../../docs/figures
package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	poolNames  = 14_348_907 // 27^5
	maxRetries = 8

	width  = 16 * vg.Centimeter
	height = 13 * vg.Centimeter
	margin = 3 * vg.Millimeter
)

// The background is painted for dark pages.
var (
	gray  = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	black = color.RGBA{0x22, 0x22, 0x22, 0xff}
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: figure DIRECTORY")
		os.Exit(2)
	}
	for name, logarithmic := range map[string]bool{"retries-0-to-8.svg": false, "retries-0-to-8-log.svg": true} {
		if err := odds(logarithmic, filepath.Join(os.Args[1], name)); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

func odds(logarithmic bool, path string) error {
	p := newPlot()
	p.Title.Text, p.X.Label.Text = "Chance that any create has failed, for 0 to 8 retries", "names under one prefix"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powersOfTen)
	p.X.Min, p.X.Max = 100, poolNames
	p.Y.Label.Text = "chance that any create has failed, %"
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 100, plot.TickerFunc(twenties)
	if logarithmic {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powersOfTen)
		p.Y.Min = 1e-4
	}
	for retries := range maxRetries + 1 {
		line, err := plotter.NewLine(chances(retries+1, p.Y.Min))
		if err != nil {
			return err
		}
		share := float64(retries) / maxRetries
		line.Color = color.RGBA{uint8(0xd5 * share), uint8(0x72 - 0x14*share), uint8(0xb2 * (1 - share)), 0xff}
		line.Width = vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(strconv.Itoa(retries), line)
	}
	p.Legend.Top, p.Legend.Left = true, true
	return save(p, path)
}

// chances returns the chance in percent after each number of creates: 1 - Π(1 - (n/N)^attempts).
func chances(attempts int, lowest float64) (points plotter.XYs) {
	lnSuccess, next := 0.0, 100.0
	for n := range poolNames {
		if float64(n) >= next {
			if chance := -100 * math.Expm1(lnSuccess); chance >= lowest && chance > 0 {
				points = append(points, plotter.XY{X: float64(n), Y: chance})
			}
			next *= 1.05
		}
		lnSuccess += math.Log1p(-math.Pow(float64(n)/poolNames, float64(attempts)))
	}
	return points
}

func twenties(low, high float64) (ticks []plot.Tick) {
	for value := low; value <= high; value += 20 {
		ticks = append(ticks, plot.Tick{Value: value, Label: fmt.Sprintf("%.4g", value)})
	}
	return ticks
}

func powersOfTen(low, high float64) (ticks []plot.Tick) {
	for exponent := math.Ceil(math.Log10(low)); exponent <= math.Log10(high); exponent++ {
		value := math.Pow(10, exponent)
		ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', -1, 64)})
	}
	return ticks
}

// newPlot returns an empty plot.
func newPlot() *plot.Plot {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.BackgroundColor = color.Transparent // save paints it
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

// save writes a plot as SVG.
func save(p *plot.Plot, path string) error {
	svg := vgsvg.New(width, height)
	canvas := draw.New(svg)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Path())
	p.Draw(draw.Crop(canvas, margin, -margin, margin, -margin))
	var text bytes.Buffer
	if _, err := svg.WriteTo(&text); err != nil {
		return err
	}
	// Viewers without this font use a similar one.
	drawing := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif"))
	return os.WriteFile(path, drawing, 0o644)
}
