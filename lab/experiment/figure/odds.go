package main

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	poolNames  = 14_348_907 // 27^5
	maxRetries = 8
)

// saveOdds draws the chance that any create has failed, for 0 to 8 retries, into two figures of dir.
func saveOdds(dir string) error {
	for name, logarithmic := range map[string]bool{"retries-0-to-8.svg": false, "retries-0-to-8-log.svg": true} {
		if err := odds(logarithmic, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func odds(logarithmic bool, path string) error {
	p := figure{}.plot()
	p.Title.Text, p.X.Label.Text = "Chance that any create has failed, for 0 to 8 retries", "names under one prefix"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powersOfTen)
	p.X.Min, p.X.Max = 100, poolNames
	p.Y.Label.Text = "chance that any create has failed, %"
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 100, every(20)
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
	return saveSVG(path, func(canvas draw.Canvas) { p.Draw(canvas) })
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

func powersOfTen(low, high float64) (ticks []plot.Tick) {
	for exponent := math.Ceil(math.Log10(low)); exponent <= math.Log10(high); exponent++ {
		value := math.Pow(10, exponent)
		ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', -1, 64)})
	}
	return ticks
}
