package prune

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// Run plans, and deletes with --yes.
func (o *options) Run(ctx context.Context) error {
	session, err := o.scope.Open(ctx, o.conn.Factory, o.IOStreams, o.printFlags, nil)
	if err != nil {
		return err
	}
	defer session.Stderr.End()
	targets, err := o.resolve(ctx, session)
	if err != nil {
		return err
	}
	pruner, err := o.pruner(ctx, session)
	if err != nil {
		return err
	}
	if err := o.checkAccess(ctx, session, pruner, targets); err != nil {
		return err
	}
	began := time.Now()
	plan, err := pruner.Plan(ctx, targets, func(found int64) {
		session.Stderr.SetText("listing: " + humanize.Count(found, "object"))
	})
	if err != nil {
		return err
	}
	if err := o.age.check(pruner.Criteria.Now, time.Unix(plan.Newest(), 0)); err != nil {
		return err
	}
	report, namespace := newReport(plan, pruner, o.age.isAll()), namespaceOf(targets, o.scope.Namespace)
	again := o.again(plan, report, namespace)
	view := o.planView(plan, report, namespace, again)
	if len(plan.NotFound) > 0 && !o.allowNone {
		view = scan.View{Gate: o.notFound(ctx, session, plan.NotFound, namespace)}
	}
	report.DryRun = !o.yes || view.Gate != nil
	if !report.DryRun && report.Summary.Chosen > 0 {
		session.Lines(view.Warnings)
		stopped := o.delete(ctx, session, pruner, plan, report)
		lines := append(outcomeLines(report), savedLines(plan, report, o.save)...)
		view = scan.View{Next: lines, Gate: runError(ctx, report, stopped, again)}
	}
	report.Summary.Seconds = time.Since(began).Seconds()
	return session.Show(report, view)
}

// resolve finds the types of the arguments, and combines arguments of one type.
func (o *options) resolve(ctx context.Context, s *scan.Session) (targets []prune.Target, err error) {
	for _, t := range o.targets {
		found, never, err := s.Resources(ctx, []string{t.resource}, o.scope.Namespace)
		switch {
		case err != nil:
			return nil, err
		case len(never) > 0:
			return nil, fmt.Errorf("there is nothing to delete: %s", never[0].Message)
		}
		for _, resource := range found {
			targets = addTarget(targets, resource, t.prefix)
		}
	}
	return targets, o.checkTypes(targets)
}

// checkTypes returns an error if the flags don't suit a type. A type whose status doesn't show the end needs --running,
// which would also choose running objects of the other types.
func (o *options) checkTypes(targets []prune.Target) error {
	of := map[finished.Class]schema.GroupResource{}
	for _, t := range targets {
		resource := t.Resource.GroupResource()
		of[classOf(resource, o.stem)] = resource
	}
	finishes, isMixed := of[finished.Finishes]
	if unknown, is := of[finished.Unknown]; is && isMixed && !o.running {
		return fmt.Errorf("the status of %s doesn't show which have finished. Delete them with a second command, "+
			"because --running, which they need, also deletes running %s", unknown, finishes)
	}
	for _, t := range targets {
		if err := o.checkType(t.Resource.GroupResource()); err != nil {
			return err
		}
	}
	return nil
}

// notSaved are the types whose objects stand for further data. For example, a restored PersistentVolumeClaim has no
// volume.
var notSaved = []string{"namespaces", prune.Projects.String(), "persistentvolumeclaims", "persistentvolumes"}

// checkType returns an error if the flags don't suit a type.
func (o *options) checkType(resource schema.GroupResource) error {
	switch class := classOf(resource, o.stem); {
	case o.orphaned && resource != census.Pods.GroupResource():
		return fmt.Errorf("--orphaned can't delete %s, because only Pods have labels of their Job", resource)
	case o.stem && prune.RefusedByStem(resource) != "":
		return fmt.Errorf("--stem can't delete %s, because %s", resource, prune.RefusedByStem(resource))
	case (o.keepFailed.given || o.end.given()) && class != finished.Finishes:
		return fmt.Errorf("--keep-failed and --finished-for need a type whose end is known, and %s have none", resource)
	case o.yes && !o.running && class == finished.Unknown:
		return fmt.Errorf("the status of %s doesn't show which have finished, so prune would delete running ones, "+
			"too. To delete them, add --running", resource)
	case o.save != "" && slices.Contains(notSaved, resource.String()):
		return fmt.Errorf("--save can't save the objects or the data in %s. Use a backup tool", resource)
	}
	return nil
}

