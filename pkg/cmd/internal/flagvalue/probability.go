package flagvalue

import (
	"fmt"
	"strconv"
	"strings"
)

// Probability is a flag for a probability: 0.001 or 0.1%.
type Probability struct {
	Value *float64

	given bool
}

// Set parses a fraction or a percentage.
func (p *Probability) Set(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value >= 0 && value <= 1) {
		return fmt.Errorf("%q is not a probability, like 0.001 or 0.1%%", text)
	}
	*p.Value, p.given = value, true
	return nil
}

func (p *Probability) String() string { return strconv.FormatFloat(*p.Value, 'g', -1, 64) }

// Given reports whether the user set a probability.
func (p *Probability) Given() bool { return p.given }

// Type names the value in help.
func (p *Probability) Type() string { return "probability" }
