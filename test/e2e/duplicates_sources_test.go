package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// batches are ConfigMaps that a script creates one after the other. Each prefix has one content, so
// one object of each prefix was intended.
func batches(t *testing.T, n int) (files []string) {
	t.Helper()
	for i := range n {
		files = append(files, harness.File(t, fmt.Sprintf("%d.yaml", i), fmt.Sprintf(
			"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: batch-%d-}, data: {number: '%d'}}", i, i)))
	}
	return files
}

// All duplicates that a proxy creates by repeating POSTs are found, and nothing else. The same holds
// for duplicates of a retry loop around kubectl create.
func TestDuplicatesOfLostResponses(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faultproxy.Fault{
		"a proxy that repeats POSTs":   faultproxy.RepeatFirst,
		"a retry after lost responses": faultproxy.RespondAfter(http.StatusGatewayTimeout, nil, "upstream request timeout"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := harness.Namespace(t, retrying)
			var posts atomic.Int32
			proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/configmaps") {
					return nil
				}
				if posts.Add(1)%3 == 1 {
					return fault
				}
				return nil
			})
			shell := harness.NewShell(t, harness.As(t, proxy.Config).Kubeconfig)
			for _, file := range batches(t, 20) {
				for range 3 { // until it succeeds
					if r := shell.Run("kubectl", "create", "-n", namespace, "-f", file); r.Code == 0 {
						break
					}
				}
			}
			want := tooMany(t, namespace)
			report := duplicatesOf(t, harness.As(t, retrying.Admin()), "-n", namespace)
			if got := prefixes(report, v1alpha1.DuplicateLikely); !slices.Equal(got, want) || len(want) < 5 {
				t.Errorf("found %q, want %q", got, want)
			}
			if possible := prefixes(report, v1alpha1.DuplicatePossible); len(possible) > 0 {
				t.Errorf("possible: %q", possible)
			}
			t.Logf("%d objects of 20 creates: %d of %d duplicates found", 20+len(want), len(report.Items), len(want))
		})
	}
}

// tooMany returns the prefixes with more than one ConfigMap.
func tooMany(t *testing.T, namespace string) (prefixes []string) {
	t.Helper()
	count := map[string]int{}
	for _, o := range harness.ConfigMaps(t, retrying, namespace) {
		if count[o.GenerateName]++; count[o.GenerateName] == 2 {
			prefixes = append(prefixes, o.GenerateName)
		}
	}
	slices.Sort(prefixes)
	return prefixes
}

// prefixes returns the prefixes of the groups with a grade.
func prefixes(report v1alpha1.DuplicateReport, grade v1alpha1.DuplicateGrade) (found []string) {
	for _, item := range report.Items {
		if item.Grade == grade {
			found = append(found, item.Prefix)
		}
	}
	slices.Sort(found)
	return found
}

// If nothing was created twice, no group is likely, whatever controllers create.
func duplicatesOfCleanPopulations(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, u.Kubeconfig)
	harness.Eventually(t, func() error {
		if r := shell.Run("kubectl", "get", "serviceaccount", "default"); r.Code != 0 {
			return fmt.Errorf("%s", r.Stderr)
		}
		return nil
	})
	const container = `{restartPolicy: Never, containers: [{name: c, image: i}]}`
	manifests := `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: two}, spec: {replicas: 2, selector: {matchLabels: {app: two}}, template: {metadata: {labels: {app: two}}, spec: {containers: [{name: c, image: i}]}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: five}, spec: {replicas: 5, selector: {matchLabels: {app: five}}, template: {metadata: {labels: {app: five}}, spec: {containers: [{name: c, image: i}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {generateName: parallel-}, spec: {parallelism: 2, completions: 4, template: {spec: ` + container + `}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: indexed}, spec: {completionMode: Indexed, parallelism: 3, completions: 3, template: {spec: ` + container + `}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: set}, spec: {replicas: 2, podManagementPolicy: Parallel, serviceName: s, selector: {matchLabels: {app: set}}, template: {metadata: {labels: {app: set}}, spec: {containers: [{name: c, image: i}]}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: cron}, spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: ` + container + `}}}}}
`
	shell.Run("kubectl", "create", "-f", harness.File(t, "clean.yaml", manifests)).Has(t, 0)
	for _, run := range []string{"cron-1", "cron-2"} {
		shell.Run("kubectl", "create", "job", run, "--from=cronjob/cron").Has(t, 0)
	}
	u.Run("create", "-f", harness.File(t, "job.yaml", job), "--count=40").Has(t, 0)
	harness.Eventually(t, func() error {
		var pods metav1.PartialObjectMetadataList
		r := shell.Run("kubectl", "get", "pods", "-o", "json")
		if err := json.Unmarshal([]byte(r.Stdout), &pods); err != nil {
			return err
		}
		if len(pods.Items) < 56 {
			return fmt.Errorf("controllers have created %d Pods", len(pods.Items))
		}
		return nil
	})
	report := duplicatesOf(t, u, "-A")
	if got := briefs(report, v1alpha1.DuplicateLikely, v1alpha1.DuplicateConfirmed); len(got) > 0 {
		t.Errorf("found %q", got)
	}
	for _, item := range report.Items {
		if item.Reason != "replicas" && item.Reason != "moreThanTwo" {
			t.Errorf("%s: %s, want replicas or moreThanTwo", brief(item), item.Reason)
		}
	}
	t.Logf("%d objects, %d of them compared: %q", report.Summary.Objects, report.Summary.Compared,
		briefs(report, v1alpha1.DuplicatePossible))
}

