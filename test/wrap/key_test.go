package wrap

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var kills = flag.Int("kills", 5, "how often TestThreads kills the program and runs it again")

// A Python program with ten threads is killed at any moment, together with wrap, and run again. In the end there are as
// many objects as the program wants.
func TestThreads(t *testing.T) {
	t.Parallel()
	objects := 20 + 4**kills
	random := rand.New(rand.NewPCG(harness.Seed(t), 1))
	ns := harness.Namespace(t, server)
	s := shell(t, server.Admin(), ns)
	s.Env = append(s.Env, "GENNAME_IDEMPOTENCY_KEY=threads")
	command := []string{"genname", "wrap", "--", "/usr/bin/python3", "testdata/threads.py", fmt.Sprint(objects)}
	killed := 0
	for i := range *kills {
		if killAfter(t, s, i*objects / *kills + random.IntN(4), command) {
			killed++
		}
		t.Logf("%d objects", len(ofProgram(t, ns)))
	}
	r := s.Run("kubectl", command...)
	found := map[string]int{}
	for _, cm := range ofProgram(t, ns) {
		found[cm.Data["number"]]++
	}
	if r.Code != 0 || strings.Count(r.Stdout, "\n") != objects || r.Stderr != "" || len(ofProgram(t, ns)) != objects ||
		len(found) != objects/2 || killed != *kills {
		t.Errorf("%d objects with %d contents after %d kills, want %d\n%+v", len(ofProgram(t, ns)), len(found), killed, objects, r)
	}
}

// killAfter runs a command of kubectl, and kills all of its processes after some lines. It returns false if the command
// ended before.
func killAfter(t *testing.T, s harness.Shell, lines int, command []string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Kubectl(t), command...)
	cmd.Env, cmd.SysProcAttr = s.Env, &syscall.SysProcAttr{Setpgid: true}
	var problems bytes.Buffer
	cmd.Stderr = &problems
	read := bufio.NewScanner(start(t, cmd))
	for lines > 0 && read.Scan() {
		lines--
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	if problems.Len() > 0 {
		t.Error(problems.String())
	}
	return !cmd.ProcessState.Exited()
}

func ofProgram(t *testing.T, ns string) (found []corev1.ConfigMap) {
	t.Helper()
	for _, cm := range harness.ConfigMaps(t, server, ns) {
		if cm.GenerateName != "" {
			found = append(found, cm)
		}
	}
	return found
}

var workflows = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}

const workflow = `{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {generateName: hello-}, spec: {
  entrypoint: hello, templates: [{name: hello, container: {image: busybox}}]}}`

const workflowType = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: workflows.argoproj.io}, spec: {
  group: argoproj.io, scope: Namespaced, names: {plural: workflows, singular: workflow, kind: Workflow, listKind: WorkflowList},
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`

// submit is "argo submit" in the measurement of test/conformance.
var submit = flag.String("submit", "kubectl create -f", "the command of TestScript that creates a Workflow from a file")

// CI repeats a script. A repeated run doesn't repeat the steps that have succeeded.
func TestScript(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	s := shell(t, server.Admin(), ns)
	s.Run("kubectl", "apply", "-f", harness.File(t, "crd.yaml", workflowType)).Has(t, 0)
	harness.UntilServed(t, server, workflows)
	create := "kubectl create -f " + harness.File(t, "cm.yaml", configMap)
	script := fmt.Sprintf("set -e; %s; $FAIL; %s %s; %[1]s", create, *submit, harness.File(t, "workflow.yaml", workflow))
	var names [3]string
	for i, fails := range []string{"false", "true", "true"} {
		s.Env = append(s.Env, "FAIL="+fails)
		r := s.Run("kubectl", "genname", "wrap", "--idempotency-key", "ci-17", "--", "bash", "-c", script)
		if names[i] = r.Stdout; (r.Code == 0) != (fails == "true") || r.Stderr != "" {
			t.Fatalf("run %d: %+v", i, r)
		}
	}
	submitted := s.Run("kubectl", "get", "workflows", "-o", "name")
	if names[1] != names[2] || !strings.HasPrefix(names[1], names[0]) || len(ofProgram(t, ns)) != 2 || strings.Count(submitted.Stdout, "\n") != 1 {
		t.Errorf("the runs printed %q. There are %d ConfigMaps and the workflows %q", names, len(ofProgram(t, ns)), submitted.Stdout)
	}
}
