package analyze

import "fmt"

// WindowConfidence is the two-sided confidence of the interval of one window in
// LowerRate: the truth is below its lower end in 1.25% of all cases. So of four
// windows the greatest lower end holds in 95% of all cases, however much they
// overlap (Bonferroni).
const WindowConfidence = 0.975

// Window is what one look at a population shows of a time that ends with it.
type Window struct {
	Days    float64 // its length in days of 24 hours, above 0
	Creates int64   // names created in it that are still there
}

// Rate is a rate of creation that was seen; see LowerRate.
type Rate struct {
	PerDay float64 // creates per day of 24 hours
	Window int     // index of the window that shows it
}

// LowerRate returns a rate of creation that the truth is not below: the greatest
// of the lower ends of the windows' exact Poisson intervals (Garwood 1936), each
// of WindowConfidence; of equal ones the first. Of up to four windows it holds with
// 95% for a rate that is steady. Only survivors are seen, so that no window gives
// an upper bound: a short one sees what does not live long, a long one what is rare.
// Without a window it is 0. A length that is not above 0 is an error.
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
