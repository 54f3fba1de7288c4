// Package lint runs kubectl genname lint on its own repository of manifests, in each format, and on published
// manifests. The package compares the claims of the rules about Kubernetes with a real kube-apiserver and real
// controllers.
package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
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
	for _, format := range []string{"text", "json", "sarif", "junit", "github"} {
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
				t.Errorf("exit code %d, want 3", code)
			}
		})
	}
}

// JSON output conforms to the published schema.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("testdata/golden/json")
	if err != nil || !bytes.Contains(text, []byte("LintReport")) {
		t.Fatalf("error %v, %q, want a LintReport", err, text)
	}
	schema.Check(t, string(text))
}

// SARIF conforms to its schema, and to GitHub's additional rules.
func TestSARIF(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	// The schema uses draft 4, in which definitions have another name.
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"definitions"`), []byte(`"$defs"`)), []byte("#/definitions/"), []byte("#/$defs/"))
	text = bytes.Replace(text, []byte(`"$schema":"http://json-schema.org/draft-04/schema#",`), nil, 1)
	text = regexp.MustCompile(`"id":"https:[^"]*",`).ReplaceAll(text, nil)
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

// GitHub drops annotations after the tenth of a severity, so the output reports that.
func TestGitHubDrops(t *testing.T) {
	manifest := strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: run}\n", 12) +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: 'Run%,:_'}\n"
	stdout, _, _ := run(t, manifest, "-f", "-", "-o", "github")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if !strings.HasPrefix(lines[0], "::error file=stdin,line=52,col=12,title=genname invalid-name::the server refuses generateName: ") {
		t.Errorf("the error is not the first:\n%s", stdout)
	}
	if last := lines[len(lines)-1]; last != fmt.Sprintf("GitHub shows the first %d findings of each level. Only this log has the other %s.", 10, "2 notes") || len(lines) != 14 {
		t.Errorf("%d lines, the last %q", len(lines), last)
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
	if _, stderr, code := run(t, "", "-f", server.URL+"/job.yaml"); code != 0 {
		t.Errorf("code %d: %s", code, stderr)
	}
	if _, stderr, code := run(t, "", "-f", server.URL+"/nonsuch"); code != 1 || !strings.Contains(stderr, "404") {
		t.Errorf("code %d: %s", code, stderr)
	}
	address := strings.Replace(server.URL, "//", "//user:secret@", 1)
	for _, format := range []string{"json", "sarif", "junit", "github"} {
		stdout, stderr, _ := run(t, "", "-f", address+"/job.yaml?token=secret", "-f", address+"/nonsuch?token=secret",
			"-f", "http://127.0.0.1:1/?token=secret", "-f", "https://user:secret%@example.com", "-o", format)
		if strings.Contains(stdout+stderr, "secret") || !strings.Contains(strings.ReplaceAll(stdout, "%3A", ":"), "http://user:xxxxx@") {
			t.Errorf("%s has the password or the query of a URL, or no URL: %s%s", format, stdout, stderr)
		}
	}
}

// onTerminal lints on a terminal with 80 columns, and returns the text on the screen.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ptmx.Close() }()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(ptmx) // ends with an error when the other end is closed
		shown <- string(all)
	}()
	cmd.Execute(t.Context(), append([]string{"lint"}, args...),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: tty, ErrOut: io.Discard})
	_ = tty.Close()
	return strings.ReplaceAll(<-shown, "\r\n", "\n")
}

// colored sets the environment of a terminal with colors.
func colored(t *testing.T) {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "") // restores the variable after the test
	if err := os.Unsetenv("NO_COLOR"); err != nil {
		t.Fatal(err)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A terminal shows equal help only once, and different help each time. A pipe and a narrow terminal get whole lines.
func TestHelpOnTerminal(t *testing.T) {
	colored(t)
	tree(t, map[string]string{
		"a.yaml": configMap("generateName: a") + "---\n" + configMap("generateName: b") + "---\n" + configMap("generateName: c"),
		"b.yaml": job("generateName: " + long[:56] + "-"),
	})
	piped, _, _ := run(t, "", "-R", "-f", ".")
	shown := escape.ReplaceAllString(onTerminal(t, "-R", "-f", "."), "")
	shown = strings.ReplaceAll(shown, "\n    ", " ") // the breaks of long lines
	var want []string
	seen := map[string]bool{}
	for line := range strings.Lines(piped) {
		if help := strings.HasPrefix(line, "  help: "); !help || !seen[line] {
			want = append(want, line)
		}
		seen[line] = true
	}
	if repeated := strings.Count(piped, "  help: ") - strings.Count(shown, "  help: "); repeated != 2 {
		t.Errorf("the terminal leaves out %d lines of help", repeated)
	}
	if shown != strings.Join(want, "") {
		t.Errorf("shown\n%s\nof\n%s", shown, piped)
	}
}

// Levels have colors if kubectl's output would have them.
func TestColors(t *testing.T) {
	tree(t, map[string]string{
		"a.yaml": configMap("generateName: a") + "---\n" + configMap(`generateName: "B_"`) + "---\n" +
			configMap("name: c, generateName: c-"),
	})
	const levels = "\x1b[36mnote\x1b[0m \x1b[31merror\x1b[0m \x1b[33mwarning\x1b[0m"
	for name, test := range map[string]struct{ variable, value, want string }{
		"terminal":       {"TERM", "xterm", levels},
		"dumb terminal":  {"TERM", "dumb", ""},
		"NO_COLOR":       {"NO_COLOR", "1", ""},
		"empty NO_COLOR": {"NO_COLOR", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			colored(t)
			t.Setenv(test.variable, test.value)
			shown := onTerminal(t, "-f", "a.yaml")
			got := strings.Join(regexp.MustCompile("\x1b\\[3.m[a-z]+\x1b\\[0m").FindAllString(shown, -1), " ")
			if got != test.want || strings.Count(shown, "\x1b") != strings.Count(test.want, "\x1b") || !strings.Contains(shown, "[invalid-name]") {
				t.Errorf("the colors are %q, want %q, in %q", got, test.want, shown)
			}
		})
	}
	t.Run("pipe", func(t *testing.T) {
		colored(t)
		if piped, _, _ := run(t, "", "-f", "a.yaml"); strings.Contains(piped, "\x1b") || !strings.Contains(piped, "[invalid-name]") {
			t.Errorf("a pipe gets colors or no finding: %q", piped)
		}
	})
}
