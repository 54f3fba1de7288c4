package create

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// A line of a log can't be a command for a CI system, move the cursor, or look like a line of the plugin, unless the user
// wants the bytes.
func TestInertLogs(t *testing.T) {
	for line, want := range map[string]string{
		"::error::x":                    `\u003a:error::x`,
		"##vso[task.setvariable v=a]x":  `\u0023#vso[task.setvariable v=a]x`,
		"##teamcity[x]":                 `\u0023#teamcity[x]`,
		"50%\r100% \x1b[2J\tok":         `50%\u000d100% \u001b[2J` + "\tok",
		"error: not all objects failed": "error: not all objects failed",
		"of Windows\r":                  "of Windows",
	} {
		for _, raw := range []bool{false, true} {
			var out strings.Builder
			l := &logPrinter{stderr: terminal.NewStderr(&out), raw: raw, names: true}
			l.line(logs.Container{Pod: "p", Name: "main"}, []byte(line))
			wanted := "[pod/p/main] " + want + "\n"
			if raw {
				wanted = line + "\n"
			}
			if out.String() != wanted {
				t.Errorf("raw %t: %q, want %q", raw, out.String(), wanted)
			}
			if got := l.tail(logs.Container{Pod: "q"}, []string{line})[1]; !raw && got != "    "+want || raw && got != "    "+line {
				t.Errorf("raw %t: %q", raw, got)
			}
		}
	}
}

// The reason for a Pod's failure is never a sidecar that was killed at the end of the Pod.
func TestFailureNamesNoSidecar(t *testing.T) {
	always, ended := corev1.ContainerRestartPolicyAlways, func(name string, code int32) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: &always}}}}
	pod.Name, pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = "p", ended("proxy", 137), ended("main", 1)
	var out strings.Builder
	l := &logPrinter{stderr: terminal.NewStderr(&out)}
	l.event(logs.Failure{Pod: pod, Tail: map[string][]string{"proxy": {"a"}}})
	if want := "pod/p has failed.\n  main ended with exit code 1.\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// If flags choose the cluster, no commands of other tools are printed, because these tools would use another cluster.
func TestOtherToolsAskTheSameCluster(t *testing.T) {
	run := aJob("r")
	mapping := *run.Mapping
	mapping.GroupVersionKind = schema.GroupVersionKind{Group: "tekton.dev", Version: "v1", Kind: "TaskRun"}
	run.Mapping = &mapping
	for reaching, want := range map[string]string{
		"": "Other tools print the logs of these objects:\n  tkn taskrun logs -f r -n ci\n", "--context prod": "",
	} {
		var out strings.Builder
		l := &logPrinter{stderr: terminal.NewStderr(&out)}
		l.stderr.Reaching = reaching
		if l.begin(follow.LogsBegin{Others: []wait.Object{run}}); out.String() != want {
			t.Errorf("%s: %q, want %q", reaching, out.String(), want)
		}
	}
}
