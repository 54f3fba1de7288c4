package prune

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// usable are the types whose objects Pods use by name. Nothing in such an object shows that a Pod uses it.
var usable = []schema.GroupResource{
	{Resource: "configmaps"},
	{Resource: "secrets"},
	{Resource: "serviceaccounts"},
	{Resource: "persistentvolumeclaims"},
}

func isUsable(pool *Pool) bool { return slices.Contains(usable, pool.Resource.GroupResource()) }

// user is a type whose objects are Pods, or have a template of Pods or names that Pods get.
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
}

func newUser(group, kind, resource string, path ...string) user {
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
	return user{census.Resource{GroupVersionResource: gvr, Kind: kind, Namespaced: true}, path}
}

// uses has the texts in the specs of Pods that can be names of objects of the plan.
type uses struct {
	from     user
	prefixes []string
	names    map[[2]string]bool // by namespace and name
}

// keepUsed moves the objects to those that are left whose names are used by Pods that have not finished, or by
// templates of Pods. skipped are the types that the user has no permission to list.
func (p *Pruner) keepUsed(
	ctx context.Context, reader *census.Reader, listings []*listing,
) (skipped []v1alpha1.Skipped, err error) {
	found := &uses{names: map[[2]string]bool{}}
	for _, l := range listings {
		if l.found > 0 && slices.Contains(usable, l.rules.resource.GroupResource()) {
			for prefix := range l.rules.prefixes {
				found.prefixes = append(found.prefixes, derive.EffectivePrefix(prefix)) // also of names of a key
			}
		}
	}
	if len(found.prefixes) == 0 || p.Criteria.InUse {
		return nil, nil
	}
	visit := census.VisitFunc(found.visit)
	for _, found.from = range users {
		of := found.from.Resource
		err := reader.List(ctx, of, p.Namespace, decode.Options{Raw: true}, func() census.Visitor { return visit })
		switch {
		case err == nil, apistatus.Code(err) == http.StatusNotFound: // the server doesn't have the type
		case apistatus.Code(err) == http.StatusForbidden:
			skipped = append(skipped, v1alpha1.Skipped{
				Group: of.Group, Resource: of.Resource, Namespace: p.Namespace,
				Reason: census.Forbidden, Message: apistatus.Brief(err).Error(),
			})
		default:
			return nil, fmt.Errorf("list %s, to find the objects that they use: %w", of.GroupResource(), err)
		}
	}
	for _, l := range listings {
		for _, pool := range l.pools {
			found.keep(pool)
		}
	}
	return skipped, nil
}

// visit records each text with one of the prefixes, in whatever field. So it also finds names in fields of later
// versions, in arguments and in environment variables.
func (u *uses) visit(o *object.Object) error {
	if status := statusOf(u.from.Resource, o.Raw); status.Done() {
		return nil
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
		if slices.ContainsFunc(u.prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) }) {
			u.names[[2]string{o.Namespace, text}] = true
		}
	})
	return err
}

// keep moves the objects that are in use from the objects of a pool to those that are left.
func (u *uses) keep(pool *Pool) {
	if len(u.names) == 0 || !isUsable(pool) {
		return
	}
	pool.Objects = slices.DeleteFunc(pool.Objects, func(o Object) bool {
		used := u.names[[2]string{pool.Namespace, o.Name}]
		if used {
			pool.Left[v1alpha1.PruneInUse]++
		}
		return used
	})
}
