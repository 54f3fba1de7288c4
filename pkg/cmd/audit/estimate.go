package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// tellRest returns a function that prints how long a polite scan pauses.
func tellRest(tell func(text string)) func(time.Duration) {
	return func(pause time.Duration) {
		tell(fmt.Sprintf(messages.Resting, pause.Round(time.Second)))
	}
}

// printEstimate prints how much an audit of the types would read.
func (r *run) printEstimate(ctx context.Context, scanner *census.Scanner, progress *terminal.Progress) error {
	progress.Say(messages.Estimating)
	estimates, skipped, err := scanner.Estimate(ctx, r.types, r.config.about.Namespace)
	if err != nil {
		return err
	}
	progress.End()
	if len(estimates) > 0 {
		printer := printers.NewTablePrinter(printers.PrintOptions{NoHeaders: r.config.prints.noHeaders})
		if err := printer.PrintObj(estimateTable(estimates), r.streams.Out); err != nil {
			return err
		}
	}
	failed, forbidden := 0, 0
	for _, s := range skipped {
		if s.Reason == census.Forbidden && !r.config.named() {
			forbidden++
			continue
		}
		failed++
		r.tell.tell(messages.EstimateSkipped, s.Message)
	}
	if forbidden > 0 {
		r.tell.tell(messages.EstimateForbiddenTypes, humanize.Count(forbidden, "type"))
	}
	var total census.Estimate
	for _, e := range estimates {
		total.Objects += e.Objects
		total.Requests += e.Requests
		total.Bytes += e.Bytes
	}
	r.tell.tell(messages.Estimated,
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
