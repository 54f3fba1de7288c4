package cmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// probabilityValue is a flag for a probability: 0.001 or 0.1%.
type probabilityValue struct {
	value *float64
	set   bool
}

func (p *probabilityValue) Set(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value >= 0 && value <= 1) {
		return fmt.Errorf("%q is not a probability: say 0.001 or 0.1%%", text)
	}
	*p.value, p.set = value, true
	return nil
}

func (p *probabilityValue) String() string { return strconv.FormatFloat(*p.value, 'g', -1, 64) }

// Type names the value in help.
func (p *probabilityValue) Type() string { return "probability" }

// maxAttempts keeps numbers of tries, and products of two, sane.
const maxAttempts = 1024

// attemptsValue is the flag --server-attempts: auto, or a number of tries.
type attemptsValue struct{ attempts int }

func (a *attemptsValue) Set(text string) error {
	if text == "auto" {
		a.attempts = 0
		return nil
	}
	attempts, err := strconv.Atoi(text)
	if err != nil || attempts < 1 || attempts > maxAttempts {
		return fmt.Errorf("%q is neither auto nor a number from 1 to %d", text, maxAttempts)
	}
	a.attempts = attempts
	return nil
}

func (a *attemptsValue) String() string {
	if a.attempts == 0 {
		return "auto"
	}
	return strconv.Itoa(a.attempts)
}

// Type names the value in help.
func (a *attemptsValue) Type() string { return "auto|N" }

// given tells whether the user said a number.
func (a *attemptsValue) given() bool { return a.attempts != 0 }

// retries is what the user said.
func (a *attemptsValue) retries() v1alpha1.Retries {
	return v1alpha1.Retries{Attempts: &a.attempts, AttemptsSource: v1alpha1.SourceFlag}
}

// or is what the user said, or otherwise what is known.
func (a *attemptsValue) or(known v1alpha1.Retries) v1alpha1.Retries {
	if a.given() {
		return a.retries()
	}
	return known
}

// durationValue is a flag for a duration in which days are allowed: 30d,
// 1d12h, 90m.
type durationValue time.Duration

func (d *durationValue) Set(text string) error {
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
	*d = durationValue(value)
	return nil
}

// maxDays keeps a number of days within a time.Duration of 292 years.
const maxDays = 100_000

func (d *durationValue) String() string {
	const day = 24 * time.Hour
	if value := time.Duration(*d); value != 0 && value%day == 0 {
		return fmt.Sprintf("%dd", value/day)
	}
	return time.Duration(*d).String()
}

// Type names the value in help.
func (d *durationValue) Type() string { return "duration" }
