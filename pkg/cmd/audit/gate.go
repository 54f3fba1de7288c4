package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// evaluate returns the error that sets the exit code. An exceeded gate is exit code 3, even if some types could not
// be read, because further names only increase the counts. If no gate is exceeded, an incomplete report is an error,
// and so is a gate that has checked nothing.
func (r *run) evaluate(ctx context.Context, result *audit.Result) error {
	report := result.Report
	if ctx.Err() != nil {
		line := terminal.Errorf("interrupted")
		if !report.Complete {
			line = terminal.Errorf("interrupted before the audit had read everything, so its counts are lower bounds")
		}
		return &exitcode.Error{Code: exitcode.Interrupted, Lines: []string{line}}
	}
	var failed error
	if !report.Complete {
		failed = errors.New("the audit could not read everything, so its counts are lower bounds. The warnings " +
			"above name the missing parts")
	}
	failed = errors.Join(failed, r.checkedNothing(result))
	if gate := report.Gate; gate == nil || len(gate.Exceeded) == 0 {
		return errors.Join(failed, undecided(gate))
	}
	line := exceededText(report.Gate)
	return &exitcode.Error{Code: exitcode.Gate, Err: failed, Lines: []string{line}}
}

// checkedNothing returns an error if a gate had nothing to check: a prefix can be
// misspelled, and an earlier audit can have other resource types.
func (r *run) checkedNothing(result *audit.Result) error {
	gate, read := result.Report.Gate, result.Report.Summary.ResourceTypes
	switch {
	case gate == nil || read == 0:
		return nil
	case len(result.NotFound) > 0 && !r.ignoreNotFound:
		return fmt.Errorf("the gate checked nothing, because no name has the prefix %s. To let the gate pass "+
			"without names, add:\n  --ignore-not-found", terminal.OneLine(humanize.Few(result.NotFound)))
	case r.config.LabelSelector != "" && result.Report.Summary.Prefixes == 0 && !r.ignoreNotFound:
		return fmt.Errorf("the gate checked nothing, because no prefix matches --selector=%q. To let the gate pass "+
			"without prefixes, add:\n  --ignore-not-found", r.config.LabelSelector)
	case gate.FailAboveGrowth != nil && result.OtherCluster:
		return fmt.Errorf("--fail-above-growth: %s is an audit of another cluster", r.compare)
	case gate.FailAboveGrowth != nil && result.OnlyNamespace != "":
		return fmt.Errorf("--fail-above-growth: only namespace %s could be compared, because %s is an audit of that "+
			"namespace", result.OnlyNamespace, r.compare)
	case gate.FailAboveGrowth != nil && len(result.OnlyNow) == read:
		return fmt.Errorf("--fail-above-growth checked nothing, because %s has none of these resource types", r.compare)
	}
	return nil
}

// checkNamespace returns an error if the namespace of a gate doesn't exist, because its lists are empty and every
// gate would pass. If the user has no permission to read the namespace, explain prints that.
func (r *run) checkNamespace(ctx context.Context) error {
	namespace := r.onlyNamespace()
	if !r.config.Gated() || namespace == "" {
		return nil
	}
	known, err := r.session.Cluster.CheckNamespace(ctx, namespace)
	r.namespaceUnverified = !known
	if err != nil {
		return fmt.Errorf("the gate needs a namespace that exists: %w", err)
	}
	return nil
}

// undecided returns an error if a gate on growth might be exceeded, because the earlier audit has only bounds.
// Otherwise it returns nil.
func undecided(gate *v1alpha1.AuditGate) error {
	if gate == nil || gate.Undecided == 0 {
		return nil
	}
	return fmt.Errorf("--fail-above-growth can't check %s, because the earlier audit hid prefixes, or has "+
		"not read them. Save the next audit with all prefixes:\n  kubectl genname audit --min-count=1 --top=0 -o json",
		humanize.Count(gate.Undecided, "prefix"))
}

// exceededText returns the number of prefixes above each limit, and the worst of them.
func exceededText(gate *v1alpha1.AuditGate) string {
	worst := worstOf(gate)
	named := worst.Resource + "/" + worst.Prefix
	if worst.Namespace != "" {
		named += fmt.Sprintf(" in namespace %q", worst.Namespace)
	}
	named += " with " + humanize.Count(worst.Names, "name")
	var limits []string
	if gate.FailAbove != nil {
		limits = append(limits, "--fail-above "+humanize.ChanceOf(*gate.FailAbove))
		named += fmt.Sprintf(" and a chance of %s that the next create fails", humanize.ChanceOf(worst.NextCreate))
	}
	if gate.FailAboveCount != nil {
		limits = append(limits, "--fail-above-count "+humanize.Grouped(*gate.FailAboveCount))
	}
	if gate.FailAboveGrowth != nil {
		limits = append(limits, "--fail-above-growth "+strconv.FormatFloat(*gate.FailAboveGrowth, 'f', -1, 64))
		if worst.GrowthPerDay != nil {
			named += fmt.Sprintf(", %s a day", signed(*worst.GrowthPerDay))
		}
	}
	count, above := humanize.Count(gate.ExceededCount, "prefix"), strings.Join(limits, " or ")
	next := reference.In(worst.Resource+"/"+worst.Prefix, worst.Namespace)
	if gate.ExceededCount == 1 {
		return terminal.Errorf("%s above %s: %s\n  kubectl genname audit %s -o wide", count, above, named, next)
	}
	return terminal.Errorf("%s above %s. The worst is %s. -o json lists %s\n"+
		"  kubectl genname audit %s -o wide", count, above, named, listed(gate), next)
}

// worstOf returns the prefix that exceeds a gate by most: by the probability, which is the order of the report, unless
// the gate is only about names or only about growth.
func worstOf(gate *v1alpha1.AuditGate) v1alpha1.AuditExceeded {
	return slices.MaxFunc(gate.Exceeded, func(a, b v1alpha1.AuditExceeded) int {
		switch {
		case gate.FailAbove != nil:
			return 0 // they are in this order
		case gate.FailAboveCount != nil:
			return cmp.Compare(a.Names, b.Names)
		}
		return cmp.Compare(*a.GrowthPerDay, *b.GrowthPerDay)
	})
}

// listed returns the number of prefixes above the limits that the report lists.
func listed(gate *v1alpha1.AuditGate) string {
	if kept := int64(len(gate.Exceeded)); kept < gate.ExceededCount {
		return "the worst " + humanize.Grouped(kept)
	}
	return "all"
}
