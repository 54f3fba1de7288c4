// Package flagvalue has the types of flag values: words, probabilities, durations with days, and numbers of attempts.
// The package knows no command.
package flagvalue

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Enum is a flag whose value is one of a few words. Help, completion and the error about any other word use its
// list.
type Enum[T ~string] struct {
	Value T

	words []T
}

// NewEnum returns an Enum with a default, and all words in the order in which
// they are shown.
func NewEnum[T ~string](value T, words ...T) Enum[T] { return Enum[T]{Value: value, words: words} }

// Set sets the flag to one of its words.
func (e *Enum[T]) Set(text string) error {
	if !slices.Contains(e.words, T(text)) {
		return fmt.Errorf("must be %s%s", alternatives(e.Words()), humanize.DidYouMean("", text, e.Words()))
	}
	e.Value = T(text)
	return nil
}

func (e *Enum[T]) String() string { return string(e.Value) }

// Type names the value in help.
func (e *Enum[T]) Type() string { return "string" }

// Words returns the possible values.
func (e *Enum[T]) Words() []string {
	words := make([]string, 0, len(e.words))
	for _, word := range e.words {
		words = append(words, string(word))
	}
	return words
}

// Usage returns the flag's help: a description and the words. meanings can have the meaning of a word.
func (e *Enum[T]) Usage(what string, meanings map[T]string) string {
	words := e.Words()
	for i, word := range e.words {
		if meaning := meanings[word]; meaning != "" {
			words[i] += " (" + meaning + ")"
		}
	}
	return what + ": " + alternatives(words)
}

// alternatives returns "a or b" or "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

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

// Duration is a flag for a duration in which days are allowed: 30d,
// 1d12h, 90m.
type Duration time.Duration

// Set parses a duration that can have days, like "1d12h".
func (d *Duration) Set(text string) error {
	rest := text
	var days float64
	if before, after, ok := strings.Cut(text, "d"); ok {
		var err error
		if days, err = strconv.ParseFloat(before, 64); err != nil || math.IsNaN(days) || math.Abs(days) > maxDays {
			return fmt.Errorf("%q is not a duration, like 90m, 24h or 30d", text)
		}
		rest = after
	}
	value := time.Duration(days * 24 * float64(time.Hour))
	if rest != "" || text == "" {
		duration, err := time.ParseDuration(rest)
		if err != nil {
			return fmt.Errorf("%q is not a duration, like 90m, 24h or 30d", text)
		}
		value += duration
	}
	*d = Duration(value)
	return nil
}

// maxDays keeps a number of days within a time.Duration of 292 years.
const maxDays = 100_000

func (d Duration) String() string {
	const day = 24 * time.Hour
	if value := time.Duration(d); value != 0 && value%day == 0 {
		return fmt.Sprintf("%dd", value/day)
	}
	return time.Duration(d).String()
}

// Type names the value in help.
func (d *Duration) Type() string { return "duration" }

// MaxAttempts limits numbers of attempts, so that the product of two of them can't overflow.
const MaxAttempts = 1024

// Attempts is the flag --server-attempts: auto, or a number of attempts.
type Attempts struct{ attempts int }

// Set parses auto or a number of attempts.
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

// Given reports whether the user set a number. A command without the flag has a nil a.
func (a *Attempts) Given() bool { return a != nil && a.attempts != 0 }

// Retries returns the value of the flag.
func (a *Attempts) Retries() v1alpha1.Retries {
	return v1alpha1.Retries{Attempts: &a.attempts, AttemptsSource: v1alpha1.SourceFlag}
}

// Or returns the value of the flag if the user set it, and otherwise known.
func (a *Attempts) Or(known v1alpha1.Retries) v1alpha1.Retries {
	if a.Given() {
		return a.Retries()
	}
	return known
}

// Words returns the flags that the user has set as words of a command line. It omits flags for whose names repeats is
// false. The user and the password of a URL are replaced.
func Words(flags *pflag.FlagSet, repeats func(name string) bool) (words []string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || !repeats(flag.Name) {
			return
		}
		values := []string{flag.Value.String()}
		if several, is := flag.Value.(pflag.SliceValue); is {
			values = several.GetSlice()
		}
		for _, value := range values {
			switch {
			case flag.Value.Type() != "bool":
				words = append(words, "--"+flag.Name, withoutUser(value))
			case value == "true":
				words = append(words, "--"+flag.Name)
			}
		}
	})
	return words
}

func withoutUser(value string) string {
	address, err := url.Parse(value)
	if err != nil || address.User == nil {
		return value
	}
	address.User = url.User("REDACTED")
	return address.String()
}
