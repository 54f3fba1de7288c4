// Package lint runs kubectl genname lint on its own repository of manifests, in each format, and on published
// manifests. The package compares the claims of the rules about Kubernetes with a real kube-apiserver and real
// controllers.
package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// run runs kubectl genname lint.
func run(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = cmd.Execute(context.Background(), append([]string{"lint"}, args...),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	return out.String(), errOut.String(), code
}

// repository copies testdata/repository into the test's directory, as a git repository, and changes into it.
// repository returns the path of the expected outputs.
func repository(t *testing.T) (golden string) {
	t.Helper()
	golden, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/repository")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return golden
}

// expect compares text with a file of testdata/golden.
func expect(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(harness.Read(t, path), got); diff != "" {
		t.Errorf("not as %s has it (-want +got); -update writes it:\n%s", path, diff)
	}
}

// The test prints a directory with each kind of finding as text. In the long formats, one finding of each level is
// enough.
func TestFormats(t *testing.T) {
	const some = "--disable=both-names,child-names,invalid-name,not-appliable,one-per-cluster,truncated-prefix"
	for _, format := range []string{"text", "json", "sarif", "junit", "github"} {
		t.Run(format, func(t *testing.T) {
			golden := repository(t)
			var output []string
			if format != "text" {
				output = []string{"-o", format}
			}
			stdout, stderr, code := run(t, append(output, "-R", "-f", ".")...)
			expect(t, filepath.Join(golden, "stderr"), stderr)
			if code != 3 {
				t.Errorf("exit code %d, want 3", code)
			}
			if format != "text" {
				stdout, _, _ = run(t, append(output, "-f", "deploy", some)...)
				stdout = otherRules.ReplaceAllString(stdout, "$1") // SARIF has rules
			}
			expect(t, filepath.Join(golden, format), stdout)
		})
	}
}

// otherRules are all rules of SARIF but the last. Their texts are those of docs/rules.
var otherRules = regexp.MustCompile(`(?s)("rules": \[\n).*\n {12}\},\n`)

// JSON output conforms to the published schema.
func TestSchema(t *testing.T) {
	stdout, _, _ := run(t, "-R", "-f", "testdata/repository", "-o", "json")
	if !strings.Contains(stdout, "LintReport") {
		t.Fatalf("%q, want a LintReport", stdout)
	}
	schema.Check(t, stdout)
}

// SARIF with all rules and all kinds of findings conforms to its schema.
func TestSARIF(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	// The schema uses JSON Schema draft 4, which has another word for definitions.
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"definitions"`), []byte(`"$defs"`)), []byte("#/definitions/"), []byte("#/$defs/"))
	text = bytes.Replace(text, []byte(`"$schema":"http://json-schema.org/draft-04/schema#",`), nil, 1)
	text = regexp.MustCompile(`"id":"https:[^"]*",`).ReplaceAll(text, nil)
	repository(t)
	stdout, _, _ := run(t, "-R", "-f", ".", "-o", "sarif")
	var log map[string]any
	if err := json.Unmarshal([]byte(stdout), &log); err != nil {
		t.Fatal(err)
	}
	if err := schema.Conforms(text, log); err != nil {
		t.Error(err)
	}
	log["version"] = "2.0.0"
	if schema.Conforms(text, log) == nil {
		t.Error("the schema allows anything")
	}
}

// A fingerprint does not depend on earlier lines of the file. Paths are relative to the repository, even if the
// command runs in a subdirectory.
func TestFingerprints(t *testing.T) {
	fingerprints := func(args ...string) []string {
		stdout, _, _ := run(t, append(args, "-o", "sarif")...)
		return regexp.MustCompile(`"primaryLocationLineHash": "[^"]*"|"uri": "[^"]*"`).FindAllString(stdout, -1)
	}
	repository(t)
	before := fingerprints("-f", "deploy/jobs.yaml")
	if err := os.WriteFile("deploy/jobs.yaml", []byte("# more\n\n"+harness.Read(t, "deploy/jobs.yaml")), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir("deploy")
	if diff := cmp.Diff(before, fingerprints("-f", "jobs.yaml")); diff != "" || len(before) < 10 {
		t.Error(len(before), diff)
	}
}

const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: run-\n"

func TestURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/nonsuch" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(plain))
	}))
	defer server.Close()
	if _, stderr, code := run(t, "-f", server.URL+"/job.yaml"); code != 0 {
		t.Errorf("code %d: %s", code, stderr)
	}
	if _, stderr, code := run(t, "-f", server.URL+"/nonsuch"); code != 1 || !strings.Contains(stderr, "404") {
		t.Errorf("code %d: %s", code, stderr)
	}
	address := strings.Replace(server.URL, "//", "//user:secret@", 1)
	for _, format := range []string{"json", "sarif", "junit", "github"} {
		stdout, stderr, _ := run(t, "-f", address+"/job.yaml?token=secret", "-f", address+"/nonsuch?token=secret",
			"-f", "http://127.0.0.1:1/?token=secret", "-f", "https://user:secret%@example.com", "-o", format)
		if strings.Contains(stdout+stderr, "secret") || !strings.Contains(strings.ReplaceAll(stdout, "%3A", ":"), "http://user:xxxxx@") {
			t.Errorf("%s has the password or the query of a URL, or no URL: %s%s", format, stdout, stderr)
		}
	}
}