// classOf returns the class of a type. With --stem, prune keeps Leases that are held, for example.
func classOf(resource schema.GroupResource, stem bool) finished.Class {
	if stem && prune.ShowsActive(resource) {
		return finished.Inert
	}
	return finished.ClassOfResource(resource)
}

// addTarget adds a prefix of a resource. With --orphaned, the prefix is empty.
func addTarget(targets []prune.Target, resource census.Resource, prefix string) []prune.Target {
	isOf := func(t prune.Target) bool { return t.Resource.GroupResource() == resource.GroupResource() }
	at := slices.IndexFunc(targets, isOf)
	if at < 0 {
		at, targets = len(targets), append(targets, prune.Target{Resource: resource})
	}
	if prefix != "" {
		targets[at].Prefixes = append(targets[at].Prefixes, prefix)
	}
	return targets
}

// pruner returns the pruner of the flags, with the criteria at the server's time.
func (o *options) pruner(ctx context.Context, s *scan.Session) (*prune.Pruner, error) {
	config, err := o.conn.Factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	saver, err := newSaver(o.save, o.yes)
	if err != nil {
		return nil, err
	}
	now, err := o.askTime(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &prune.Pruner{
		Lists: s.Cluster.Config, Deletions: connection.Uninterrupted(config), Version: s.Cluster.EmulatedVersion(),
		Namespace: o.scope.Namespace, Criteria: o.criteria(now), Concurrency: o.concurrency, Saver: saver,
		RetryTimeout: s.ServerWait.For, Unreachable: s.ServerWait.Report,
		Types: func(ctx context.Context) ([]census.Resource, error) {
			types, _, err := s.Resources(ctx, nil, o.scope.Namespace)
			return types, err
		},
	}
	if o.qps > 0 {
		p.Limiter = flowcontrol.NewTokenBucketRateLimiter(o.qps, max(1, int(o.qps)))
	}
	return p, o.end.check(now, now)
}

// newSaver returns the saver for the directory of --save, or nil. If it is used, newSaver checks that it can write.
func newSaver(dir string, used bool) (*prune.Saver, error) {
	if dir == "" {
		return nil, nil
	}
	saver, err := prune.NewSaver(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &exitcode.Error{Code: exitcode.Failed, Lines: []string{
			terminal.Errorf("--save: %v. Create the directory:", err), terminal.Hint("mkdir", "-m", "700", dir),
		}}
	}
	if err == nil && used {
		err = saver.Try()
	}
	if err != nil {
		return nil, fmt.Errorf("--save: %w", err)
	}
	return saver, nil
}

// askTime requests the server's time. If a criterion is a duration, and the clocks differ too much for it, askTime
// returns an error, because one of them must be wrong.
func (o *options) askTime(ctx context.Context, s *scan.Session) (now time.Time, err error) {
	var ahead time.Duration
	err = s.Cluster.Await(ctx, func() (err error) {
		now, ahead, err = s.Cluster.Now(ctx)
		return err
	})
	unknown := apistatus.RefusedForAll(err) || err == nil && now.IsZero()
	if err != nil && !unknown {
		return now, err
	}
	for _, a := range []age{o.age, o.end} {
		switch {
		case !a.needsTime():
		case unknown:
			return now, fmt.Errorf(
				"--%s: the server doesn't tell its time. Give a time like 2026-11-21T08:00:00Z", a.flag)
		case a.ago > 0 && ahead.Abs() > max(a.ago/10, 2*time.Second):
			return now, fmt.Errorf("--%s: this machine's clock differs from the server's by %s, "+
				"more than a tenth of %s. Give a time like 2026-11-21T08:00:00Z", a.flag, ahead.Abs(), a.text)
		}
	}
	if unknown {
		return time.Now().UTC(), nil
	}
	if ahead.Abs() >= cluster.MinClockSkew {
		s.Stderr.Line(cluster.ClockWarning(ahead))
	}
	return now, nil
}

// checkAccess returns an error if objects can't be deleted, or if the namespace doesn't exist. A plan needs only the
// permission to list.
func (o *options) checkAccess(ctx context.Context, s *scan.Session, p *prune.Pruner, targets []prune.Target) error {
	var missing []prune.Permission
	err := s.Cluster.Await(ctx, func() (err error) {
		missing, err = p.Missing(ctx, targets)
		return err
	})
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
		if o.yes {
			return fmt.Errorf("you can't %s %s", m.Verb, where)
		}
		s.Stderr.Line(terminal.Warningf("you can't %s %s", m.Verb, where))
	}
	if o.yes && o.scope.Namespace != "" {
		_, err = s.Cluster.CheckNamespace(ctx, o.scope.Namespace)
	}
	return err
}

