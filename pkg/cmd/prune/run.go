package prune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/prune/messages"
)

// run is one run of the command.
type run struct {
	*options
	session  *scan.Session
	began    time.Time
	pruner   *prune.Pruner
	targets  []prune.Target
	plan     *prune.Plan
	now      time.Time // the server's
	outcomes outcomes
}

// begin finds the types, the server's time and the permissions.
func (o *options) begin(ctx context.Context) (*run, error) {
	r := &run{options: o, began: time.Now()}
	var err error
	if r.session, err = o.scope.Open(ctx, o.conn.Factory, o.IOStreams, o.printFlags, nil); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx); err != nil {
		r.session.End()
		return nil, err
	}
	return r, nil
}

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
	if r.qps > 0 {
		r.pruner.Limiter = flowcontrol.NewTokenBucketRateLimiter(r.qps, max(1, int(r.qps)))
	}
	if err := r.askTime(ctx); err != nil {
		return err
	}
	if r.pruner.Criteria, err = r.criteria(r.now); err != nil {
		return err
	}
	return r.checkPermissions(ctx)
}

// resolve finds the types of the arguments, and puts together those of one type.
func (r *run) resolve(ctx context.Context) error {
	for _, t := range r.options.targets {
		found, never, err := r.session.Resources(ctx, []string{t.resource}, r.scope.Namespace)
		switch {
		case err != nil:
			return err
		case len(never) > 0:
			return fmt.Errorf(messages.NoNames, never[0].Message)
		}
		for _, resource := range found {
			if r.finished && !prune.Finishes(resource) {
				return fmt.Errorf(messages.NeverFinishes, resource.GroupResource())
			}
			r.add(resource, t.prefix)
		}
	}
	return nil
}

// add adds a prefix of a resource.
func (r *run) add(resource census.Resource, prefix string) {
	at := slices.IndexFunc(r.targets, func(t prune.Target) bool { return t.Resource == resource })
	if at < 0 {
		at = len(r.targets)
		r.targets = append(r.targets, prune.Target{Resource: resource})
	}
	r.targets[at].Prefixes = append(r.targets[at].Prefixes, prefix)
}

// askTime asks for the server's time. Only a duration needs it.
func (r *run) askTime(ctx context.Context) (err error) {
	asked := time.Now()
	r.now, err = r.pruner.Now(ctx)
	switch {
	case errors.Is(err, prune.ErrNoTime) && !r.age.needsTime():
		r.now = asked.UTC()
		return nil
	case errors.Is(err, prune.ErrNoTime):
		return errors.New(messages.NoTime)
	case err != nil:
		return err
	}
	if off := asked.Sub(r.now).Abs(); off > cluster.Skew {
		r.session.Line(cluster.ClockWarning(off.Round(time.Second)))
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
			return fmt.Errorf(messages.Forbidden, m.Verb, where)
		}
		r.session.Line(fmt.Sprintf(messages.MissingPermission, m.Verb, where))
	}
	return nil
}

// makePlan lists the objects.
func (r *run) makePlan(ctx context.Context) (err error) {
	r.plan, err = r.pruner.Plan(ctx, r.targets, r.now, func(found int64) {
		r.session.SetText(fmt.Sprintf(messages.Finding, humanize.Count(found, "object")))
	})
	return err
}

// printf writes a line to stderr.
func (r *run) printf(format string, args ...any) {
	r.session.End()
	fmt.Fprintln(r.ErrOut, terminal.OneLine(fmt.Sprintf(format, args...)))
}

// suggest writes a command to stderr.
func (r *run) suggest(words []string) {
	fmt.Fprintf(r.ErrOut, messages.Command+"\n", reference.Words(words...))
}
