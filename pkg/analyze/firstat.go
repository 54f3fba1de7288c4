package analyze

import "math"

// FirstFailureAt returns the mean time until the first create fails, in days of 24 hours, starting
// from existing names. perDay creates come a day at random times (a Poisson process). The names
// grow steadily by growthPerDay, which is perDay less the deletions. Failures are then a Poisson
// process of rate perDay*(k/N)^t with k names at the time, and the mean is the integral of the
// probability of no failure. A growth below 0 counts as 0, and a growth above perDay as perDay.
// FirstFailure has these two cases, but its Growing counts creates one by one. The time is +Inf if
// no create can fail. A rate below 0, NaN or +Inf is an error, and so is a growth that is NaN.
func (m Model) FirstFailureAt(existing int64, perDay, growthPerDay float64) (float64, error) {
	if err := checkPeriod(perDay, 1); err != nil {
		return 0, err
	}
	if math.IsNaN(growthPerDay) {
		return 0, checkPeriod(growthPerDay, 1)
	}
	g := growing{
		existing: float64(m.clamp(existing)), names: float64(m.Names()), degree: float64(m.Attempts()) + 1,
		perCreate: min(growthPerDay, perDay) / perDay,
	}
	if perDay == 0 || !(g.perCreate > 0) || g.existing == g.names {
		steady, err := m.Churn(existing, perDay, 1)
		return steady.DaysToFirstFailure, err
	}
	return g.creates() / perDay, nil
}

// growing is a population that grows by perCreate names for each create, of a degree
// one above the attempts.
type growing struct{ existing, names, degree, perCreate float64 }

// hazards bound the intervals of the integral of the probability of no failure. The probability is
// smooth in each, and negligible after the last.
var hazards = []float64{1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.7, 1.5, 3, 6, 12, 24, cutoff}

// creates returns the mean number of creates until the first that fails.
func (g growing) creates() float64 {
	var total accumulator
	from := 0.0
	for _, hazard := range hazards {
		to := min(g.grown(hazard), g.names-g.existing)
		for _, p := range gauss32 {
			total.add(p.weight * (to - from) * math.Exp(-g.hazard(from+p.node*(to-from))) / g.perCreate)
		}
		from = to
	}
	total.add(math.Exp(-g.hazard(from))) // in a full pool each create fails
	return total.value()
}

// share is (k/N)^(t+1) of the names there are at first.
func (g growing) share() float64 { return math.Exp(g.degree * math.Log(g.existing/g.names)) }

// hazard returns how many creates fail on average until so many names have been
// added.
func (g growing) hazard(names float64) float64 {
	scale := g.names / (g.perCreate * g.degree)
	if share := g.share(); share > 0 {
		return scale * share * math.Expm1(g.degree*math.Log1p(names/g.existing))
	}
	return scale * math.Exp(g.degree*math.Log((g.existing+names)/g.names))
}

// grown returns how many names have been added when so many creates have failed on
// average.
func (g growing) grown(hazard float64) float64 {
	added := hazard * g.perCreate * g.degree / g.names
	if share := g.share(); share > 0 {
		return g.existing * math.Expm1(math.Log1p(added/share)/g.degree)
	}
	return max(g.names*math.Exp(math.Log(added)/g.degree)-g.existing, 0)
}
