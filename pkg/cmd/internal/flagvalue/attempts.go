package flagvalue

import (
	"fmt"
	"strconv"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const (
	// MaxAttempts keeps numbers of attempts, and products of two, sane.
	MaxAttempts = 1024
	// ClientAttempts is the default of create's --attempts. Reports count with it.
	ClientAttempts = 16
)

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

// Given reports whether the user set a number.
func (a *Attempts) Given() bool { return a.attempts != 0 }

// Retries returns the value of the flag.
func (a *Attempts) Retries() v1alpha1.Retries {
	return v1alpha1.Retries{Attempts: &a.attempts, AttemptsSource: v1alpha1.SourceFlag}
}

// Or returns the value of the flag if it is set, else known.
func (a *Attempts) Or(known v1alpha1.Retries) v1alpha1.Retries {
	if a.Given() {
		return a.Retries()
	}
	return known
}
