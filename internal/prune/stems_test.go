package prune

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// chosenByStem returns the names of the objects that a plan with Criteria.Stem deletes.
func chosenByStem(t *testing.T, target Target, criteria Criteria, objects ...object.Object) (chosen string, left map[v1alpha1.PruneReason]int64) {
	t.Helper()
	for i, o := range objects {
		objects[i].UID, objects[i].Namespace = o.Name, "ns"
		if o.Created == 0 {
			objects[i].Created = 5
		}
	}
	criteria.Stem = true
	found, left := choose(t, objects, target, criteria)
	return strings.ReplaceAll(strings.Join(found, " "), "ns/", ""), left
}

// The names of a stem end in a number, a time or the like. An object with a generated name belongs to its generateName.
func TestMembersOfAStem(t *testing.T) {
	named := func(name string) object.Object { return object.Object{Name: name} }
	got, _ := chosenByStem(t, Target{configMaps, []string{"backup-"}}, Criteria{},
		named("backup-2026-11-28"), named("backup-7"), named("backup-latest"), named("backup-eu-2026-11-28"), named("backup-"),
		object.Object{Name: "backup-22222", GenerateName: "backup-"}, object.Object{Name: "backup-31", GenerateName: "backup-"})
	if want := "backup-2026-11-28 backup-31 backup-7"; got != want {
		t.Errorf("chosen are %s, want %s", got, want)
	}
}

// If objects have the same creation time, the object with the largest number is the newest.
func TestKeepTheLargestNumber(t *testing.T) {
	one := 1
	got, _ := chosenByStem(t, Target{configMaps, []string{"run-"}}, Criteria{Keep: &one},
		object.Object{Name: "run-9"}, object.Object{Name: "run-10"}, object.Object{Name: "run-8"})
	if want := "run-8 run-9"; got != want {
		t.Errorf("chosen are %s, want %s", got, want)
	}
}

// Prune leaves active objects alone.
func TestActiveObjects(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	lease, set, secret := typeOf("coordination.k8s.io", "Lease", "leases"), typeOf("apps", "ReplicaSet", "replicasets"), typeOf("", "Secret", "secrets")
	helm := func(status string) object.Object {
		return object.Object{Labels: map[string]string{"owner": "helm", "status": status}}
	}
	raw := func(text string) object.Object { return object.Object{Raw: []byte(text)} }
	for name, test := range map[string]struct {
		target Target
		object object.Object
		stays  bool
	}{
		"a Lease that is held":         {Target{lease, []string{"x-"}}, raw(`{"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-11-28T11:59:50.000000Z"}}`), true},
		"a Lease of a slow clock":      {Target{lease, []string{"x-"}}, raw(`{"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-11-28T11:59:00Z"}}`), true},
		"a Lease that was held":        {Target{lease, []string{"x-"}}, raw(`{"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-11-28T11:00:00Z"}}`), false},
		"a Lease without an end":       {Target{lease, []string{"x-"}}, raw(`{"spec":{"holderIdentity":"a"}}`), true},
		"a Lease without a time":       {Target{lease, []string{"x-"}}, raw(`{"spec":{"holderIdentity":"a","leaseDurationSeconds":15}}`), true},
		"a Lease without a holder":     {Target{lease, []string{"x-"}}, raw(`{"spec":{"holderIdentity":""}}`), false},
		"a Lease of another form":      {Target{lease, []string{"x-"}}, raw(`{"spec":"text"}`), true},
		"a ReplicaSet with replicas":   {Target{set, []string{"x-"}}, raw(`{"spec":{"replicas":1}}`), true},
		"a ReplicaSet of the default":  {Target{set, []string{"x-"}}, raw(`{"spec":{}}`), true},
		"a ReplicaSet that still ends": {Target{set, []string{"x-"}}, raw(`{"spec":{"replicas":0},"status":{"replicas":1}}`), true},
		"an old ReplicaSet":            {Target{set, []string{"x-"}}, raw(`{"spec":{"replicas":0},"status":{}}`), false},
		"the deployed revision":        {Target{secret, []string{"x-"}}, helm("deployed"), true},
		"a revision in progress":       {Target{secret, []string{"x-"}}, helm("pending-upgrade"), true},
		"the last revision":            {Target{secret, []string{"x-"}}, helm("superseded"), true},
		"a Secret of another owner":    {Target{secret, []string{"x-"}}, object.Object{Labels: map[string]string{"status": "deployed"}}, false},
	} {
		test.object.Name = "x-1"
		got, left := chosenByStem(t, test.target, Criteria{Now: now}, test.object)
		if stays := left[v1alpha1.PruneActive] == 1; stays != test.stays || (got == "") != test.stays {
			t.Errorf("%s: chosen is %q, left are %v", name, got, left)
		}
	}
}

// Prune keeps the deployed revision of a Helm release, or its last revision if none is deployed. It also keeps
// revisions in progress. Without a revision, Helm can't find the release.
func TestLastRevision(t *testing.T) {
	for statuses, want := range map[string]string{
		"deployed failed superseded":                   "x-2 x-3",
		"superseded failed":                            "x-1",
		"uninstalled":                                  "",
		"superseded failed superseded pending-upgrade": "x-1 x-2",
	} {
		var objects []object.Object
		for i, status := range strings.Fields(statuses) {
			objects = append(objects, object.Object{
				Name: fmt.Sprintf("x-%d", i+1), Labels: map[string]string{"owner": "helm", "status": status},
			})
		}
		target := Target{typeOf("", "Secret", "secrets"), []string{"x-"}}
		active := int64(len(objects) - len(strings.Fields(want)))
		if got, left := chosenByStem(t, target, Criteria{}, objects...); got != want || left[v1alpha1.PruneActive] != active {
			t.Errorf("of the revisions %s, chosen are %q and left %v, want %q and %d active", statuses, got, left, want, active)
		}
	}
}

// With a stem, prune deletes no type that runs Pods or on which other objects depend.
func TestTypesRefusedByStem(t *testing.T) {
	refused := func() (names []string) {
		for resource := range refusedByStem {
			names = append(names, resource.String())
		}
		slices.Sort(names)
		return names
	}()
	want := []string{
		"apiservices.apiregistration.k8s.io", "backups.velero.io", "configurations.serving.knative.dev", "controllerrevisions.apps", "cronjobs.batch", "cronworkflows.argoproj.io",
		"customresourcedefinitions.apiextensions.k8s.io", "daemonsets.apps", "deploymentconfigs.apps.openshift.io", "deployments.apps", "machines.cluster.x-k8s.io",
		"machines.machine.openshift.io", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "projects.project.openshift.io", "replicationcontrollers",
		"revisions.serving.knative.dev", "rollouts.argoproj.io", "scaledjobs.keda.sh", "services.serving.knative.dev", "statefulsets.apps",
		"virtualmachines.kubevirt.io", "volumeattachments.storage.k8s.io", "volumes.longhorn.io", "volumesnapshotcontents.snapshot.storage.k8s.io",
	}
	if !slices.Equal(refused, want) || RefusedByStem(jobs.GroupResource()) != "" {
		t.Errorf("refused are %q, want %q", refused, want)
	}
}
