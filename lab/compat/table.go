package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/lab/faults"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// row contains the observations of one server.
type row struct {
	server
	attempts int              // names tried, counted by requests to etcd
	admin    reportedAttempts // the plugin's report to an administrator
	user     reportedAttempts // to a user without permission to read metrics
	creates  []*faults.Result
	audited  int64 // objects
	pages    int   // requested by the audit through faults
	faults   int   // in these pages
	reported bool  // whether that audit reported an incomplete count
	watched  *faults.Followed
	broken   error
}

// reportedAttempts is the number of attempts that the plugin reports, and its source.
type reportedAttempts struct {
	attempts int
	source   v1alpha1.AttemptsSource
}

func (s reportedAttempts) String() string { return fmt.Sprintf("%d (%s)", s.attempts, s.source) }

// check returns the broken promises. A wrong reported number of attempts is one, unless its source is the default,
// because an administrator can change the default.
func (r row) check() error {
	err := r.broken
	if r.attempts != r.server.attempts {
		err = errors.Join(err, fmt.Errorf("it tries %d names, and %d were expected", r.attempts, r.server.attempts))
	}
	for _, s := range []reportedAttempts{r.admin, r.user} {
		if s.attempts != r.attempts && s.source != v1alpha1.SourceDefault {
			err = errors.Join(err, fmt.Errorf("it tries %d names, and the certain report is %s", r.attempts, s))
		}
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.version, r.gate, err)
	}
	return nil
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| kube-apiserver | feature gate | attempts | `version` prints | without `/metrics` | " +
		"with a key: requested, created, too many, missing | without a key: requested, created, too many, unknown, failed | " +
		"objects audited | audit through faults: pages requested, pages with a fault, counts | " +
		"watch: creates made, creates counted, deletes made, deletes counted |\n")
	b.WriteString("|---|---|--:|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |", r.version, r.gate, r.attempts, r.admin, r.user)
		for _, c := range r.creates {
			fmt.Fprintf(&b, " %d, %d, %d, ", c.Asked, c.Present, c.Duplicates)
			if c.Client.Name == "keyed" {
				fmt.Fprintf(&b, "%d |", c.Missing)
			} else {
				fmt.Fprintf(&b, "%d, %d |", c.Unknown, c.Failed+c.NotAttempted)
			}
		}
		counts := "equal"
		if r.reported {
			counts = "incomplete, with a warning"
		}
		fmt.Fprintf(&b, " %d | %d, %d, %s |", r.audited, r.pages, r.faults, counts)
		fmt.Fprintf(&b, " %d, %d, %d, %d |\n", r.watched.Creates, r.watched.SeenCreates, r.watched.Deletes, r.watched.SeenDeletes)
	}
	return b.String()
}
