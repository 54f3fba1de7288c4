package prune

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// run is one run of the command.
type run struct {
	*options
	session *scan.Session
	pruner  *prune.Pruner
	targets []prune.Target
	now     time.Time // the server's
	plan    *prune.Plan
	report  *v1alpha1.PruneReport
	items   map[*prune.Pool]*v1alpha1.PruneItem // items of the report
}

// Run plans, and deletes with --yes.
func (o *options) Run(ctx context.Context) error {
	session, err := o.scope.Open(ctx, o.conn.Factory, o.IOStreams, o.printFlags, nil)
	if err != nil {
		return err
	}
	defer session.End()
	r := &run{options: o, session: session}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	began := time.Now()
	r.plan, err = r.pruner.Plan(ctx, r.targets, func(found int64) {
		session.SetText("listing: " + humanize.Count(found, "object"))
	})
	if err != nil {
		return err
	}
	if err := r.age.check(r.now, time.Unix(r.plan.Newest(), 0)); err != nil {
		return err
	}
	r.report = r.newReport()
	view := r.planView(ctx)
	r.report.DryRun = !r.yes || view.Gate != nil
	if r.yes && view.Gate == nil && r.report.Summary.Chosen > 0 {
		warnings := view.Warnings
		stopped := r.delete(ctx)
		view = r.outcomeView(ctx, stopped)
		view.Warnings = append(warnings, view.Warnings...)
	}
	r.report.Summary.Seconds = time.Since(began).Seconds()
	return session.Show(r.report, view)
}

// prepare finds the types, the server's time and the permissions.
func (r *run) prepare(ctx context.Context) error {
	if err := r.resolve(ctx); err != nil {
		return err
	}
	deletions, err := r.conn.ToUninterruptedRESTConfig()
	if err != nil {
		return err
	}
	r.pruner = &prune.Pruner{
		Lists: r.session.Config, Deletions: deletions, Version: r.session.ListsLike(), Namespace: r.scope.Namespace,
		Concurrency: r.concurrency, RetryTimeout: r.session.Patience.For, Absent: r.session.Patience.Report,
	}
	if err := r.openSaver(); err != nil {
		return err
	}
	if r.qps > 0 {
		r.pruner.Limiter = flowcontrol.NewTokenBucketRateLimiter(r.qps, max(1, int(r.qps)))
	}
	if err := r.askTime(ctx); err != nil {
		return err
	}
	r.pruner.Criteria = r.criteria(r.now)
	if err := r.end.check(r.now, r.now); err != nil {
		return err
	}
	if err := r.checkPermissions(ctx); err != nil {
		return err
	}
	if r.yes && r.scope.Namespace != "" {
		_, err = r.session.HasNamespace(ctx, r.scope.Namespace)
	}
	return err
}

// resolve finds the types of the arguments, and combines arguments of one type.
func (r *run) resolve(ctx context.Context) error {
	for _, t := range r.options.targets {
		found, never, err := r.session.Resources(ctx, []string{t.resource}, r.scope.Namespace)
		switch {
		case err != nil:
			return err
		case len(never) > 0:
			return fmt.Errorf("there is nothing to delete: %s", never[0].Message)
		}
		for _, resource := range found {
			if err := r.checkType(prune.Target{Resource: resource}); err != nil {
				return err
			}
			r.add(resource, t.prefix)
		}
	}
	return nil
}

// checkType returns an error if the flags don't suit a type.
func (r *run) checkType(t prune.Target) error {
	resource := t.Resource.GroupResource()
	switch class := r.classOf(t); {
	case r.orphaned && resource != census.Pods.GroupResource():
		return fmt.Errorf("--orphaned can't delete %s, because only Pods have labels of their Job", resource)
	case r.stem && prune.RefusedByStem(resource) != "":
		return fmt.Errorf("--stem can't delete %s, because %s", resource, prune.RefusedByStem(resource))
	case (r.keepFailed.given || r.end.given()) && class != finished.Finishes:
		return fmt.Errorf("--keep-failed and --finished-for need a type whose end is known, and %s have none", resource)
	case r.yes && !r.running && class == finished.Unknown:
		return fmt.Errorf("the status of %s doesn't show which have finished, so prune would delete running ones, "+
			"too. To delete them, add --running", resource)
	case r.save != "" && resource == (schema.GroupResource{Resource: "namespaces"}):
		return errors.New("--save can't save the objects in a namespace. Use a backup tool")
	}
	return nil
}

// classOf returns the class of a type. With --stem, prune keeps Leases that are held, for example.
func (r *run) classOf(t prune.Target) finished.Class {
	if r.stem && prune.ShowsActive(t.Resource.GroupResource()) {
		return finished.Inert
	}
	return t.Class()
}

