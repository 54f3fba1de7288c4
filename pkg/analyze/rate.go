package analyze

import "fmt"

// WindowConfidence is the two-sided confidence of the interval of one window in LowerRate. The true
// rate is below the interval's lower end in 1.25% of all cases. For four windows, the greatest
// lower end holds in 95% of all cases, however much they overlap (Bonferroni).
const WindowConfidence = 0.975

// Window has the creates of a time before an audit.
type Window struct {
	Days    float64 // its length in days of 24 hours, above 0
	Creates int64   // names created in it that are still there
}

// Rate is an observed rate of creation. See LowerRate.
type Rate struct {
	PerDay float64 // creates per day of 24 hours
	Window int     // index of the window that shows it
}

// LowerRate returns a lower bound of the rate of creation: the greatest lower end of the windows'
// exact Poisson intervals (Garwood 1936), each of WindowConfidence. Of equal ones it takes the
// first. For up to four windows and a steady rate, the bound holds with 95%. No window gives an
// upper bound, because an audit sees only objects that still exist. A short window shows objects
// that don't live long, and a long window shows rare creates. Without a window the bound is 0. A
// length that is not above 0 is an error.
func LowerRate(windows []Window) (Rate, error) {
	var greatest Rate
	for i, w := range windows {
		if !(w.Days > 0) {
			return Rate{}, fmt.Errorf("a window of %v days: must be above 0", w.Days)
		}
		lower, _, err := Garwood(w.Creates, WindowConfidence)
		if err != nil {
			return Rate{}, err
		}
		if perDay := lower / w.Days; perDay > greatest.PerDay {
			greatest = Rate{PerDay: perDay, Window: i}
		}
	}
	return greatest, nil
}
