package prune

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/stem"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// refusedByStem are the types whose deletion can stop Pods or destroy other objects. A stem is weak evidence: node-1
// and web-2 have stems, too.
var refusedByStem = map[schema.GroupResource]string{
	{Resource: "nodes"}:                  "their Pods would be deleted, too",
	{Resource: "namespaces"}:             "all objects in them would be deleted, too",
	Projects:                             "all objects in them would be deleted, too",
	{Resource: "persistentvolumes"}:      "their data might be deleted, too",
	{Resource: "persistentvolumeclaims"}: "their data might be deleted, too",
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}: "all their objects would be deleted",
	{Group: "apiregistration.k8s.io", Resource: "apiservices"}:             "these APIs would stop",
	{Resource: "replicationcontrollers"}:                                   "they run Pods",
	{Group: "apps", Resource: "deployments"}:                               "they run Pods",
	{Group: "apps", Resource: "statefulsets"}:                              "they run Pods",
	{Group: "apps", Resource: "daemonsets"}:                                "they run Pods",
	{Group: "batch", Resource: "cronjobs"}:                                 "they run Pods",
	{Group: "apps.openshift.io", Resource: "deploymentconfigs"}:            "they run Pods",
	{Group: "argoproj.io", Resource: "rollouts"}:                           "they run Pods",
	{Group: "argoproj.io", Resource: "cronworkflows"}:                      "they run Pods",
	{Group: "keda.sh", Resource: "scaledjobs"}:                             "they run Pods",
	{Group: "serving.knative.dev", Resource: "services"}:                   "they run Pods",
	{Group: "serving.knative.dev", Resource: "configurations"}:             "they run Pods",
	{Group: "serving.knative.dev", Resource: "revisions"}:                  "they run Pods",
	{Group: "cluster.x-k8s.io", Resource: "machines"}:                      "their Nodes would be deleted, too",
	{Group: "machine.openshift.io", Resource: "machines"}:                  "their Nodes would be deleted, too",
	{Group: "apps", Resource: "controllerrevisions"}:                       "StatefulSets make Pods from old ones, too",

	{Group: "kubevirt.io", Resource: "virtualmachines"}:                    "they run Pods",
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:               "volumes in use would be detached",
	{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotcontents"}: "their data might be deleted, too",
	{Group: "longhorn.io", Resource: "volumes"}:                            "their data would be deleted, too",

	{Group: "velero.io", Resource: "backups"}: "Velero makes them again (use velero backup delete)",
}

// Projects is the OpenShift resource that shows namespaces under another name.
var Projects = schema.GroupResource{Group: "project.openshift.io", Resource: "projects"}

// RefusedByStem returns the reason why prune can't choose objects of a type by their stem, or "".
func RefusedByStem(resource schema.GroupResource) string { return refusedByStem[resource] }

var (
	leases      = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	replicaSets = schema.GroupResource{Group: "apps", Resource: "replicasets"}
)

// stemOf returns the object's stem if the user named this stem on the command line, or "". An object with a generated
// name has no stem, because it belongs to its generateName.
func (r *rules) stemOf(o *object.Object) string {
	prefix := stem.Of(o.Name).Prefix
	if !r.named[prefix] || derive.GeneratedFrom(o.Name, o.GenerateName) {
		return ""
	}
	return prefix
}

// other returns an object's prefix, to compare it with the prefixes that the user named.
func (r *rules) other(o *object.Object) string {
	if r.criteria.Stem {
		return stem.Of(o.Name).Prefix
	}
	return o.GenerateName
}

// isActive reports whether an object is in active use: a Lease that is held, a ReplicaSet with replicas, or a current
// revision of a Helm release.
func (r *rules) isActive(o *object.Object) bool {
	switch r.resource.GroupResource() {
	case leases:
		return isHeld(o.Raw, r.criteria.Now)
	case replicaSets:
		return hasReplicas(o.Raw)
	}
	status := o.Labels["status"]
	return isOfHelm(o) && status != "superseded" && status != "failed" && status != "uninstalled"
}

func isOfHelm(o *object.Object) bool { return o.Labels["owner"] == "helm" }

func isHeld(raw []byte, now time.Time) bool {
	var lease struct {
		Spec struct {
			Holder   string    `json:"holderIdentity"`
			Seconds  int64     `json:"leaseDurationSeconds"`
			Renewed  time.Time `json:"renewTime"`
			Acquired time.Time `json:"acquireTime"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &lease) != nil {
		return true
	}
	spec := lease.Spec
	last := max(spec.Renewed.Unix(), spec.Acquired.Unix()) // negative if the holder writes no time
	return spec.Holder != "" && (spec.Seconds == 0 || last < 0 || now.Unix() <= last+spec.Seconds+skew)
}

// skew is the largest clock difference in seconds between a Lease's holder and the server that prune tolerates.
const skew = 60

func hasReplicas(raw []byte) bool {
	var set struct {
		Spec   struct{ Replicas *int }
		Status struct{ Replicas int }
	}
	err := json.Unmarshal(raw, &set)
	return err != nil || set.Spec.Replicas == nil || *set.Spec.Replicas > 0 || set.Status.Replicas > 0
}

// needsRaw reports whether the rules need the whole object, and not only its metadata.
func (r *rules) needsRaw() bool {
	return r.finishes || r.criteria.Stem && ShowsActive(r.resource.GroupResource())
}

// ShowsActive reports whether the content of a type's objects shows if they are active.
func ShowsActive(resource schema.GroupResource) bool {
	return resource == leases || resource == replicaSets
}

// compareStems compares objects by the number or the time at the end of their names, the newest first. It doesn't
// compare numbers with times.
func compareStems(a, b Object) int {
	one, other := stem.Of(a.Name), stem.Of(b.Name)
	if one.Kind != other.Kind {
		return int(other.Kind) - int(one.Kind)
	}
	return stem.Compare(other, one)
}
