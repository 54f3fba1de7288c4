// Package lint runs kubectl genname lint on its own repository of manifests, in each format, and on published
// manifests. It compares the claims of the rules about Kubernetes with a real kube-apiserver and real controllers.
package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// run runs kubectl genname lint.
func run(t testing.TB, in string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = cmd.Execute(context.Background(), append([]string{"lint"}, args...),
		genericiooptions.IOStreams{In: strings.NewReader(in), Out: &out, ErrOut: &errOut})
	return out.String(), errOut.String(), code
}

// repository copies testdata/repository into the test's directory, as a git repository, and changes into it. It
// returns the path of the expected outputs.
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
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as %s has it (-want +got); -update writes it:\n%s", path, diff)
	}
}

// The test runs each format on a directory with each kind of finding.
func TestFormats(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml", "sarif", "junit", "github"} {
		t.Run(format, func(t *testing.T) {
			golden := repository(t)
			args := []string{"-R", "-f", "."}
			if format != "text" {
				args = append(args, "-o", format)
			}
			stdout, stderr, code := run(t, "", args...)
			expect(t, filepath.Join(golden, format), stdout)
			expect(t, filepath.Join(golden, "stderr"), stderr)
			if code != 3 {
				t.Errorf("code %d", code)
			}
		})
	}
}

// JSON and YAML output conforms to the published schema.
func TestSchema(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata/golden", format))
		if err != nil || !bytes.Contains(text, []byte("LintReport")) {
			t.Fatal(err)
		}
		schema.Check(t, string(text))
	}
}

