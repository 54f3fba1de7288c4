package e2e

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// outside runs the go command in the module of somebody else that uses the
// library, with what all other programs are compiled with.
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

// A program that only requires the library does what the library promises: of
// each answer in three that is lost it makes no second Job, and run again it
// finds all of them.
func TestOnceOutside(t *testing.T) {
	t.Parallel()
	program := buildOutside(t, "withonce")
	outside(t, "test", "-count=1", "./...") // with oncetest, as its own author would
	namespace := harness.Namespace(t, retrying)
	owner := ownerOf(t, namespace)
	client := harness.Clientset(t, retrying)
	owner.Labels = map[string]string{"example.com/workers": "9"}
	if _, err := client.CoreV1().ConfigMaps(namespace).Update(t.Context(), owner, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	var posts atomic.Int32
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1)%3 == 0 {
			return faultproxy.DropAnswer
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
		if n := strings.Count(string(stdout), outcome+" owner-"); n < 6 { // after a lost answer, who made it is not known
			t.Errorf("%d were %s:\n%s", n, outcome, stdout)
		}
		if strings.Count(stderr.String(), "create.action=ReadBack") < 3 {
			t.Errorf("no answer was lost:\n%s", stderr.String())
		}
	}
	jobs, err := client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 9 {
		t.Errorf("%d Jobs, %v", len(jobs.Items), err)
	}
}

// What docs/library.md says that an importer pays: next to a program that has
// client-go already, so many KiB, three small packages of client-go, and nothing
// of a command line. The module says the same to everybody who requires it.
func TestOnceCosts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(harness.Root + "docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`less than (\d+) KiB`).FindSubmatch(page)
	if said == nil {
		t.Fatal("docs/library.md does not say what a program grows by")
	}
	most, err := strconv.ParseInt(string(said[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	sizeOf := func(name string) int64 {
		file, err := os.Stat(buildOutside(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return file.Size()
	}
	without, with := sizeOf("generatename"), sizeOf("withonce")
	t.Logf("%d KiB without the library, %d KiB more with it", without>>10, (with-without)>>10)
	if grown := (with - without) >> 10; grown >= most || grown < most/2 {
		t.Errorf("a program grows by %d KiB, and docs/library.md says less than %d", grown, most)
	}

	packages := func(program string) []string { return strings.Fields(outside(t, "list", "-deps", program)) }
	before := packages("./generatename")
	for _, p := range packages("./withonce") {
		ours := strings.HasPrefix(p, "github.com/kubectl-genname/") || strings.HasPrefix(p, "example.com/outside/")
		if slices.Contains(before, p) || ours {
			continue
		}
		if !strings.Contains(string(page), "`"+p+"`") {
			t.Errorf("docs/library.md does not say that %s comes along", p)
		}
	}
	for _, p := range packages("github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest") {
		if ofACommandLine.MatchString(p) {
			t.Errorf("oncetest brings %s along", p)
		}
	}
	for _, p := range packages("./withonce") {
		if ofACommandLine.MatchString(p) {
			t.Errorf("the library brings %s along", p)
		}
	}
	requirements, err := os.ReadFile(harness.Root + "test/outside/go.mod")
	if err != nil || ofACommandLine.Match(requirements) {
		t.Errorf("somebody's go.mod has what is of a command line: %v\n%s", err, requirements)
	}
}

// ofACommandLine is what no importer of the library shall get.
var ofACommandLine = regexp.MustCompile(`k8s\.io/cli-runtime|k8s\.io/kubectl|spf13/cobra|sigs\.k8s\.io/kustomize`)
