package analyze

import "math"

// Probability is a probability with full relative precision at both ends. Near 0 it goes below the
// range of a float64. Near 1 its complement keeps its digits. The zero Probability is 0.
type Probability struct {
	hazard scaled // -ln(1-P)
}

// Float64 returns the probability, from 0 to 1. It is 0 if it is below the float64 range.
func (p Probability) Float64() float64 { return -math.Expm1(-p.Hazard()) }

// Complement returns 1-P, from 0 to 1, without the rounding error of that
// subtraction.
func (p Probability) Complement() float64 { return math.Exp(-p.Hazard()) }

// Hazard returns L = -ln(1-P), from 0 to +Inf. Hazards of successive creates
// add up.
func (p Probability) Hazard() float64 { return p.hazard.float() }

// Log10 returns the decimal logarithm of the probability, from -Inf to 0. It stays finite where
// Float64 underflows.
func (p Probability) Log10() float64 {
	switch l := p.Hazard(); {
	case l > math.Ln2:
		return math.Log1p(-math.Exp(-l)) / math.Ln10
	case l > 0x1p-1000:
		return math.Log10(-math.Expm1(-l))
	default:
		return p.hazard.ln() / math.Ln10
	}
}
