package prune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// usable are the types that Pods refer to by name. Their objects don't show which Pods use them.
var usable = []schema.GroupResource{
	{Resource: "configmaps"},
	{Resource: "secrets"},
	{Resource: "serviceaccounts"},
	{Resource: "persistentvolumeclaims"},
}

func isUsable(pool *Pool) bool { return slices.Contains(usable, pool.Resource.GroupResource()) }

// user is a type whose objects refer to usable objects by name. Most of them are Pods or have a Pod template.
type user struct {
	census.Resource
	path []string // path of the Pod's spec, or of another field that has the names
}

var users = []user{
	newUser("", "Pod", "pods", "spec"),
	newUser("batch", "Job", "jobs", "spec", "template", "spec"),
	newUser("batch", "CronJob", "cronjobs", "spec", "jobTemplate", "spec", "template", "spec"),
	newUser("", "ReplicationController", "replicationcontrollers", "spec", "template", "spec"),
	newUser("apps", "ReplicaSet", "replicasets", "spec", "template", "spec"), // old ones too, for a rollback
	newUser("apps", "Deployment", "deployments", "spec", "template", "spec"),
	newUser("apps", "StatefulSet", "statefulsets", "spec", "template", "spec"),
	newUser("apps", "DaemonSet", "daemonsets", "spec", "template", "spec"),
	newUser("apps", "ControllerRevision", "controllerrevisions", "data"), // as old ReplicaSets
	newUser("", "ServiceAccount", "serviceaccounts", "imagePullSecrets"), // each new Pod gets these
	newUser("networking.k8s.io", "Ingress", "ingresses"),                 // proxies read annotations, too
}

// naming are types of other controllers whose objects can name usable objects. Some of them start Pods later, as
// CronJobs do. Others name certificates, chart values or disks.
var naming = map[schema.GroupResource]bool{
	{Group: "actions.github.com", Resource: "autoscalingrunnersets"}:        true,
	{Group: "argoproj.io", Resource: "workflowtemplates"}:                   true,
	{Group: "ray.io", Resource: "rayclusters"}:                              true,
	{Group: "sparkoperator.k8s.io", Resource: "scheduledsparkapplications"}: true,
	{Group: "tekton.dev", Resource: "tasks"}:                                true,
	{Group: "argoproj.io", Resource: "cronworkflows"}:                       true,
	{Group: "keda.sh", Resource: "scaledjobs"}:                              true,
	{Group: "gateway.networking.k8s.io", Resource: "gateways"}:              true,
	{Group: "networking.istio.io", Resource: "gateways"}:                    true,
	{Group: "traefik.io", Resource: "ingressroutes"}:                        true,
	{Group: "projectcontour.io", Resource: "httpproxies"}:                   true,
	{Group: "helm.toolkit.fluxcd.io", Resource: "helmreleases"}:             true,
	{Group: "kustomize.toolkit.fluxcd.io", Resource: "kustomizations"}:      true,
	{Group: "kubevirt.io", Resource: "virtualmachines"}:                     true,
}

// usersOf returns users, and those types of the server that can create Pods later or name usable objects. Velero's
// types create no Pods.
func usersOf(types []census.Resource) []user {
	all := slices.Clone(users)
	for _, r := range types {
		of := r.GroupResource()
		runs := finished.ClassOfResource(of) == finished.Finishes && of.Group != "velero.io" || naming[of]
		if runs && !IsUser(of) {
			all = append(all, user{r, []string{"spec"}})
		}
	}
	return all
}

// IsUser reports whether users contains this type.
func IsUser(of schema.GroupResource) bool {
	return slices.ContainsFunc(users, func(u user) bool { return u.GroupResource() == of })
}

func newUser(group, kind, resource string, path ...string) user {
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
	return user{census.Resource{GroupVersionResource: gvr, Kind: kind, Namespaced: true}, path}
}

// uses has the texts that can be names of the plan's objects, from Pods and the other types that are in users.
type uses struct {
	from     user
	prefixes []string
	names    map[[2]string]bool // by namespace, and name or UID
	began    time.Time          // when the users were listed
	took     time.Duration      // how long that took
	// skipped are the types that prune can't list.
	skipped []v1alpha1.Skipped
}

