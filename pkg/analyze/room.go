package analyze

import (
	"fmt"
	"math"
)

// Unbounded is the Room of probability 1, which is any number of creates.
const Unbounded = math.MaxInt64

// Room returns the largest number of creates for which AnyFails(existing, creates) <= p. It is an
// exact integer for the exact value of the float64 p, at any size. With p = 1 it is Unbounded. With
// p = 0 it is 1 for an empty pool (the first name never fails), else 0. In a full pool it is 0. A p
// outside [0, 1] is an error.
func (m Model) Room(existing int64, p float64) (int64, error) {
	if err := checkProbability(p); err != nil {
		return 0, err
	}
	if p == 1 {
		return Unbounded, nil
	}
	existing = m.clamp(existing)
	limit := newLimit(m, existing, p)
	return lastBelow(m.Names()-existing, func(creates int64) bool { return limit.compare(creates) <= 0 }), nil
}

// Threshold returns the smallest number of creates into an empty pool for which AnyFails(0,
// creates) >= p. It is an exact integer for the exact value of the float64 p, at any size. With p =
// 0 it is 0. With p = 1 it is one more than the number of names (or MaxInt64, if that is smaller).
// A p outside [0, 1] is an error.
func (m Model) Threshold(p float64) (int64, error) {
	if err := checkProbability(p); err != nil {
		return 0, err
	}
	if p == 0 {
		return 0, nil
	}
	limit := newLimit(m, 0, p)
	below := lastBelow(m.Names(), func(creates int64) bool { return limit.compare(creates) < 0 })
	return below + min(1, math.MaxInt64-below), nil
}

// checkProbability returns an error unless p is from 0 to 1.
func checkProbability(p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("probability %v: must be from 0 to 1", p)
	}
	return nil
}

// lastBelow returns the largest n from 0 to end for which below holds, by bisection. below must
// hold for 0, and never again after it fails.
func lastBelow(end int64, below func(int64) bool) int64 {
	if below(end) {
		return end
	}
	low := int64(0)
	for end-low > 1 {
		if middle := low + (end-low)/2; below(middle) {
			low = middle
		} else {
			end = middle
		}
	}
	return low
}

// decisive is the relative difference of two hazards from which float64 shows
// which one is larger. It is far above the error of either, 3e-16.
const decisive = 1e-13

// limit compares the probability that any create fails with a fixed one.
type limit struct {
	model    Model
	existing int64
	p        float64
	hazard   float64
}

// newLimit returns a limit of p, at least 0 and below 1.
func newLimit(m Model, existing int64, p float64) limit {
	return limit{m, existing, p, -math.Log1p(-p)}
}

// compare compares the probability that any of a number of creates fails with the limit. It returns
// -1, 0 or 1. Each of the creates must find a free name. It decides in float64 where that is safe,
// else exactly.
func (l limit) compare(creates int64) int {
	h := l.model.hazard(l.existing, creates)
	switch ratio := h.frac / math.Ldexp(l.hazard, -h.exp); {
	case ratio > 1+decisive:
		return 1
	case ratio < 1-decisive:
		return -1
	default:
		return compareExactly(l.model, l.existing, creates, l.p)
	}
}