// openSaver checks the directory of --save.
func (r *run) openSaver() (err error) {
	if r.save == "" {
		return nil
	}
	r.pruner.Saver, err = prune.NewSaver(r.save)
	if err == nil && r.yes {
		err = r.pruner.Saver.Try()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &exitcode.Error{Code: exitcode.Failed, Lines: []string{
			terminal.Errorf("--save: %v. Create the directory:", err), terminal.Hint("mkdir", "-m", "700", r.save),
		}}
	}
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return nil
}

// add adds a prefix of a resource. With --orphaned, the prefix is empty.
func (r *run) add(resource census.Resource, prefix string) {
	isOf := func(t prune.Target) bool { return t.Resource.GroupResource() == resource.GroupResource() }
	at := slices.IndexFunc(r.targets, isOf)
	if at < 0 {
		at = len(r.targets)
		r.targets = append(r.targets, prune.Target{Resource: resource})
	}
	if prefix != "" {
		r.targets[at].Prefixes = append(r.targets[at].Prefixes, prefix)
	}
}

// askTime requests the server's time, if a criterion is a duration. If the clocks differ too much for that
// duration, it returns an error, because one of them must be wrong.
func (r *run) askTime(ctx context.Context) (err error) {
	var ahead time.Duration
	err = r.session.Await(ctx, func() (err error) {
		r.now, ahead, err = r.session.Now(ctx)
		return err
	})
	unknown := apistatus.RefusedForAll(err) || err == nil && r.now.IsZero()
	if err != nil && !unknown {
		return err
	}
	for _, a := range []age{r.age, r.end} {
		switch {
		case !a.needsTime():
		case unknown:
			return fmt.Errorf("--%s: the server doesn't tell its time. Give a time like 2026-11-21T08:00:00Z", a.flag)
		case a.ago > 0 && ahead.Abs() > max(a.ago/10, 2*time.Second):
			return fmt.Errorf("--%s: this machine's clock differs from the server's by %s, "+
				"more than a tenth of %s. Give a time like 2026-11-21T08:00:00Z", a.flag, ahead.Abs(), a.text)
		}
	}
	if unknown {
		r.now = time.Now().UTC()
	} else if ahead.Abs() >= cluster.Skew {
		r.session.Line(cluster.ClockWarning(ahead))
	}
	return nil
}

// checkPermissions returns an error if objects can't be deleted. A plan needs no more
// than lists.
func (r *run) checkPermissions(ctx context.Context) error {
	missing, err := r.pruner.Missing(ctx, r.targets)
	if err != nil {
		return err
	}
	for _, m := range missing {
		where := m.Resource.GroupResource().String()
		switch {
		case m.Namespace != "":
			where += " in namespace " + m.Namespace
		case m.Resource.Namespaced:
			where += " in all namespaces"
		}
		if r.yes {
			return fmt.Errorf("you can't %s %s", m.Verb, where)
		}
		r.session.Line(terminal.Warningf("you can't %s %s", m.Verb, where))
	}
	return nil
}

// delete deletes the objects of the plan, and records the outcomes in the report.
func (r *run) delete(ctx context.Context) error {
	r.items = map[*prune.Pool]*v1alpha1.PruneItem{}
	for i, p := range r.plan.Pools { // in the order of the items
		r.items[p] = &r.report.Items[i]
		r.report.Items[i].NotTried = r.report.Items[i].Chosen
	}
	total := &r.report.Summary
	total.NotTried = total.Chosen
	stopped := r.pruner.Delete(ctx, r.plan, func(result prune.Result) {
		r.record(result)
		if r.names && result.Outcome == prune.Deleted {
			fmt.Fprintln(r.Out, terminal.OneLine(nameOf(result.Object))) // the writer remembers its error
		}
		r.session.SetText(fmt.Sprintf("deleting: %s of %s, %s failed", humanize.Grouped(total.Chosen-total.NotTried),
			humanize.Count(total.Chosen, "object"), humanize.Grouped(total.Failed+total.Unknown)))
	})
	undone := total.Failed + total.Unknown + total.NotTried + leftFor(total.PruneCounts, v1alpha1.PruneChanged)
	r.report.Complete = stopped == nil && undone == 0
	return stopped
}

// exceeded returns the error of a plan that is larger than --max-delete. A percentage ignores names that only look
// generated from a prefix, and Pods whose Job exists.
func (r *run) exceeded() error {
	total := r.report.Summary.PruneCounts
	_, left := leftReasons(r.report)
	all := total.Chosen + left - leftFor(total, v1alpha1.PruneNotGenerated) - leftFor(total, v1alpha1.PruneNotOrphaned)
	if !r.maxDelete.exceeded(total.Chosen, all) {
		return nil
	}
	return &exitcode.Error{Code: exitcode.Gate, Lines: []string{terminal.Errorf(
		"the plan deletes %s of %s, above --max-delete %s. Nothing was deleted",
		humanize.Grouped(total.Chosen), humanize.Count(all, "object"), r.maxDelete.text)}}
}