// workload is the Pod template of workloads.
const workload = `{metadata: {labels: {app: twice}}, spec: {containers: [{name: c, image: i, env: [{name: A, value: b}]}]}}`

// twice are the types that people create with generateName, without a generateName.
var twice = map[string]string{
	"configmaps":                             `{apiVersion: v1, kind: ConfigMap, data: {a: b}, binaryData: {c: AAAA}}`,
	"secrets":                                `{apiVersion: v1, kind: Secret, stringData: {password: hunter2}}`,
	"serviceaccounts":                        `{apiVersion: v1, kind: ServiceAccount, imagePullSecrets: [{name: s}]}`,
	"services":                               `{apiVersion: v1, kind: Service, spec: {selector: {app: a}, ports: [{name: p, port: 80}, {name: s, port: 443}]}}`,
	"persistentvolumeclaims":                 `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
	"pods":                                   `{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]}]}}`,
	"podtemplates":                           `{apiVersion: v1, kind: PodTemplate, template: ` + workload + `}`,
	"replicationcontrollers":                 `{apiVersion: v1, kind: ReplicationController, spec: {replicas: 1, selector: {app: twice}, template: ` + workload + `}}`,
	"resourcequotas":                         `{apiVersion: v1, kind: ResourceQuota, spec: {hard: {count/leases.coordination.k8s.io: "9"}}}`,
	"limitranges":                            `{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 9Gi}}]}}`,
	"namespaces":                             `{apiVersion: v1, kind: Namespace}`,
	"persistentvolumes":                      `{apiVersion: v1, kind: PersistentVolume, spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteMany], storageClassName: none, hostPath: {path: /tmp/x}}}`,
	"deployments.apps":                       `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1, selector: {matchLabels: {app: twice}}, template: ` + workload + `}}`,
	"replicasets.apps":                       `{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 1, selector: {matchLabels: {app: twice}}, template: ` + workload + `}}`,
	"statefulsets.apps":                      `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, serviceName: s, selector: {matchLabels: {app: twice}}, template: ` + workload + `}}`,
	"daemonsets.apps":                        `{apiVersion: apps/v1, kind: DaemonSet, spec: {selector: {matchLabels: {app: twice}}, template: ` + workload + `}}`,
	"jobs.batch":                             `{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`,
	"cronjobs.batch":                         `{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}`,
	"horizontalpodautoscalers.autoscaling":   `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}}`,
	"networkpolicies.networking.k8s.io":      `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}}`,
	"ingresses.networking.k8s.io":            `{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}`,
	"poddisruptionbudgets.policy":            `{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}}`,
	"roles.rbac.authorization.k8s.io":        `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
	"rolebindings.rbac.authorization.k8s.io": `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: u}]}`,
	"clusterroles.rbac.authorization.k8s.io": `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
	"clusterrolebindings.rbac.authorization.k8s.io": `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: u}]}`,
	"priorityclasses.scheduling.k8s.io":             `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 7}`,
	"storageclasses.storage.k8s.io":                 `{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: example.com/none}`,
	"ingressclasses.networking.k8s.io":              `{apiVersion: networking.k8s.io/v1, kind: IngressClass, spec: {controller: example.com/none}}`,
	"endpointslices.discovery.k8s.io":               `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: [10.1.2.3]}], ports: [{port: 80}]}`,
	"backups.example.com":                           `{apiVersion: example.com/v1, kind: Backup, spec: {volume: data}}`,
}

// backups is a custom resource type with a default.
const backups = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.example.com}
spec:
  group: example.com
  names: {plural: backups, kind: Backup}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              volume: {type: string}
              keep: {type: integer, default: 7}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// duplicatesOf returns the report of a search.
func duplicatesOf(t *testing.T, u harness.User, args ...string) v1alpha1.DuplicateReport {
	t.Helper()
	result := u.Run(append([]string{"duplicates", "-o", "json"}, args...)...)
	var report v1alpha1.DuplicateReport
	if err := json.Unmarshal([]byte(result.Stdout), &report); err != nil || result.Code != 0 {
		t.Fatalf("%v, exit code %d, stderr is %s", err, result.Code, result.Stderr)
	}
	return report
}

// brief returns a group as GRADE RESOURCE PREFIX xOBJECTS.
func brief(item v1alpha1.DuplicateItem) string {
	resource := strings.TrimSuffix(item.Resource+"."+item.Group, ".")
	return fmt.Sprintf("%s %s %s x%d", item.Grade, resource, item.Prefix, len(item.Objects))
}

// briefs returns the groups with one of the grades.
func briefs(report v1alpha1.DuplicateReport, grades ...v1alpha1.DuplicateGrade) []string {
	found := []string{}
	for _, item := range report.Items {
		if slices.Contains(grades, item.Grade) {
			found = append(found, brief(item))
		}
	}
	slices.Sort(found)
	return found
}

// A pair that kubectl created is found for each type, whatever Kubernetes controllers write into the
// objects. Secrets are searched only if the user names them. Objects that controllers create for a
// pair are no duplicates.
func duplicatesOfEachType(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, u.Kubeconfig)
	shell.Run("kubectl", "apply", "-f", harness.File(t, "crd.yaml", backups)).Has(t, 0)
	shell.Run("kubectl", "wait", "--for=condition=Established", "crd/backups.example.com").Has(t, 0)
	harness.Eventually(t, func() error {
		if r := shell.Run("kubectl", "get", "serviceaccount", "default"); r.Code != 0 {
			return fmt.Errorf("%s", r.Stderr)
		}
		return nil
	})
	var documents, want []string
	for resource, object := range twice {
		prefix := strings.ReplaceAll(resource, ".", "-") + "-"
		if resource == "statefulsets.apps" || resource == "cronjobs.batch" {
			prefix = "short-"
		}
		document := strings.TrimSuffix(object, "}") + fmt.Sprintf(", metadata: {generateName: %s, labels: {a: b}}}", prefix)
		documents = append(documents, document)
		want = append(want, fmt.Sprintf("likely %s %s x2", resource, prefix))
	}
	slices.Sort(want)
	file := harness.File(t, "twice.yaml", strings.Join(documents, "\n---\n"))
	for range 2 {
		shell.Run("kubectl", "create", "-f", file).Has(t, 0)
	}
	harness.Eventually(t, func() error {
		r := shell.Run("kubectl", "get", "pods", "-l", "app=twice", "-o", "name")
		if pods := strings.Count(r.Stdout, "\n"); pods < 6 {
			return fmt.Errorf("controllers have created %d Pods", pods)
		}
		return nil
	})
	report := duplicatesOf(t, u, "-A")
	withoutSecrets := slices.DeleteFunc(slices.Clone(want), func(text string) bool { return strings.Contains(text, " secrets ") })
	if got := briefs(report, v1alpha1.DuplicateLikely, v1alpha1.DuplicateConfirmed); !slices.Equal(got, withoutSecrets) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(withoutSecrets, "\n"))
	}
	for _, item := range report.Items {
		if item.Grade == v1alpha1.DuplicateLikely && (item.Fields == 0 || item.Objects[0].Creator != "kubectl-create") {
			t.Errorf("%s: %d fields, created by %q", brief(item), item.Fields, item.Objects[0].Creator)
		}
	}
	named := duplicatesOf(t, u, "secrets")
	if got := briefs(named, v1alpha1.DuplicateLikely); !slices.Equal(got, []string{"likely secrets secrets- x2"}) {
		t.Errorf("of Secrets: %q", got)
	}
}
