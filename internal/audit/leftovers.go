package audit

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
	deleting := v1alpha1.AuditDeleting{Names: l.Deleting, Since: v1alpha1.TimeOrNil(l.Since)}
	if len(l.Finalizers) > 0 {
		most := slices.MaxFunc(l.Finalizers, func(a, b pools.Held) int {
			return cmp.Or(cmp.Compare(a.Names, b.Names), cmp.Compare(b.Finalizer, a.Finalizer))
		})
		deleting.Finalizer, deleting.Held = most.Finalizer, most.Names
	}
	return &deleting
}

// source is a creator of one resource type that keeps old objects by a setting.
type source struct {
	schema.GroupResource
	kind string // of the creator
}

// retentionSettings has the setting that limits the objects, by their source. With this setting, old
// objects don't come back, as they do after prune.
var retentionSettings = map[source]string{
	{schema.GroupResource{Group: "batch", Resource: "jobs"}, "CronJob"}: "lower successfulJobsHistoryLimit and " +
		"failedJobsHistoryLimit of the CronJob, or set activeDeadlineSeconds if its Jobs hang", // limits keep hung Jobs
	{schema.GroupResource{Resource: "pods"}, "Job"}: "set ttlSecondsAfterFinished of the Jobs",
	{schema.GroupResource{Group: "apps", Resource: "replicasets"}, "Deployment"}: "lower revisionHistoryLimit of " +
		"the Deployments",
	{schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, "StatefulSet"}: "lower " +
		"revisionHistoryLimit of the StatefulSets",
	{schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, "DaemonSet"}: "lower " +
		"revisionHistoryLimit of the DaemonSets",
	{schema.GroupResource{Group: "cert-manager.io", Resource: "certificaterequests"}, "Certificate"}: "set " +
		"revisionHistoryLimit of the Certificates",
}

// ManyRetained is the number of objects from which on a report says how to limit them. Fewer are a usual history.
const ManyRetained = 100

// RetentionSetting returns the creator's setting that limits the objects of a row, or "" if unknown or not
// needed. prefix is the row's prefix, or its prefix with the most names, or empty. If each owner, or each
// release of Helm, has only one object, no object is old, except a Job's Pod.
func RetentionSetting(of schema.GroupResource, names, owners int64, prefix string, creator v1alpha1.Creator) string {
	if names < ManyRetained || names < 2*owners && of != pods {
		return ""
	}
	if of == secrets && creator.Manager == "Helm" && strings.HasPrefix(prefix, "sh.helm.release.") {
		return "set helm upgrade --history-max" // charts create other Secrets
	}
	return retentionSettings[source{of, creator.Kind}]
}
