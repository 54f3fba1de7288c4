package prune

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// podSpecs are Pod specs. Those with the value true use run-22222, each in another field.
var podSpecs = map[string]bool{
	`{"volumes":[{"configMap":{"name":"run-22222"}}]}`:                                           true,
	`{"volumes":[{"projected":{"sources":[{"secret":{"name":"run-22222"}}]}}]}`:                  true,
	`{"volumes":[{"persistentVolumeClaim":{"claimName":"run-22222"}}]}`:                          true,
	`{"volumes":[{"csi":{"nodePublishSecretRef":{"name":"run-22222"}}}]}`:                        true,
	`{"containers":[{"envFrom":[{"configMapRef":{"name":"run-22222"}}]}]}`:                       true,
	`{"initContainers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"run-22222"}}}]}]}`:         true,
	`{"ephemeralContainers":[{"env":[{"valueFrom":{"configMapKeyRef":{"name":"run-22222"}}}]}]}`: true,
	`{"imagePullSecrets":[{"name":"run-22222"}]}`:                                                true,
	`{"serviceAccountName":"run-22222"}`:                                                         true,
	`{"containers":[{"args":["run-22222"]}]}`:                                                    true,
	`{"containers":[{"args":["run-222222", "rerun-22222", "run-"]}]}`:                            false,
	`{"serviceAccountName":"default"}`:                                                           false,
	`null`:                                                                                       false,
}

// using returns a Pruner with a server that has three ConfigMaps. lists contains the users of the first ConfigMap.
func using(t *testing.T, lists map[string]string, criteria Criteria) *Pruner {
	t.Helper()
	server := serve(3, generated)
	server.list(lists)
	return server.pruner(t, criteria)
}

// list sets the server's lists of other types, by path. Instead of a list, a value can be the reason of a refusal.
func (p *prunable) list(lists map[string]string) {
	p.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		list := lists[r.URL.Path]
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			return false
		case list == "":
			list = `{"kind":"List","metadata":{"resourceVersion":"7"},"items":[]}`
		case list[0] != '{':
			status(map[string]int{"Forbidden": 403, "NotFound": 404}[list], list, "")(w)
			return true
		}
		respond(200, list)(w)
		return true
	}
}

// used makes a plan, and returns the number of objects in use.
func used(t *testing.T, p *Pruner) (n int64, skipped []v1alpha1.Skipped) {
	t.Helper()
	plan, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if chosen := int64(len(plan.Pools[0].Objects)); chosen+plan.Pools[0].Left[v1alpha1.PruneInUse] != 3 {
		t.Errorf("of 3 objects %d are chosen, and %v are left", chosen, plan.Pools[0].Left)
	}
	return plan.Pools[0].Left[v1alpha1.PruneInUse], plan.Skipped
}

func list(namespace, fields string) string {
	return fmt.Sprintf(`{"kind":"List","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"user","namespace":"%s"},%s}]}`,
		namespace, fields)
}

// Prune finds a name in every field of a Pod's spec.
func TestFieldsThatUse(t *testing.T) {
	for spec, want := range podSpecs {
		n, _ := used(t, using(t, map[string]string{"/api/v1/pods": list("ns", `"spec":`+spec)}, Criteria{}))
		if (n == 1) != want {
			t.Errorf("%s uses %d objects", spec, n)
		}
	}
}

