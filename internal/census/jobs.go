package census

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// Pods and Jobs are the types of orphaned Pods, and of the Jobs that are gone.
var (
	Pods = Resource{
		GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
		Kind:                 "Pod", Namespaced: true,
	}
	Jobs = Resource{
		GroupVersionResource: batchv1.SchemeGroupVersion.WithResource("jobs"),
		Kind:                 "Job", Namespaced: true,
	}
)

// Jobs returns the Jobs of Pods without a controller as pools.JobHash, and whether they exist. If the Jobs can't be
// listed, Jobs returns nil.
func (c *Counts) Jobs() map[uint64]bool { return c.jobs }

// findJobs lists the Jobs, after the Pods. So a Job that is not in the list doesn't exist, because Pods are created
// after their Job. An error is about the configuration.
func (c *Counts) findJobs(ctx context.Context, s *Scanner, namespace string) (requests int64, err error) {
	reader, err := s.Reader()
	if err != nil {
		return 0, err
	}
	if reader.FindJobs(ctx, namespace, c.jobs) != nil {
		c.jobs = nil
	}
	return reader.scan.server.requests.Load(), nil
}

// FindJobs lists the Jobs of a namespace, or of all, and sets the keys of existing ones in jobs to true. The keys are
// from pools.JobHash.
func (r *Reader) FindJobs(ctx context.Context, namespace string, jobs map[uint64]bool) error {
	visit := VisitFunc(func(o *object.Object) error {
		job := pools.JobHash(o.Namespace, object.JobRef{Name: o.Name, UID: o.UID})
		if _, wanted := jobs[job]; wanted {
			jobs[job] = true
		}
		return nil
	})
	return r.List(ctx, Jobs, namespace, decode.Asked{NoLabels: true}, func() Visitor { return visit })
}
