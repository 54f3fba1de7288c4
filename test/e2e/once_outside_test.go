package e2e

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// outside runs the go command in a separate module that uses the library. It has the same build settings as all other
// programs.
func outside(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = harness.Root + "test/outside"
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// buildOutside builds a program of that module as for a release.
func buildOutside(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	outside(t, "build", "-ldflags=-s -w", "-o", path, "./"+name)
	return path
}

// A program that requires only the library creates no second Job if every third
// response is lost, and finds all Jobs when it runs again.
func TestOnceOutside(t *testing.T) {
	t.Parallel()
	program := buildOutside(t, "withonce")
	outside(t, "test", "-count=1", "./...") // with oncetest, as a user of the library would
	namespace := harness.Namespace(t, retrying)
	client := harness.Clientset(t, retrying)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", Labels: map[string]string{"example.com/workers": "9"}}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), owner, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var posts atomic.Int32
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1)%3 == 0 {
			return faultproxy.DropResponse
		}
		return nil
	})
	kubeconfig := harness.As(t, proxy.Config).Kubeconfig
	for _, outcome := range []string{"Created", "Found"} {
		command := exec.Command(program, "-kubeconfig="+kubeconfig, "-namespace="+namespace)
		var stderr bytes.Buffer
		command.Stderr = &stderr
		stdout, err := command.Output()
		if err != nil || strings.Count(string(stdout), "\n") != 9 {
			t.Errorf("%v\n%s\n%s", err, stdout, stderr.String())
		}
		if n := strings.Count(string(stdout), outcome+" owner-"); n < 6 { // after a lost response, the outcome is Found
			t.Errorf("%d were %s:\n%s", n, outcome, stdout)
		}
	}
	if n := posts.Load(); n < 18 {
		t.Errorf("%d POSTs: no response was lost", n)
	}
	jobs, err := client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 9 {
		t.Errorf("%d Jobs, %v", len(jobs.Items), err)
	}
}

// A program that imports the library or oncetest does not get packages for command lines.
func TestOnceIsSmall(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"./withonce", "github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"} {
		for name := range strings.FieldsSeq(outside(t, "list", "-deps", program)) {
			if ofACommandLine.MatchString(name) {
				t.Errorf("%s imports %s", program, name)
			}
		}
	}
	if modules := harness.Read(t, harness.Root+"test/outside/go.mod"); ofACommandLine.MatchString(modules) {
		t.Errorf("the importer's go.mod has modules of a command line:\n%s", modules)
	}
}

// ofACommandLine matches packages that a program with the library must not import.
var ofACommandLine = regexp.MustCompile(`k8s\.io/cli-runtime|k8s\.io/kubectl|spf13/cobra|sigs\.k8s\.io/kustomize`)