// Finished Pods and Jobs use nothing. Pods use only objects in their own namespace.
func TestUsers(t *testing.T) {
	const spec = `{"serviceAccountName":"run-22222"}`
	template := `"spec":{"template":{"spec":` + spec + `}}`
	for name, test := range map[string]struct {
		path, list string
		want       int64
	}{
		"a Pod that runs":           {"/api/v1/pods", list("ns", `"status":{"phase":"Running"},"spec":`+spec), 1},
		"a Pod that has succeeded":  {"/api/v1/pods", list("ns", `"status":{"phase":"Succeeded"},"spec":`+spec), 0},
		"another namespace":         {"/api/v1/pods", list("other", `"spec":`+spec), 0},
		"a Job":                     {"/apis/batch/v1/jobs", list("ns", template), 1},
		"a Job that has failed":     {"/apis/batch/v1/jobs", list("ns", `"status":{"conditions":[{"type":"Failed","status":"True"}]},`+template), 0},
		"a CronJob":                 {"/apis/batch/v1/cronjobs", list("ns", `"spec":{"jobTemplate":{`+template+`}}`), 1},
		"an old ReplicaSet":         {"/apis/apps/v1/replicasets", list("ns", `"status":{"replicas":0},`+template), 1},
		"a Deployment":              {"/apis/apps/v1/deployments", list("ns", template), 1},
		"a StatefulSet":             {"/apis/apps/v1/statefulsets", list("ns", template), 1},
		"a DaemonSet":               {"/apis/apps/v1/daemonsets", list("ns", template), 1},
		"a ReplicationController":   {"/api/v1/replicationcontrollers", list("ns", template), 1},
		"an old revision":           {"/apis/apps/v1/controllerrevisions", list("ns", `"data":{`+template+`}`), 1},
		"a revision of a program":   {"/apis/apps/v1/controllerrevisions", list("ns", `"data":["run-22222"]`), 1},
		"a ServiceAccount":          {"/api/v1/serviceaccounts", list("ns", `"imagePullSecrets":[{"name":"run-22222"}]`), 1},
		"an owned Pod":              {"/api/v1/pods", strings.Replace(list("ns", `"spec":{}`), `},"spec"`, `,"ownerReferences":[{"apiVersion":"v1","uid":"u0"}]},"spec"`, 1), 1},
		"a Pod of another type":     {"/api/v1/pods", strings.Replace(list("ns", `"spec":{}`), `},"spec"`, `,"ownerReferences":[{"apiVersion":"x/v1","uid":"u0"}]},"spec"`, 1), 0},
		"a queued Workflow":         {"/apis/argoproj.io/v1/workflows", list("ns", template), 1},
		"a Workflow that has ended": {"/apis/argoproj.io/v1/workflows", list("ns", `"status":{"phase":"Succeeded"},`+template), 0},
		"a ScaledJob":               {"/apis/keda.sh/v1/scaledjobs", list("ns", template), 1},
		"an Ingress":                {"/apis/networking.k8s.io/v1/ingresses", list("ns", `"spec":{"tls":[{"secretName":"run-22222"}]}`), 1},
		"an Ingress's annotation":   {"/apis/networking.k8s.io/v1/ingresses", strings.Replace(list("ns", `"spec":{}`), `},"spec"`, `,"annotations":{"auth-secret":"ns/run-22222"}},"spec"`, 1), 1},
		"a suspended RayCluster":    {"/apis/ray.io/v1/rayclusters", list("ns", template), 1},
		"a Gateway":                 {"/apis/gateway.networking.k8s.io/v1/gateways", list("ns", `"spec":{"listeners":[{"tls":{"certificateRefs":[{"name":"run-22222"}]}}]}`), 1},
		"tokens":                    {"/api/v1/serviceaccounts", list("ns", `"secrets":[{"name":"run-22222"}]`), 0},
	} {
		lists := map[string]string{test.path: test.list}
		if n, _ := used(t, using(t, lists, Criteria{})); n != test.want {
			t.Errorf("%s uses %d objects, want %d", name, n, test.want)
		}
		if n, _ := used(t, using(t, lists, Criteria{InUse: true})); n != 0 {
			t.Errorf("%s, with --in-use: %d objects stay", name, n)
		}
	}
}

