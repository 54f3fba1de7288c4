package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
)

// axis maps values to 0 at its beginning and 1 at its end.
type axis struct {
	low, high   float64 // values, or their decimal logarithms
	logarithmic bool
	ticks       []tick
}

// tick is a labeled place of an axis. A tick without a label is a small one.
type tick struct {
	at    float64 // from 0 to 1
	label string
}

// place returns where on the axis a value is: 0 at its beginning, 1 at its end.
func (a axis) place(value float64) float64 {
	if a.logarithmic {
		value = math.Log10(value)
	}
	return (value - a.low) / (a.high - a.low)
}

// value returns the value at a place of the axis. It is the inverse of place.
func (a axis) value(place float64) float64 {
	value := a.low + place*(a.high-a.low)
	if a.logarithmic {
		return math.Pow(10, value)
	}
	return value
}

// countAxis returns the axis of numbers of names that has at least low to high
// on it.
func countAxis(low, high float64, logarithmic bool) axis {
	if logarithmic {
		return decades(low, high)
	}
	const most = 6 // intervals, so that long labels fit
	step := niceAbove(high / most)
	a := axis{low: 0, high: math.Ceil(high/step) * step}
	for at := 0.0; at <= a.high*(1+1e-9); at += step {
		a.ticks = append(a.ticks, tick{at / a.high, grouped(at)})
	}
	return a
}

// decades returns a logarithmic axis with a label at each power of ten, or at every
// second or third where there are many.
func decades(low, high float64) axis {
	const most = 7 // labels
	a := axis{low: math.Log10(niceBelow(math.Max(low, 1))), high: math.Log10(niceAbove(high)), logarithmic: true}
	every := math.Ceil((a.high - a.low) / most)
	for exponent := math.Floor(a.low); exponent <= a.high; exponent++ {
		for digit := 1.0; digit < 10; digit++ {
			value := digit * math.Pow(10, exponent)
			place := a.place(value)
			if place < -1e-9 || place > 1+1e-9 || every > 1 && digit > 1 {
				continue
			}
			label := ""
			if digit == 1 && math.Mod(exponent, every) == 0 || a.high-a.low < 2 && (digit == 2 || digit == 5) {
				label = grouped(value)
			}
			a.ticks = append(a.ticks, tick{place, label})
		}
	}
	return a
}

// chanceAxis returns the axis of chances.
func chanceAxis(scale Scale) axis {
	if scale != Log {
		a := axis{low: 0, high: 1}
		for percent := 0; percent <= 100; percent += 20 {
			a.ticks = append(a.ticks, tick{float64(percent) / 100, strconv.Itoa(percent) + "%"})
		}
		return a
	}
	a := axis{low: math.Log10(smallest), high: 0}
	for exponent := a.low; exponent <= 0; exponent++ {
		a.ticks = append(a.ticks, tick{(exponent - a.low) / -a.low, percentOf(exponent)})
	}
	return a
}

// percentOf returns a power of ten in per cent.
func percentOf(exponent float64) string {
	return strconv.FormatFloat(100*math.Pow(10, exponent), 'f', int(math.Max(0, -2-exponent)), 64) + "%"
}

// niceBelow returns the largest 1, 2 or 5 times a power of ten that is at most x.
func niceBelow(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)+1e-9))
	for _, digit := range []float64{5, 2} {
		if digit*power <= x*(1+1e-9) {
			return digit * power
		}
	}
	return power
}

// niceAbove returns the smallest 1, 2 or 5 times a power of ten that is at least
// x.
func niceAbove(x float64) float64 {
	below := niceBelow(x)
	if below >= x*(1-1e-9) {
		return below
	}
	return niceBelow(below * 2.5)
}

// grouped returns a whole number with its thousands separated, 14,348,907, or
// with three digits if it is too long for that, 5.87e13.
func grouped(x float64) string {
	if x >= 1e9 {
		return strings.NewReplacer("e+0", "e", "e+", "e").Replace(strconv.FormatFloat(x, 'g', 3, 64))
	}
	return humanize.Grouped(int64(math.RoundToEven(x)))
}
