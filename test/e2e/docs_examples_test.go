package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Every example of every command's help works as printed. They run in order in the directory examples.
func helpExamples(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	go finishJobs(t.Context(), t, cp)
	s := harness.NewShell(t, u.Kubeconfig)
	prepare(t, cp, s)
	dir, ran := examples(t), 0
	web := []byte("http_server_config: {http2: false}\n")
	if err := os.WriteFile(filepath.Join(dir, "web.yml"), web, 0o600); err != nil {
		t.Fatal(err)
	}
	eachCommand(cmd.NewCommand(), func(c *cobra.Command) {
		for _, example := range examplesOf(c) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			bash := exec.CommandContext(ctx, "bash", "-c", shortened(example))
			bash.Env, bash.Dir = s.Env, dir
			if out, err := bash.CombinedOutput(); err != nil {
				t.Errorf("an example of %s fails: %v\n$ %s\n%s", c.CommandPath(), err, example, out)
			}
			cancel()
			ran++
		}
	})
	if ran < 10 {
		t.Errorf("only %d examples ran", ran)
	}
}

// shortened returns a command that ends soon, although the example lasts. An exporter that has printed
// something ends with 0 after a SIGTERM. --max-delete may refuse the plan here.
func shortened(example string) string {
	if strings.HasPrefix(example, "kubectl genname exporter") {
		return `log=$(mktemp); ` + example + ` 2> "$log" & until [ -s "$log" ]; do sleep 0.1; done; kill $!; wait $! || { cat "$log"; false; }`
	}
	if strings.Contains(example, " --max-delete ") {
		return example + " || [ $? = 3 ]"
	}
	return strings.Replace(example, "--duration 10m", "--duration 3s", 1)
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, child := range c.Commands() {
		eachCommand(child, visit)
	}
}

// examplesOf returns the commands in a command's examples: all lines except comments, with their
// continuation lines.
func examplesOf(c *cobra.Command) []string {
	var examples []string
	joined := strings.ReplaceAll(c.Example, "\\\n", "")
	for line := range strings.Lines(joined) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			examples = append(examples, line)
		}
	}
	return examples
}

// prepare creates the prerequisites of the examples: the namespace of a CI system, a CronJob, and the directories of
// krew and fish.
func prepare(t *testing.T, cp *controlplane.ControlPlane, s harness.Shell) {
	t.Helper()
	for _, name := range []string{"batch", "ci"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := harness.Clientset(t, cp).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.Run("kubectl", "create", "cronjob", "nightly", "--image=busybox", "--schedule=0 3 * * *").Expect(t, 0, `.*created\n`, ``)
	for _, variable := range s.Env {
		if home, is := strings.CutPrefix(variable, "HOME="); is {
			for _, dir := range []string{".krew/bin", ".config/fish/completions"} {
				if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// finishJobs does the work of a controller and a kubelet: every Job is complete soon.
func finishJobs(ctx context.Context, t *testing.T, cp *controlplane.ControlPlane) {
	client := harness.Clientset(t, cp)
	for ctx.Err() == nil {
		jobs, err := client.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err == nil {
			for _, job := range jobs.Items {
				if job.Status.CompletionTime == nil {
					_, _ = client.BatchV1().Jobs(job.Namespace).Patch(ctx, job.Name, types.MergePatchType, complete(), metav1.PatchOptions{}, "status")
				}
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// complete returns the status of a complete Job, as the API server requires it.
func complete() []byte {
	now := metav1.Now()
	condition := func(kind batchv1.JobConditionType) batchv1.JobCondition {
		return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now}
	}
	patch, err := json.Marshal(map[string]any{"status": batchv1.JobStatus{
		StartTime: &now, CompletionTime: &now, Succeeded: 1,
		Conditions: []batchv1.JobCondition{condition(batchv1.JobSuccessCriteriaMet), condition(batchv1.JobComplete)},
	}})
	if err != nil {
		panic(err) // the values can always be encoded
	}
	return patch
}

// examples returns a copy of the directory examples, into which commands can write.
func examples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(harness.Root+"examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}
