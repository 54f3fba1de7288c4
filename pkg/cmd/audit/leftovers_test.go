package audit

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The record proposes prune only where prune would accept the prefix, and delete most of its objects.
func TestProposalsOfPrune(t *testing.T) {
	item := func(group, resource string, naming v1alpha1.Naming, edit func(*v1alpha1.AuditItem)) v1alpha1.AuditItem {
		i := v1alpha1.AuditItem{
			PrefixRef: v1alpha1.PrefixRef{Group: group, Resource: resource, Namespace: "n", Prefix: "x-", Naming: naming}, Names: 100,
		}
		if naming == v1alpha1.NamingGenerateName {
			i.Generated, i.RawPrefixes = 100, 1
		}
		if edit != nil {
			edit(&i)
		}
		return i
	}
	owned := func(i *v1alpha1.AuditItem) { i.Creators = []v1alpha1.Creator{{Kind: "CronJob", Name: "c"}} }
	deleting := func(names int64) func(*v1alpha1.AuditItem) {
		return func(i *v1alpha1.AuditItem) { i.Deleting = &v1alpha1.AuditDeleting{Names: names} }
	}
	orphaned := func(unknown bool) func(*v1alpha1.AuditItem) {
		return func(i *v1alpha1.AuditItem) { i.Orphaned = &v1alpha1.AuditOrphaned{Names: 100, Unknown: unknown} }
	}
	old := func(i *v1alpha1.AuditItem) { orphaned(false)(i); i.Last24h = new(int64(99)) }
	held := func(i *v1alpha1.AuditItem) { orphaned(false)(i); deleting(50)(i) }
	few := func(i *v1alpha1.AuditItem) { i.Names = 99 }
	generated, stem := v1alpha1.NamingGenerateName, v1alpha1.NamingStem
	for name, test := range map[string]struct {
		item v1alpha1.AuditItem
		want string // the arguments of prune, or empty
	}{
		"generated":                      {item("", "configmaps", generated, nil), "configmaps/x- -n n --older-than 1h"},
		"a stem":                         {item("", "configmaps", stem, nil), "configmaps/x- -n n --stem --older-than 1h"},
		"Leases, which show their end":   {item("coordination.k8s.io", "leases", stem, nil), "leases.coordination.k8s.io/x- -n n --stem --older-than 1h"},
		"ReplicaSets":                    {item("apps", "replicasets", stem, nil), "replicasets.apps/x- -n n --stem --older-than 1h"},
		"a type that prune refuses":      {item("apps", "deployments", stem, nil), ""},
		"Velero, which makes them again": {item("velero.io", "backups", stem, nil), ""},
		"Velero with generateName":       {item("velero.io", "backups", generated, nil), ""},
		"RoleBindings, which are in use": {item("rbac.authorization.k8s.io", "rolebindings", generated, nil), ""},
		"claims, which have data":        {item("", "persistentvolumeclaims", generated, nil), ""},
		"keys of sealed-secrets":         {item("", "secrets", generated, few), ""},
		"few Jobs":                       {item("batch", "jobs", generated, few), "jobs.batch/x- -n n --older-than 1h"},
		"claims":                         {item("", "persistentvolumeclaims", stem, nil), ""},
		"an unknown type":                {item("example.com", "widgets", stem, nil), ""},
		"an unknown type, generated":     {item("example.com", "widgets", generated, nil), ""},
		"objects of a CronJob":           {item("batch", "jobs", stem, owned), ""},
		"client-generated":               {item("", "configmaps", v1alpha1.NamingClient, nil), ""},
		"most of them are being deleted": {item("", "configmaps", generated, deleting(50)), ""},
		"few of them are being deleted":  {item("", "configmaps", generated, deleting(49)), "configmaps/x- -n n --older-than 1h"},
		"orphaned Pods":                  {item("", "pods", generated, orphaned(false)), "pods --orphaned --older-than 1h -n n"},
		"orphaned Pods of last week":     {item("", "pods", generated, old), "pods --orphaned --older-than 24h -n n"},
		"Pods that are being deleted":    {item("", "pods", generated, held), ""},
		"Pods of unknown Jobs":           {item("", "pods", generated, orphaned(true)), "pods/x- -n n --older-than 1h"},
	} {
		_, steps := nextSteps(test.item)
		got := ""
		for _, step := range steps {
			if _, arguments, ok := strings.Cut(step, "kubectl genname prune "); ok {
				got = arguments
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	cluster := item("", "namespaces", generated, func(i *v1alpha1.AuditItem) { i.Namespace = "" })
	if _, steps := nextSteps(cluster); strings.Contains(strings.Join(steps, "\n"), "-n") {
		t.Errorf("%q for a cluster-scoped type, want no -n", steps)
	}
}

// One command plans the deletion of all orphaned Pods, with an age that some of them exceed.
func TestOrphanLines(t *testing.T) {
	pods := func(namespace string, last24h int64) row {
		return row{AuditItem: v1alpha1.AuditItem{
			PrefixRef: v1alpha1.PrefixRef{Resource: "pods", Namespace: namespace}, Names: 10, Last24h: &last24h,
			Orphaned: &v1alpha1.AuditOrphaned{Names: 5},
		}}
	}
	held := pods("held", 0)
	held.Deleting = &v1alpha1.AuditDeleting{Names: 10}
	for want, rows := range map[string][]row{
		"":                                     {held, {}},
		"5 orphaned Pods --older-than 1h -n a": {pods("a", 10), held},
		"10 orphaned Pods --older-than 24h -A": {pods("a", 10), pods("b", 9)},
	} {
		lines := strings.Join(orphanLines(rows), "")
		got := strings.Replace(lines, ". To plan the deletion:  kubectl genname prune pods --orphaned", "", 1)
		if got != want {
			t.Errorf("%q, want %q", lines, want)
		}
	}
}
