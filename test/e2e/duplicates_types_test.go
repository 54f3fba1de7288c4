package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

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
              workers: {type: integer}
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
	shell.Run("kubectl", "apply", "-f", harness.File(t, "crd.yaml", backups)).Expect(t, 0, `.*created\n`, ``)
	shell.Run("kubectl", "wait", "--for=condition=Established", "crd/backups.example.com").Expect(t, 0, `.*`, ``)
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
		shell.Run("kubectl", "create", "-f", file).Expect(t, 0, `(.* created\n)+`, `.*`)
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