// SARIF conforms to its schema, and to GitHub's additional rules.
func TestSARIF(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	// The schema uses draft 4, in which definitions have another name.
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"definitions"`), []byte(`"$defs"`)), []byte("#/definitions/"), []byte("#/$defs/"))
	text = bytes.Replace(text, []byte(`"$schema": "http://json-schema.org/draft-04/schema#",`), nil, 1)
	text = regexp.MustCompile(`(?m)^  "id": .*$`).ReplaceAll(text, nil)
	var described jsonschema.Schema
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	resolved, err := described.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	repository(t)
	stdout, _, _ := run(t, "", "-R", "-f", "deploy", "-o", "sarif")
	var log map[string]any
	if err := json.Unmarshal([]byte(stdout), &log); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(log); err != nil {
		t.Error(err)
	}
	log["version"] = "2.0.0"
	if resolved.Validate(log) == nil {
		t.Error("the schema allows anything")
	}
	results := log["runs"].([]any)[0].(map[string]any)["results"].([]any)
	prints, suppressed := map[string]bool{}, 0
	for _, r := range results {
		result := r.(map[string]any)
		prints[result["partialFingerprints"].(map[string]any)["primaryLocationLineHash"].(string)] = true
		if s, is := result["suppressions"].([]any); is && s[0].(map[string]any)["justification"] != "" {
			suppressed++
		}
		location := result["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)["artifactLocation"].(map[string]any)
		if uri := location["uri"].(string); !strings.HasPrefix(uri, "deploy/") {
			t.Errorf("%s is not relative to the repository", uri)
		}
	}
	if len(prints) != len(results) || suppressed != 3 {
		t.Errorf("%d results with %d fingerprints, %d suppressed", len(results), len(prints), suppressed)
	}
}

// A fingerprint does not depend on earlier lines of the file. Paths are relative to the repository, even if the
// command runs in a subdirectory.
func TestFingerprints(t *testing.T) {
	fingerprints := func(args ...string) []string {
		stdout, _, _ := run(t, "", append(args, "-o", "sarif")...)
		return regexp.MustCompile(`"primaryLocationLineHash": "[^"]*"|"uri": "[^"]*"`).FindAllString(stdout, -1)
	}
	repository(t)
	before := fingerprints("-f", "deploy/jobs.yaml")
	text, err := os.ReadFile("deploy/jobs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("deploy/jobs.yaml", append([]byte("# more\n\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir("deploy")
	if diff := cmp.Diff(before, fingerprints("-f", "jobs.yaml")); diff != "" || len(before) < 10 {
		t.Error(len(before), diff)
	}
}

// The counts of JUnit agree with its cases.
func TestJUnit(t *testing.T) {
	repository(t)
	stdout, _, code := run(t, "", "-R", "-f", ".", "-o", "junit", "--fail-on=warning")
	var all struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatal(err)
	}
	var failures, errors, skipped int
	for _, c := range all.Cases {
		switch {
		case c.Failure != nil:
			failures++
		case c.Error != nil:
			errors++
		case c.Skipped != nil:
			skipped++
		}
	}
	got, want := [4]int{len(all.Cases), failures, errors, skipped}, [4]int{all.Tests, all.Failures, all.Errors, all.Skipped}
	if got != want || failures == 0 || errors != 1 || skipped != 3 || code != 3 {
		t.Errorf("code %d, %v and %v", code, got, want)
	}
}

// GitHub drops annotations after the tenth of a severity, so the output reports that.
func TestGitHubDrops(t *testing.T) {
	manifest := strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: run}\n", 12) +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: 'Run%,:_'}\n"
	stdout, _, _ := run(t, manifest, "-f", "-", "-o", "github")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if !strings.HasPrefix(lines[0], "::error file=stdin,line=52,col=12,title=genname invalid-prefix::the server refuses generateName: ") {
		t.Errorf("the error is not the first:\n%s", stdout)
	}
	if last := lines[len(lines)-1]; last != fmt.Sprintf("GitHub shows the first %d findings of each level. Only this log has the other %s.", 10, "2 notes") || len(lines) != 14 {
		t.Errorf("%d lines, the last %q", len(lines), last)
	}
}

const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: run-\n"

// like returns a regular expression for a text of the command.
func like(format string) string {
	return regexp.MustCompile(`%\w`).ReplaceAllString(regexp.QuoteMeta(format), ".*")
}

// summary returns a regular expression for the counts.
func summary(count ...any) string {
	return "^" + regexp.QuoteMeta(fmt.Sprintf("%s, %s and %s in %s of %s.", count...)) + "\n"
}

// Exit codes, and the messages about files that can't be read.
func TestExitCodes(t *testing.T) {
	repository(t)
	for _, test := range []struct {
		name, in string
		args     []string
		code     int
		stderr   string
	}{
		{"nothing to say", plain, []string{"-f", "-"}, 0, summary("0 errors", "0 warnings", "0 notes", "1 object", "1 file") + "$"},
		{"errors", "", []string{"-f", "deploy/services.json"}, 3, summary("1 error", "1 warning", "0 notes", "1 object", "1 file") + like("error: %s at level %s or above (--fail-on)") + "\n$"},
		{"a rule less", "", []string{"-f", "deploy/services.json", "--disable=invalid-prefix"}, 0, summary("0 errors", "1 warning", "0 notes", "1 object", "1 file") + "$"},
		{"of another level", "", []string{"-f", "deploy/services.json", "--disable=invalid-prefix", "--fail-on=warning"}, 3, ``},
		{"never", "", []string{"-f", "deploy/services.json", "--fail-on=never"}, 0, ``},
		{"a broken file", "", []string{"-f", "deploy/broken.yaml"}, 1, `error: deploy/broken.yaml:4: can't be read: did not find`},
		{"a broken file, and findings", "", []string{"-f", "deploy/broken.yaml,deploy/services.json"}, 3, `error: deploy/broken.yaml:4: can't be read`},
		{"a template", "", []string{"-f", "chart/templates/job.yaml"}, 1, like("%s:%d: can't be read: %w")},
		{"no object", "a: b\n", []string{"-f", "-"}, 1, `error: -:1: can't be read: no Kubernetes object`},
		{"no file", "", []string{"-f", "nonsuch.yaml"}, 1, "error: " + like("the path %q does not exist")},
		{"a directory without manifests", "", []string{"-f", "."}, 0, regexp.QuoteMeta(fmt.Sprintf("%s skipped. To list them, use --show-skipped.", "1 file"))},
		{"a pattern", "", []string{"-f", "deploy/serv*.json"}, 3, ``},
		{"kustomize", "", []string{"-k", "overlay"}, 3, summary("1 error", "0 warnings", "0 notes", "1 object", "1 file")},
		{"no kustomization", "", []string{"-k", "deploy"}, 1, `error: unable to find one of`},
		{"no flags", "", nil, 1, "error: " + like("must specify one of -f and -k")},
		{"both", "", []string{"-f", "x", "-k", "x"}, 1, "error: " + like("only one of -f or -k can be specified")},
		{"-k and -R", "", []string{"-R", "-k", "x"}, 1, "error: " + like("the -k flag can't be used with -f or -R")},
		{"an unknown rule", "", []string{"-f", "-", "--disable=nonsuch"}, 1, `error: --disable: there is no rule "nonsuch"`},
		{"an unknown level", "", []string{"-f", "-", "--fail-on=bad"}, 1, `must be error, warning, note or never`},
		{"an unknown rule to explain", "", []string{"--explain=bad"}, 1, `must be both-names,`},
		{"an unknown format", "", []string{"-f", "-", "-o", "nonsuch"}, 1, `sarif`},
		{"no version", "", []string{"-f", "-", "--kubernetes-version=latest"}, 1, like("%s must be a version like 1.%d, at least 1.%d, and not %q")},
		{"an old version", "", []string{"-f", "-", "--kubernetes-version=1.27"}, 1, like("%s must be a version like 1.%d, at least 1.%d, and not %q")},
		{"an argument", "", []string{"job.yaml"}, 1, like("Unexpected args: %v")},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, stderr, code := run(t, test.in, test.args...)
			if code != test.code || !regexp.MustCompile(test.stderr).MatchString(stderr) {
				t.Errorf("code %d, stderr\n%s", code, stderr)
			}
		})
	}
}

