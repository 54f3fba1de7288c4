package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// reportRest returns a function that prints the pause of a polite scan.
func reportRest(line func(text string)) func(time.Duration) {
	return func(pause time.Duration) {
		line(terminal.Sprintf("Pausing for %s, nine times as long as the last request took (--polite)",
			pause.Round(time.Second)))
	}
}

// showEstimate shows how much an audit of the types would read.
func (r *run) showEstimate(ctx context.Context) error {
	r.session.SetText("reading one object of each resource type")
	estimates, skipped, err := r.scanner().Estimate(ctx, r.types, r.about.Namespace)
	if err != nil {
		return err
	}
	coverage := census.Coverage{Types: r.types, Skipped: skipped, Namespace: r.about.Namespace, Named: r.named()}
	view := scan.View{Table: estimateTable(estimates), Coverage: coverage, Command: "audit"}
	failed, forbidden := coverage.Warned()
	var total census.Estimate
	for _, e := range estimates {
		total.Objects += e.Objects
		total.Requests += e.Requests
		total.Bytes += e.Bytes
	}
	view.Next = []string{terminal.Sprintf("An audit would read %s of %s: about %s and %s of metadata",
		humanize.Count(total.Objects, "object"), humanize.Count(len(estimates), "type"),
		humanize.Count(total.Requests, "request"), megabytes(total.Bytes))}
	switch {
	case len(estimates) == 0 && len(forbidden) > 0:
		view.Gate = errors.New("you can't list any of the resource types (needs list)")
	case len(failed) > 0:
		view.Gate = fmt.Errorf("%s could not be read", humanize.Count(len(failed), "type"))
	}
	return r.session.Show(nil, view)
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
