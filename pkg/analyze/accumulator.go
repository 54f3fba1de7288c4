package analyze

import "math"

// accumulator adds float64 values with one rounding error in all (Neumaier
// 1974).
type accumulator struct{ sum, lost float64 }

func (a *accumulator) add(x float64) {
	s := a.sum + x
	if math.Abs(a.sum) >= math.Abs(x) {
		a.lost += (a.sum - s) + x
	} else {
		a.lost += (x - s) + a.sum
	}
	a.sum = s
}

func (a *accumulator) value() float64 { return a.sum + a.lost }
