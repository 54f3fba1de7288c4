// Package flagvalue owns what flags take: probabilities, durations with days,
// numbers of tries, numbers as people write them. It knows no command.
package flagvalue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Probability is a flag for a probability: 0.001 or 0.1%.
type Probability struct {
	Value *float64

	given bool
}

// Set takes what the user said.
func (p *Probability) Set(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value >= 0 && value <= 1) {
		return fmt.Errorf("%q is not a probability: say 0.001 or 0.1%%", text)
	}
	*p.Value, p.given = value, true
	return nil
}

func (p *Probability) String() string { return strconv.FormatFloat(*p.Value, 'g', -1, 64) }

// Given reports whether the user said a probability.
func (p *Probability) Given() bool { return p.given }

// Type names the value in help.
func (p *Probability) Type() string { return "probability" }

const (
	// MaxAttempts keeps numbers of tries, and products of two, sane.
	MaxAttempts = 1024
	// ClientAttempts is how many names create tries unless the user says
	// otherwise, and so what reports count with.
	ClientAttempts = 16
)

// Attempts is the flag --server-attempts: auto, or a number of tries.
type Attempts struct{ attempts int }

// Set takes what the user said.
func (a *Attempts) Set(text string) error {
	if text == "auto" {
		a.attempts = 0
		return nil
	}
	attempts, err := strconv.Atoi(text)
	if err != nil || attempts < 1 || attempts > MaxAttempts {
		return fmt.Errorf("%q is neither auto nor a number from 1 to %d", text, MaxAttempts)
	}
	a.attempts = attempts
	return nil
}

func (a *Attempts) String() string {
	if a.attempts == 0 {
		return "auto"
	}
	return strconv.Itoa(a.attempts)
}

// Type names the value in help.
func (a *Attempts) Type() string { return "auto|N" }

// Given reports whether the user said a number.
func (a *Attempts) Given() bool { return a.attempts != 0 }

// Retries is what the user said.
func (a *Attempts) Retries() v1alpha1.Retries {
	return v1alpha1.Retries{Attempts: &a.attempts, AttemptsSource: v1alpha1.SourceFlag}
}

// Or is what the user said, or otherwise what is known.
func (a *Attempts) Or(known v1alpha1.Retries) v1alpha1.Retries {
	if a.Given() {
		return a.Retries()
	}
	return known
}

// Duration is a flag for a duration in which days are allowed: 30d,
// 1d12h, 90m.
type Duration time.Duration

// Set takes what the user said.
func (d *Duration) Set(text string) error {
	rest := text
	var days float64
	if before, after, ok := strings.Cut(text, "d"); ok {
		var err error
		if days, err = strconv.ParseFloat(before, 64); err != nil || math.IsNaN(days) || math.Abs(days) > maxDays {
			return fmt.Errorf("%q is not a duration: say 90m, 24h or 30d", text)
		}
		rest = after
	}
	value := time.Duration(days * 24 * float64(time.Hour))
	if rest != "" || text == "" {
		duration, err := time.ParseDuration(rest)
		if err != nil {
			return fmt.Errorf("%q is not a duration: say 90m, 24h or 30d", text)
		}
		value += duration
	}
	*d = Duration(value)
	return nil
}

// maxDays keeps a number of days within a time.Duration of 292 years.
const maxDays = 100_000

func (d *Duration) String() string {
	const day = 24 * time.Hour
	if value := time.Duration(*d); value != 0 && value%day == 0 {
		return fmt.Sprintf("%dd", value/day)
	}
	return time.Duration(*d).String()
}

// Type names the value in help.
func (d *Duration) Type() string { return "duration" }