// usesOf lists the objects that can use others: Pods, Pod templates, unfinished Workflows and PipelineRuns, and types
// such as Ingresses. It returns the names in them that can be names of the plan's objects.
func (p *Pruner) usesOf(ctx context.Context, reader *census.Reader, pools []*Pool) (*uses, error) {
	found := &uses{names: map[[2]string]bool{}, began: time.Now()}
	for _, pool := range pools {
		prefix := derive.EffectivePrefix(pool.Prefix) // also of names of a key
		if len(pool.Objects) > 0 && isUsable(pool) && !p.Criteria.InUse && !slices.Contains(found.prefixes, prefix) {
			found.prefixes = append(found.prefixes, prefix)
		}
	}
	if len(found.prefixes) == 0 {
		return found, nil
	}
	types, err := p.Types(ctx)
	if err != nil {
		return nil, err
	}
	visit := census.VisitFunc(found.visit)
	for _, found.from = range usersOf(types) {
		of := found.from.Resource
		err := reader.List(ctx, of, p.Namespace, decode.Options{Raw: true}, func() census.Visitor { return visit })
		switch apistatus.Code(err) {
		case http.StatusForbidden, http.StatusNotFound: // of a server without the type, or of a load balancer
			found.skipped = append(found.skipped, census.SkippedBy(ctx, of, p.Namespace, apistatus.Brief(err)))
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s, to find the objects that they use: %w", of.GroupResource(), err)
		}
	}
	found.took = time.Since(found.began)
	return found, nil
}

// visit records each text that begins with a prefix, in any field. So it also finds names in arguments, in environment
// variables, and in fields of later versions. It also records owners, because Kubernetes deletes an object if its owner
// is deleted.
func (u *uses) visit(o *object.Object) error {
	if status := statusOf(u.from.Resource, o.Raw); status.Done() {
		return nil
	}
	for _, owner := range o.Owners {
		if owner.APIVersion == "v1" {
			u.names[[2]string{o.Namespace, owner.UID}] = true
		}
	}
	part := json.RawMessage(o.Raw)
	for _, field := range u.from.path {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(part, &fields); err != nil {
			return fmt.Errorf("%s %s in namespace %s: %w", u.from.Kind, o.Name, o.Namespace, err)
		}
		if part = fields[field]; part == nil {
			return nil
		}
	}
	var value any
	err := json.Unmarshal(part, &value)
	object.EachText(value, func(text string) {
		text = text[strings.LastIndexByte(text, '/')+1:] // an annotation can have NAMESPACE/NAME
		if slices.ContainsFunc(u.prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) }) {
			u.names[[2]string{o.Namespace, text}] = true
		}
	})
	return err
}

// has reports whether another object uses o.
func (u *uses) has(o Object) bool {
	in := o.Pool.Namespace
	return isUsable(o.Pool) && (u.names[[2]string{in, o.Name}] || u.names[[2]string{in, o.UID}])
}

// usesValid is the shortest time before prune lists the users again. Lists take at most a tenth of a run's time.
const usesValid = time.Minute

// isUsed reports whether another object now uses an object of the plan.
func (p *Pruner) isUsed(ctx context.Context, plan *Plan, o Object) (bool, error) {
	if u := plan.uses; time.Since(u.began) > max(usesValid, 10*u.took) {
		now, err := p.usesOf(ctx, plan.reader, plan.Pools)
		if err != nil {
			return false, err
		}
		for _, s := range now.skipped {
			isOf := func(k v1alpha1.Skipped) bool { return k.Group == s.Group && k.Resource == s.Resource }
			if !slices.ContainsFunc(u.skipped, isOf) {
				return false, errors.New(s.Message)
			}
		}
		plan.uses = now
	}
	return plan.uses.has(o), nil
}

// keepOfJobs leaves the Pods alone whose Job exists. It lists the Jobs after the Pods. So if a Job is missing in the
// list, it doesn't exist.
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

// refresh updates the object to the version that a GET has read.
func (o *Object) refresh(found *object.Object) {
	o.ResourceVersion = found.ResourceVersion
	if o.job != nil {
		o.job = &object.JobRef{Name: found.Job.Name, UID: found.Job.UID}
	}
}

// checkJob reads the Job of an orphaned Pod. If the Job exists, checkJob returns the result that keeps the Pod.
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
