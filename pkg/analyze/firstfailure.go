package analyze

import "math"

// MeanCreatesToFirstFailure returns the mean number of creates up to and including the first that
// fails, starting from existing names. It is the sum over m >= 0 of the probability that m creates
// all succeed. It is from 1 (a full pool) to N+1.
func (m Model) MeanCreatesToFirstFailure(existing int64) float64 {
	existing = m.clamp(existing)
	usual := m.usualFailure(existing)
	certain := int64(float64(usual) * math.Exp(-cutoff/float64(m.Attempts())))
	alive := survival{path: m.at(usual), state: max(existing, certain) - usual}
	alive.total.add(float64(usual + alive.state - existing))
	alive.addEach()
	alive.addIntegral()
	return alive.total.value()
}

// usualFailure returns about the state at which the hazard of the creates since existing names
// reaches 1. The hazard there is (x^(t+1) - k^(t+1)) / ((t+1) N^t).
func (m Model) usualFailure(existing int64) int64 {
	names, degree := float64(m.Names()), float64(m.Attempts())+1
	k := math.Exp(degree * math.Log(float64(existing)/names))
	x := names * math.Exp(math.Log(k+degree/names)/degree)
	if x >= names {
		return max(m.Names()-1, 1)
	}
	return max(int64(x), 1)
}

// at returns an empty path at a state.
func (m Model) at(state int64) path {
	return path{
		top:      float64(state),
		free:     float64(m.Names() - state),
		attempts: float64(m.Attempts()),
		last:     m.NextFails(state),
	}
}

// survival adds up the probability of having seen no failure over successive
// states. Before it starts that is 1.
type survival struct {
	path   path  // at the state from which others are counted
	state  int64 // next state
	hazard float64
	total  accumulator
}

// alive reports whether the survival is still worth adding.
func (s *survival) alive() bool { return s.hazard < cutoff }

// rough reports whether the hazards or the survival change too fast around the next state for an
// integral. Either few names exist, failures are likely, or the pool is so small that the survival
// may last until it is almost full.
func (s *survival) rough(hazard float64) bool {
	return s.path.top+float64(s.state) < smooth*s.path.attempts ||
		hazard > 1.0/smooth ||
		s.path.top+s.path.free < 3*smooth*s.path.attempts
}

// addEach adds states one by one while they are rough.
func (s *survival) addEach() {
	var sum accumulator
	for s.alive() {
		hazard := s.path.hazard(-float64(s.state))
		if !s.rough(hazard) {
			return
		}
		s.total.add(math.Exp(-s.hazard))
		sum.add(hazard)
		s.hazard = sum.value()
		s.state++
	}
}

// addIntegral adds the rest, if any, as an integral over the states, up to
// where no survival is left.
func (s *survival) addIntegral() {
	if !s.alive() {
		return
	}
	x := float64(s.state)
	s.total.add(-s.endCorrection())
	h := smoothHazard{path: s.path, to: x - 0.5}
	h.total.add(s.hazard + s.path.endCorrection(path.hazard, 1-x))
	for x -= 0.5; s.alive(); {
		width := s.panel(x)
		for _, p := range gauss32 {
			s.total.add(p.weight * width * math.Exp(-h.at(x+p.node*width)))
		}
		x += width
		s.hazard = h.at(x)
	}
}

// panel returns a width in which the survival is smooth enough for one panel: up to a hazard of
// about e^-8, then up to about 1. After that, the hazards of a create and of the path change little
// in a panel.
func (s *survival) panel(x float64) float64 {
	switch early := s.path.top * math.Expm1(-8/s.path.attempts); {
	case x < early:
		return early - x
	case x < 0:
		return -x
	default:
		return min(3*(s.path.top+x)/s.path.attempts, 16/s.path.hazard(-x))
	}
}

// endCorrection returns endCorrection of the survival around the next state.
func (s *survival) endCorrection() float64 {
	var f [6]float64
	g := -float64(s.state)
	h := s.hazard - s.path.hazard(g+1) - s.path.hazard(g+2) - s.path.hazard(g+3)
	for i := range f {
		f[i] = math.Exp(-h)
		h += s.path.hazard(g + 3 - float64(i))
	}
	return endCorrection(f)
}

// smoothHazard is the hazard of a path as a function of a real number of states. It is an integral
// with the end correction of Euler-Maclaurin's midpoint formula.
type smoothHazard struct {
	path  path
	to    float64
	total accumulator
}

// at returns the hazard of the path up to x. Later calls must have a larger x.
func (h *smoothHazard) at(x float64) float64 {
	h.path.addPanel(&h.total, gauss8, path.hazard, 0.5-x, x-0.5-h.to)
	h.to = x - 0.5
	return h.total.value() - h.path.endCorrection(path.hazard, 1-x)
}