// again returns the words of the command that carries out the plan of this run. That command makes a new plan.
func (o *options) again(plan *prune.Plan, report *v1alpha1.PruneReport, namespace string) []string {
	var targets []string
	for _, t := range o.targets {
		targets = append(targets, t.String())
	}
	return append(o.planCommand(plan, report, namespace, targets...), "--yes")
}

// planCommand returns the words of a command that makes a plan for targets with the flags of this run. With --yes, the
// command could delete more objects than this plan has: with --keep if objects were created since, and with --in-use
// the objects in use. So the command has --max-delete with the size of this plan.
func (o *options) planCommand(
	plan *prune.Plan, report *v1alpha1.PruneReport, namespace string, targets ...string,
) []string {
	words := append([]string{"kubectl", "genname", "prune"}, targets...)
	if o.scope.AllNamespaces {
		words = append(words, "-A")
	} else if namespace != "" {
		words = append(words, "-n", namespace)
	}
	words = slices.Concat(words, o.repeated)
	if !o.running && len(unknownEnds(plan, o.stem)) > 0 {
		words = append(words, "--running")
	}
	mayBeUsed := needsInUse(report)
	if mayBeUsed {
		words = append(words, "--in-use")
	}
	if before := report.Criteria.CreatedBefore; before != nil {
		words = append(words, "--older-than", textOf(before))
	}
	if ended := report.Criteria.FinishedBefore; ended != nil {
		words = append(words, "--finished-for", textOf(ended))
	}
	if report.Summary.Chosen > 0 && (o.keep.given || o.keepFailed.given || o.maxDelete.text != "" || mayBeUsed) {
		words = append(words, "--max-delete", strconv.FormatInt(report.Summary.Chosen, 10))
	}
	return words
}

// delete deletes the objects of the plan, and records the outcomes in the report.
func (o *options) delete(
	ctx context.Context, s *scan.Session, p *prune.Pruner, plan *prune.Plan, report *v1alpha1.PruneReport,
) (stopped error) {
	items := map[*prune.Pool]*v1alpha1.PruneItem{}
	for i, pool := range plan.Pools { // pools are in the order of the items
		items[pool] = &report.Items[i]
		report.Items[i].NotTried = report.Items[i].Chosen
	}
	total := &report.Summary
	total.NotTried = total.Chosen
	signal.Ignore(syscall.SIGPIPE) // otherwise "-o name | head" would end the deletions silently
	stopped = p.Delete(ctx, plan, func(result prune.Result) {
		record(report, items[result.Object.Pool], result)
		if o.names && result.Outcome == prune.Deleted {
			fmt.Fprintln(o.Out, terminal.OneLine(nameOf(result.Object))) // the writer remembers its error
		}
		s.Stderr.SetText(fmt.Sprintf("deleting: %s of %s, %s failed", humanize.Grouped(total.Chosen-total.NotTried),
			humanize.Count(total.Chosen, "object"), humanize.Grouped(total.Failed+total.Unknown)))
	})
	undone := total.Failed + total.Unknown + total.NotTried + leftFor(total.PruneCounts, v1alpha1.PruneChanged)
	report.Complete = stopped == nil && undone == 0
	return stopped
}
