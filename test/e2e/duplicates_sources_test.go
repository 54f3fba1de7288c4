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
	shell.Run("kubectl", "create", "-f", harness.File(t, "clean.yaml", manifests)).Expect(t, 0, `(.* created\n){6}`, ``)
	for _, run := range []string{"cron-1", "cron-2"} {
		shell.Run("kubectl", "create", "job", run, "--from=cronjob/cron").Expect(t, 0, `.*created\n`, ``)
	}
	u.Run("create", "-f", harness.File(t, "job.yaml", job), "--count=40").Expect(t, 0, `(.* created\n){40}`, `.*`)
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
			t.Errorf("%s: %s", brief(item), item.Reason)
		}
	}
	t.Logf("%d objects, %d of them compared: %q", report.Summary.Objects, report.Summary.Compared,
		briefs(report, v1alpha1.DuplicatePossible))
}