// For a key, a name has fewer bytes of a long generateName than a server's name. Prune finds its users, too.
func TestUsersOfLongNames(t *testing.T) {
	long := strings.Repeat("x", 60)
	names := []string{long[:53] + "bbbbbccccc", long[:58] + "bbbbb"}
	for _, name := range names {
		server := serve(len(names), func(i int) metav1.ObjectMeta {
			o := generated(i)
			o.GenerateName, o.Name = long, names[i]
			return o
		})
		server.list(map[string]string{"/api/v1/pods": list("ns", `"spec":{"serviceAccountName":"`+name+`"}`)})
		plan, err := server.pruner(t, Criteria{}).Plan(t.Context(), []Target{{configMaps, []string{long}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if pool := plan.Pools[0]; pool.Left[v1alpha1.PruneInUse] != 1 || len(pool.Objects) != 1 || pool.Objects[0].Name == name {
			t.Errorf("a Pod uses %s, and %v are left, chosen are %+v", name, pool.Left, pool.Objects)
		}
	}
}

// --keep doesn't count objects in use among the newest objects.
func TestKeepBesideUsed(t *testing.T) {
	one := 1
	p := using(t, map[string]string{"/api/v1/pods": list("ns", `"spec":{"x":"run-22224"}`)}, Criteria{Keep: &one})
	plan, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[v1alpha1.PruneReason]int64{v1alpha1.PruneInUse: 1, v1alpha1.PruneNewest: 1}
	if pool := plan.Pools[0]; !maps.Equal(pool.Left, want) || len(pool.Objects) != 1 {
		t.Errorf("left are %v, want %v", pool.Left, want)
	}
}

// The plan names the types that the user has no permission to list, or for which a load balancer responds. After any
// other error there is no plan, because objects might be in use.
func TestUsersThatCannotBeListed(t *testing.T) {
	for reason, want := range map[string]v1alpha1.SkipReason{"Forbidden": "forbidden", "NotFound": "notFound"} {
		_, skipped := used(t, using(t, map[string]string{"/apis/apps/v1/deployments": reason}, Criteria{}))
		if len(skipped) != 1 || skipped[0].Resource != "deployments" || skipped[0].Reason != want {
			t.Errorf("skipped %+v, want deployments as %s", skipped, want)
		}
	}
	p := using(t, map[string]string{"/apis/apps/v1/deployments": `{"kind":"List"`}, Criteria{})
	if plan, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, nil); err == nil || !strings.Contains(err.Error(), "list deployments.apps") {
		t.Errorf("%+v, %v, want an error that names list deployments.apps", plan, err)
	}
}

// During a long run, prune lists the users again. It leaves an object alone if the new list shows a user. If a list
// fails that succeeded before, the run ends. The oldest object is deleted first, and the newest one is left.
func TestUsersDuringARun(t *testing.T) {
	const failed, path = "/api/v1/pods", "/apis/apps/v1/deployments"
	for later, want := range map[string]string{
		list("ns", `"spec":{"template":{"spec":{"x":"run-22225"}}}`): "[inUse] <nil>", "Forbidden": "[] list deployments.apps: m",
	} {
		synctest.Test(t, func(t *testing.T) {
			server := serve(3, generated)
			deletes := server.Fault
			server.list(map[string]string{failed: "NotFound", path: later})
			late := server.Fault
			server.list(map[string]string{failed: "NotFound"})
			early := server.Fault
			var deleting atomic.Bool
			server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.Method == http.MethodDelete:
					deleting.Store(true)
					time.Sleep(2 * usesValid)
					return deletes(n, w, r)
				case deleting.Load():
					return late(n, w, r)
				}
				return early(n, w, r)
			}
			p := server.pruner(t, Criteria{})
			p.Concurrency = 1
			plan, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			left := []v1alpha1.PruneReason{}
			err = p.Delete(t.Context(), plan, func(r Result) {
				if r.Outcome == LeftAlone {
					left = append(left, r.Reason)
				}
			})
			server.Lock() // a DELETE can be in flight
			got, gone := fmt.Sprint(left, " ", err), strings.Join(server.deleted, " ")
			server.Unlock()
			if got != want || !strings.Contains(gone, "run-22222") || strings.Contains(gone, "run-22225") {
				t.Errorf("%s, want %s; deleted %s", got, want, gone)
			}
		})
	}
}

// Prune lists users only for types that Pods use by name.
func TestOnlyUsableTypesHaveUsers(t *testing.T) {
	server := serve(0, nil)
	var paths []string
	server.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		paths = append(paths, r.URL.Path)
		respond(200, `{"kind":"JobList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"run-22222","generateName":"run-","namespace":"ns","uid":"u",`+
			`"creationTimestamp":"2026-11-22T10:00:00Z"},"status":{"conditions":[{"type":"Complete","status":"True"}]}}]}`)(w)
		return true
	}
	plan, err := server.pruner(t, Criteria{}).Plan(t.Context(), []Target{{jobs, []string{"run-"}}}, nil)
	if err != nil || len(slices.Collect(plan.Objects())) != 1 || !slices.Equal(paths, []string{"/apis/batch/v1/jobs"}) {
		t.Errorf("%v after %q", err, paths)
	}
}

// A prefix is missing if no object has it as its generateName, even if names begin with it.
func TestMissingPrefixes(t *testing.T) {
	server := serve(2, func(i int) metav1.ObjectMeta {
		o := generated(i)
		if i == 0 {
			o.Name, o.GenerateName, o.UID = "other-bbbbb", "", types.UID("o")
		}
		return o
	})
	none := 5
	target := Target{configMaps, []string{"other-", "run-", "x-"}}
	plan, err := server.pruner(t, Criteria{Keep: &none}).Plan(t.Context(), []Target{target}, nil)
	if err != nil || len(plan.NotFound) != 2 || plan.NotFound[0].Prefix != "other-" || plan.NotFound[1].Prefix != "x-" {
		t.Errorf("%+v, want other- and x- as not found: %v", plan, err)
	}
}
