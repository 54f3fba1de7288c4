package audit

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// orphaned returns the Pods whose Job doesn't exist, or nil. If it is unknown which Jobs exist, it returns all Pods
// that have labels of a Job and no controller.
func (b *builder) orphaned(l *pools.Leftovers) *v1alpha1.AuditOrphaned {
	orphaned := v1alpha1.AuditOrphaned{Unknown: b.jobs == nil}
	for _, job := range l.Jobs {
		if !b.jobs[job] {
			orphaned.Names++
		}
	}
	if orphaned.Names == 0 {
		return nil
	}
	return &orphaned
}

func deleting(l *pools.Leftovers) *v1alpha1.AuditDeleting {
	if l.Deleting == 0 {
		return nil
	}
	deleting := v1alpha1.AuditDeleting{Names: l.Deleting, Since: timestamp(l.Since)}
	if len(l.Finalizers) > 0 {
		most := slices.MaxFunc(l.Finalizers, func(a, b pools.Held) int {
			return cmp.Or(cmp.Compare(a.Names, b.Names), cmp.Compare(b.Finalizer, a.Finalizer))
		})
		deleting.Finalizer, deleting.Held = most.Finalizer, most.Names
	}
	return &deleting
}
