package oncecontroller

import (
	"errors"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

var (
	creates = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "genname_once_creates_total",
		Help: "Creates of objects by their kind and what has become of them: created, found, or the error.",
	}, []string{"kind", "outcome"})
	retries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "genname_once_retries_total",
		Help: "What was done about creates in which something went wrong, by the kind of the object: " +
			"Resend, ReadBack or LookAgain.",
	}, []string{"kind", "action"})
)

func init() { metrics.Registry.MustRegister(creates, retries) }

// outcomes are the labels of errors, the first that is true.
var outcomes = []struct {
	kind  error
	label string
}{
	{once.ErrUnknown, "unknown"},
	{once.ErrMismatch, "mismatch"},
	{once.ErrTaken, "taken"},
	{once.ErrRefused, "refused"},
	{once.ErrRenamed, "renamed"},
	{once.ErrExhausted, "exhausted"},
	{once.ErrInterrupted, "interrupted"},
}

// outcomeOf returns the label of a create.
func outcomeOf(result once.Result, err error) string {
	if err == nil {
		return strings.ToLower(string(result.Outcome))
	}
	for _, o := range outcomes {
		if errors.Is(err, o.kind) {
			return o.label
		}
	}
	return "error"
}
