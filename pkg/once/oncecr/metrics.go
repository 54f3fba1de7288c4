package oncecr

import (
	"errors"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

func newCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "genname_once_creates_total",
		Help: "Calls of Create by the kind of the object and the outcome: created, found, or the error.",
	}, []string{"kind", "outcome"})
}

// outcomes are the labels of errors.
var outcomes = []struct {
	err   error
	label string
}{
	{once.ErrUnknown, "unknown"},
	{once.ErrRefused, "refused"},
	{once.ErrTaken, "taken"},
	{once.ErrNotControlled, "not_controlled"},
	{once.ErrMismatch, "mismatch"},
	{once.ErrInterrupted, "interrupted"},
}

// outcomeOf returns the label of a create.
func outcomeOf(result once.Result, err error) string {
	if err == nil {
		return strings.ToLower(string(result.Outcome))
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.label
		}
	}
	return "invalid"
}
