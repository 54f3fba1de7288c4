package prune

import (
	"context"
	"fmt"
	"net/http"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// keepOfJobs moves the Pods whose Job exists to those that are left. It lists the Jobs, after the Pods. So a Job that
// is not in the list doesn't exist.
func (p *Pruner) keepOfJobs(ctx context.Context, reader *census.Reader, all []*Pool) error {
	found := map[uint64]bool{}
	for _, pool := range all {
		for _, o := range pool.Objects {
			found[pools.JobHash(pool.Namespace, *o.job)] = false
		}
	}
	if len(found) == 0 {
		return nil
	}
	if err := reader.FindJobs(ctx, p.Namespace, found); err != nil {
		return fmt.Errorf("list jobs.batch, to find the Pods whose Job doesn't exist: %w", err)
	}
	for _, pool := range all {
		pool.leave(v1alpha1.PruneNotOrphaned, func(o Object) bool {
			return found[pools.JobHash(pool.Namespace, *o.job)]
		})
	}
	return nil
}

// refresh takes the version that was read.
func (o *Object) refresh(found *object.Object) {
	o.ResourceVersion = found.ResourceVersion
	if o.job != nil {
		o.job = &object.JobRef{Name: found.Job.Name, UID: found.Job.UID}
	}
}

// checkJob reads the Job of a Pod. It returns the outcome if the Job exists.
func (d *deletion) checkJob(ctx context.Context) (*Result, error) {
	job := Object{Pool: &Pool{Resource: census.Jobs, Namespace: d.object.Pool.Namespace}, Name: d.object.job.Name}
	found, err := d.by.client.get(ctx, job)
	switch {
	case apistatus.Code(d.note(err)) == http.StatusNotFound:
	case err != nil:
		return d.refused(err)
	case found.UID == d.object.job.UID:
		return d.leftAs(v1alpha1.PruneNotOrphaned), nil
	}
	d.jobChecked = true
	return nil, nil
}
