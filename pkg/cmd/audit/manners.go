package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// manners are the flags about what an audit costs the server.
type manners struct {
	polite       bool
	retryTimeout flagvalue.Duration
	estimate     bool
}

func (m *manners) addFlags(flags *pflag.FlagSet) {
	m.retryTimeout = flagvalue.Duration(census.DefaultRetryTimeout)
	flags.BoolVar(&m.polite, "polite", false,
		"Send one request at a time, and pause nine times as long as each request took")
	flags.Var(&m.retryTimeout, "retry-timeout",
		"How long to retry a page while the server throttles, fails or is unreachable")
	flags.BoolVar(&m.estimate, "estimate", false,
		"Print how much an audit would read, and don't count. This reads one object of each resource type")
}

// validateManners returns what is wrong with these flags.
func (o *options) validateManners() error {
	switch {
	case o.manners.retryTimeout <= 0:
		return fmt.Errorf(messages.BadRetryTimeout, o.manners.retryTimeout.String())
	case o.manners.polite && o.concurrency > 1:
		return fmt.Errorf(messages.PoliteConcurrency, o.concurrency)
	case o.manners.estimate && (o.openMetrics || o.printFlags.ForMachines()):
		return errors.New(messages.EstimateOutput)
	case o.manners.estimate && (o.gated() || o.compare != ""):
		return errors.New(messages.EstimateGate)
	}
	return nil
}

// tellRest returns a function that says why nothing happens for long.
func tellRest(tell func(text string)) func(time.Duration) {
	return func(pause time.Duration) {
		tell(fmt.Sprintf(messages.Resting, pause.Round(time.Second)))
	}
}

// gated reports whether there is a gate.
func (o *options) gated() bool { return o.failAbove.Given() || o.countGate || o.growthGate }

// printEstimate prints what an audit of the types would read.
func (o *options) printEstimate(
	ctx context.Context, scanner *census.Scanner, types []census.Resource, progress *terminal.Progress,
) error {
	progress.Say(messages.Estimating)
	estimates, skipped, err := scanner.Estimate(ctx, types, o.namespace)
	if err != nil {
		return err
	}
	progress.End()
	if len(estimates) > 0 {
		printer := printers.NewTablePrinter(printers.PrintOptions{NoHeaders: o.noHeaders})
		if err := printer.PrintObj(estimateTable(estimates), o.Out); err != nil {
			return err
		}
	}
	failed, forbidden := 0, 0
	for _, s := range skipped {
		if s.Reason == census.Forbidden && !o.named {
			forbidden++
			continue
		}
		failed++
		o.tell(messages.EstimateSkipped, s.Message)
	}
	if forbidden > 0 {
		o.tell(messages.EstimateForbiddenTypes, humanize.Count(forbidden, "type"))
	}
	var total census.Estimate
	for _, e := range estimates {
		total.Objects += e.Objects
		total.Requests += e.Requests
		total.Bytes += e.Bytes
	}
	o.tell(messages.Estimated,
		humanize.Count(total.Objects, "object"), humanize.Count(len(estimates), "type"),
		humanize.Count(total.Requests, "request"), megabytes(total.Bytes))
	if len(estimates) == 0 && forbidden > 0 {
		return errors.New(messages.EstimateForbidden)
	}
	if failed > 0 {
		return fmt.Errorf(messages.EstimateFailed, humanize.Count(failed, "type"))
	}
	return nil
}

// estimateTable has a row for each type that has objects.
func estimateTable(estimates []census.Estimate) *metav1.Table {
	table := &metav1.Table{}
	for _, name := range []string{"RESOURCE", "OBJECTS", "REQUESTS", "AT-ONCE", "BYTES", "SEATS"} {
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		table.ColumnDefinitions = append(table.ColumnDefinitions, column)
	}
	for _, e := range estimates {
		if e.Objects == 0 {
			continue
		}
		objects := humanize.Grouped(e.Objects)
		if !e.Known {
			objects = "≥" + objects
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			terminal.OneLine(e.Resource.GroupResource().String()), objects, humanize.Grouped(e.Requests),
			fmt.Sprint(min(int64(e.AtOnce), e.Requests)), megabytes(e.Bytes), fmt.Sprintf("≥%d", e.Seats),
		}})
	}
	return table
}

// megabytes returns a number of bytes for people.
func megabytes(bytes int64) string {
	switch {
	case bytes < 1e6:
		return humanize.Significant(float64(bytes)/1e3) + " kB"
	case bytes < 1e9:
		return humanize.Significant(float64(bytes)/1e6) + " MB"
	}
	return humanize.Significant(float64(bytes)/1e9) + " GB"
}
