package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Server{ControlPlane: &plane, Shared: "retrying"}))
}

// build builds a program of this repository.
func build(t *testing.T, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if output, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, output)
	}
	return path
}

// play runs all cases, and returns the table.
func play(t *testing.T, program ...string) (table string, ok bool) {
	t.Helper()
	var out bytes.Buffer
	ok, err := conformance(&out, program, cases(), inMemory)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), ok
}

func TestLibrary(t *testing.T) {
	if table, ok := play(t, build(t, "./programs/once")); !ok {
		t.Errorf("pkg/once:\n%s", table)
	}
}

func TestCreate(t *testing.T) {
	t.Setenv("KUBECTL_GENNAME", build(t, "../../cmd/kubectl-genname"))
	if table, ok := play(t, "programs/kubectl-genname"); !ok {
		t.Errorf("kubectl genname create:\n%s", table)
	}
}

// The client in Python needs Debian's python3-kubernetes.
func TestPython(t *testing.T) {
	if table, ok := play(t, "../../clients/python/conformance"); !ok {
		t.Errorf("clients/python (it needs the package python3-kubernetes):\n%s", table)
	}
	unit := exec.Command("/usr/bin/python3", "-m", "unittest", "discover", "-s", "tests")
	unit.Dir = "../../clients/python"
	unit.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if output, err := unit.CombinedOutput(); err != nil {
		t.Errorf("tests of clients/python: %v\n%s", err, output)
	}
}

// Some cases run on a real server, with the same faults. A workflow runs all cases on a real server each night.
func TestRealServer(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, plane.Admin()); err != nil {
		t.Fatal(err)
	}
	open, err := on(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	few := named("response cut", "object deleted between two runs", "an object without an ID has the name")
	var out bytes.Buffer
	if ok, err := conformance(&out, []string{build(t, "./programs/once")}, few, open); err != nil || !ok || len(few) != 3 {
		t.Errorf("pkg/once: %v\n%s", err, out.String())
	}
	without := []string{build(t, "./programs/client-go")}
	if ok, err := conformance(&out, without, few[:1], open); err != nil || ok {
		t.Errorf("a client without keys passes: %v\n%s", err, out.String())
	}
}

// named returns the cases of these names.
func named(names ...string) []testCase {
	return slices.DeleteFunc(cases(), func(c testCase) bool { return !slices.Contains(names, c.name) })
}

// Programs that claim too much or too little fail. A program without keys passes only the cases in which it sends one
// POST.
func TestWrongPrograms(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
	}{
		{"claims without a request", `echo '{"outcome":"created","name":"once-x"}'`, "no object"},
		{"never knows", `echo '{"outcome":"unknown","name":""}'`, "claimed unknown, and the case ends with created"},
		{"prints no claim", "echo done", "the last line of stdout is no claim"},
		{"another word", `echo '{"outcome":"ok","name":""}'`, `the claim has the outcome "ok"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			ok, err := conformance(&out, []string{"sh", "-c", test.script}, cases()[:1], inMemory)
			if err != nil {
				t.Fatal(err)
			}
			if ok || !strings.Contains(out.String(), test.want) {
				t.Errorf("the run passed, or has no %q:\n%s", test.want, out.String())
			}
		})
	}
}

// Each variant of the Python client breaks one rule of the specification. A case finds it.
func TestWrongVariants(t *testing.T) {
	for _, test := range []struct{ name, file, from, to, in string }{
		{
			"another client's object in doubt is a failure", "client.py", `self.error(f"{self.name} is another`, `Failed(self.name, f"{self.name} is another`,
			"request lost, then another client takes the name",
		},
		{
			"a renamed object in doubt is a failure", "client.py", `self.error(f"a webhook`, `Failed(self.name, f"a webhook`,
			"request lost, then a webhook changes the name",
		},
		{
			"a refusal in doubt is a failure", "client.py", "refused = finding in RECHECKS and not self.in_doubt", "refused = finding in RECHECKS",
			"first copy late, no permission for the next",
		},
		{
			"a refused POST is not read back", "client.py", "        rechecks: List[int]", "        if finding == \"rejected\":\n" +
				"            raise Failed(self.name, message_of(posted))\n        rechecks: List[int]",
			"first copy stored, no permission for the second",
		},
		{
			"any 404 is absent", "findings.py", `response.status == 404 and reason == "NotFound" and`, "response.status == 404 and",
			"first copy stored, quota refuses the second, proxy's 404s",
		},
		{"a refusal of another object counts", "findings.py", "            and _about_another(sent, response):", "            and False:", "refusal of another object"},
		{"Retry-After is ignored", "client.py", "max(response.retry_after, min(", "max(0, min(", "throttled"},
		{"a 307 is followed", "transport.py", "retries=False, redirect=False", "retries=3", "307 with Location"},
		{
			"a kept connection that is lost is not sent", "transport.py", "sent=encoded is None or encoded.tell() > 0)",
			"sent=not isinstance(error, urllib3.exceptions.ProtocolError))", "each request lost until the time is over",
		},
		{
			"the group has the version", "client.py", `("key", self.key), group, kind`, `("key", self.key), group and self.manifest["apiVersion"], kind`,
			"a type of a group",
		},
		{
			"the namespace is always default", "client.py", `(metadata.pop("namespace", None) or self.namespace)`, `(metadata.pop("namespace", None) or "default")`,
			"the namespace of the context",
		},
		{"an object that can't be read is a failure", "client.py", `failed = refused and finding == "rejected"`, "failed = refused", "quota, no permission to get"},
		{
			"the end of the time is a failure", "client.py", "        raise Unknown(self.name, text)\n\n    def pause", "        raise Failed(self.name, text)\n\n    def pause",
			"throttled, no permission to get",
		},
		{"the digest has the apiVersion", "derive.py", `("apiVersion", "kind")}`, `("kind",)}`, "no fault"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../clients/python")); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "genname_once", test.file)
			source, err := os.ReadFile(path)
			if err != nil || strings.Count(string(source), test.from) != 1 {
				t.Fatalf("%s has %q not once: %v", path, test.from, err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(source), test.from, test.to, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			only := named(test.in)
			var out bytes.Buffer
			ok, err := conformance(&out, []string{"sh", filepath.Join(dir, "conformance")}, only, inMemory)
			if err != nil || ok || len(only) != 1 {
				t.Errorf("the variant passes: %v\n%s", err, out.String())
			}
		})
	}
}

// docs/spec has the number of cases.
func TestNumberOfCases(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(" %d cases", len(cases())); !strings.Contains(string(page), want) {
		t.Errorf("docs/spec/README.md lacks %q", want)
	}
}
