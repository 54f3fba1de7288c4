package experiment

import (
	"fmt"
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
)

// Results are the measurements of an experiment and the predictions of the model.
type Results struct {
	Conditions    Conditions     `json:"conditions"`
	Names         int            `json:"names"`
	Attempts      []Attempts     `json:"attempts"`
	FirstFailures []FirstFailure `json:"firstFailures"`
	// Means tests all means of FirstFailures together.
	Means Fit    `json:"means"`
	Rates []Rate `json:"rates"`
	// AllRates tests all Rates together.
	AllRates Fit `json:"allRates"`
}

// Conditions describe the date, the versions and the machine of the measurement.
type Conditions struct {
	Date       string `json:"date"`
	Kubernetes string `json:"kubernetes"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	CPUs       int    `json:"cpus"`
	Minutes    int    `json:"minutes"`
}

// Attempts is the number of names that a server tried in a create, by its own count.
type Attempts struct {
	Expected int `json:"expected"`
	Measured int `json:"measured"`
}

// FirstFailure is the number of creates up to and including the first that fails.
type FirstFailure struct {
	ServerAttempts int `json:"serverAttempts"`
	ClientAttempts int `json:"clientAttempts"`
	Prefixes       int `json:"prefixes"`
	// Mean and Deviation are taken over the prefixes. Error is the standard error of the mean.
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Error     float64 `json:"standardError"`
	// Expected is the mean of the model. ExpectedDeviation is the model's standard deviation for
	// one prefix.
	Expected          float64 `json:"expected"`
	ExpectedDeviation float64 `json:"expectedDeviation"`
	// Z is the difference of Mean and Expected in standard errors of the model.
	Z float64 `json:"z"`
	// Shape compares the whole distribution with the model's.
	Shape Fit `json:"shape"`
}

// Attempts is the maximum number of names that one create tried.
func (f FirstFailure) Attempts() int { return f.ServerAttempts * f.ClientAttempts }

// Off is the difference of Mean and Expected in percent.
func (f FirstFailure) Off() float64 { return 100 * (f.Mean/f.Expected - 1) }

// Rate is the share of creates that failed while a number of names existed.
type Rate struct {
	ServerAttempts int     `json:"serverAttempts"`
	Existing       int     `json:"existing"`
	Creates        int     `json:"creates"`
	Failures       int     `json:"failures"`
	Measured       float64 `json:"measured"`
	Error          float64 `json:"standardError"` // binomial
	Expected       float64 `json:"expected"`
	Z              float64 `json:"z"`
}

// NewFirstFailure compares the number of creates under each prefix with the model.
func NewFirstFailure(serverAttempts, clientAttempts int, seen []int) (FirstFailure, error) {
	m, err := newModel(serverAttempts * clientAttempts)
	if err != nil {
		return FirstFailure{}, err
	}
	if len(seen) < 2 {
		return FirstFailure{}, fmt.Errorf("%d prefixes: need 2 or more", len(seen))
	}
	mean, deviation := moments(seen)
	expected := firstFailure(m)
	root := math.Sqrt(float64(len(seen)))
	f := FirstFailure{
		ServerAttempts: serverAttempts, ClientAttempts: clientAttempts, Prefixes: len(seen),
		Mean: mean, Deviation: deviation, Error: deviation / root,
		Expected: expected.mean(), ExpectedDeviation: expected.deviation(),
		Shape: expected.chiSquare(seen),
	}
	f.Z = (f.Mean - f.Expected) / (f.ExpectedDeviation / root)
	return f, nil
}

// NewRate compares a number of failures with the model.
func NewRate(serverAttempts, existing, creates, failures int) (Rate, error) {
	m, err := newModel(serverAttempts)
	if err != nil {
		return Rate{}, err
	}
	n, p, q := float64(creates), float64(failures)/float64(creates), m.NextFails(int64(existing))
	return Rate{
		ServerAttempts: serverAttempts, Existing: existing, Creates: creates, Failures: failures,
		Measured: p, Error: math.Sqrt(p * (1 - p) / n),
		Expected: q, Z: (p - q) / math.Sqrt(q*(1-q)/n),
	}, nil
}

// Prefixes returns the number of prefixes that are needed for a relative standard error of the mean number of creates
// to the first failure.
func Prefixes(attempts int, relativeError float64) (int, error) {
	m, err := newModel(attempts)
	if err != nil {
		return 0, err
	}
	d := firstFailure(m)
	spread := d.deviation() / d.mean()
	return int(math.Ceil(spread * spread / (relativeError * relativeError))), nil
}

// Conclude tests the means together, and the rates together.
func (r *Results) Conclude() {
	r.Means, r.AllRates = Fit{Degrees: len(r.FirstFailures)}, Fit{Degrees: len(r.Rates)}
	for _, f := range r.FirstFailures {
		r.Means.ChiSquare += f.Z * f.Z
	}
	for _, rate := range r.Rates {
		r.AllRates.ChiSquare += rate.Z * rate.Z
	}
	r.Means, r.AllRates = r.Means.withProbability(), r.AllRates.withProbability()
}

// Farthest returns the Z with the largest absolute value.
func (r Results) Farthest() (z float64) {
	for _, f := range r.FirstFailures {
		if math.Abs(f.Z) > math.Abs(z) {
			z = f.Z
		}
	}
	return z
}

// LeastShape returns the smallest probability of a shape.
func (r Results) LeastShape() float64 {
	least := 1.0
	for _, f := range r.FirstFailures {
		least = min(least, f.Shape.Probability)
	}
	return least
}

// FarthestByChance returns the probability that at least one of these means is as far off as Farthest, if the model
// is right.
func (r Results) FarthestByChance() float64 {
	return r.oneOf(math.Erfc(math.Abs(r.Farthest()) / math.Sqrt2))
}

// LeastShapeByChance returns the probability that at least one of these shapes has a probability of at most
// LeastShape, if the model is right.
func (r Results) LeastShapeByChance() float64 { return r.oneOf(r.LeastShape()) }

func (r Results) oneOf(p float64) float64 {
	return 1 - math.Pow(1-p, float64(len(r.FirstFailures)))
}

// Creates returns the total number of creates.
func (r Results) Creates() int {
	var sum float64
	for _, f := range r.FirstFailures {
		sum += f.Mean * float64(f.Prefixes)
	}
	for _, rate := range r.Rates {
		sum += float64(rate.Creates)
	}
	return int(math.Round(sum))
}

func moments(seen []int) (mean, deviation float64) {
	for _, n := range seen {
		mean += float64(n) / float64(len(seen))
	}
	for _, n := range seen {
		deviation += (float64(n) - mean) * (float64(n) - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(seen)-1))
}

// newModel returns the model of a prefix of the experiment.
func newModel(attempts int) (analyze.Model, error) { return analyze.NewModel(int64(Names), attempts) }
