package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// reportRest returns a function that prints how long a polite scan pauses.
func reportRest(line func(text string)) func(time.Duration) {
	return func(pause time.Duration) {
		line(fmt.Sprintf("Pausing for %s, nine times as long as the last request took (--polite)",
			pause.Round(time.Second)))
	}
}

// printEstimate prints how much an audit of the types would read.
func (r *run) printEstimate(ctx context.Context, scanner *census.Scanner, progress *terminal.Progress) error {
	progress.SetText("reading one object of each resource type")
	estimates, skipped, err := scanner.Estimate(ctx, r.types, r.config.about.Namespace)
	if err != nil {
		return err
	}
	progress.End()
	if len(estimates) > 0 {
		if err := estimateTable(estimates).Print(r.streams.Out, !r.config.prints.noHeaders); err != nil {
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
		r.printer.printf("Warning: %s", s.Message)
	}
	if forbidden > 0 {
		r.printer.printf("Warning: %s that you can't list (needs list)", humanize.Count(forbidden, "type"))
	}
	var total census.Estimate
	for _, e := range estimates {
		total.Objects += e.Objects
		total.Requests += e.Requests
		total.Bytes += e.Bytes
	}
	r.printer.printf("An audit would read %s of %s: about %s and %s of metadata",
		humanize.Count(total.Objects, "object"), humanize.Count(len(estimates), "type"),
		humanize.Count(total.Requests, "request"), megabytes(total.Bytes))
	if len(estimates) == 0 && forbidden > 0 {
		return errors.New("you can't list any of the resource types (needs list)")
	}
	if failed > 0 {
		return fmt.Errorf("%s could not be read", humanize.Count(failed, "type"))
	}
	return nil
}

// estimateTable has a row for each type that has objects.
func estimateTable(estimates []census.Estimate) *table.Table {
	t := table.New("RESOURCE", "OBJECTS", "REQUESTS", "AT-ONCE", "BYTES", "SEATS")
	for _, e := range estimates {
		if e.Objects == 0 {
			continue
		}
		objects := humanize.Grouped(e.Objects)
		if !e.Known {
			objects = "≥" + objects
		}
		t.Add(e.Resource.GroupResource().String(), objects, humanize.Grouped(e.Requests),
			fmt.Sprint(min(int64(e.AtOnce), e.Requests)), megabytes(e.Bytes), fmt.Sprintf("≥%d", e.Seats))
	}
	return t
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