// From Kubernetes 1.36, the name of a Service can begin with a digit.
func TestKubernetesVersion(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: Service\nmetadata: {generateName: 1st-}\n"
	for version, want := range map[string]int{"1.35": 3, "v1.35.4": 3, "1.36": 0, "1.37": 0} {
		if _, _, code := run(t, manifest, "-f", "-", "--kubernetes-version="+version); code != want {
			t.Errorf("%s: code %d, want %d", version, code, want)
		}
	}
}

func TestURL(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case r.URL.Path == "/nonsuch":
			http.NotFound(w, r)
		case asked == 1:
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		default:
			_, _ = w.Write([]byte(plain))
		}
	}))
	defer server.Close()
	if _, stderr, code := run(t, "", "-f", server.URL+"/job.yaml"); code != 0 || asked != 2 {
		t.Errorf("code %d after %d requests: %s", code, asked, stderr)
	}
	if _, stderr, code := run(t, "", "-f", server.URL+"/nonsuch"); code != 1 || !strings.Contains(stderr, "404") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// Text from a manifest is escaped before it reaches a terminal.
func TestEscapes(t *testing.T) {
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: \"\\e[31mred\\n\"}\n"
	for _, format := range []string{"", "-o=github", "-o=junit"} {
		stdout, stderr, _ := run(t, manifest, strings.Fields("-f - "+format)...)
		if strings.Contains(stdout+stderr, "\x1b") || !strings.Contains(stdout, "red") {
			t.Errorf("%s: %q %q", format, stdout, stderr)
		}
	}
}

func TestExplain(t *testing.T) {
	stdout, _, code := run(t, "", "--explain=truncated-prefix")
	page, err := os.ReadFile("../../docs/rules/truncated-prefix.md")
	if err != nil || stdout != string(page) || code != 0 {
		t.Error(code, err, stdout)
	}
}
