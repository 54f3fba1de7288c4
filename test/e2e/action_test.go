package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// runner runs action.yml as a runner of GitHub Actions does.
type runner struct {
	t        *testing.T
	inputs   map[string]string
	env      []string // in addition to the environment of the process. The later of two values counts
	bin      string   // more programs
	dir      string   // the directory of the workflow
	releases string   // the server with the releases

	outputs  map[string]string
	printed  string
	commands []string // the workflow commands that the runner executed, except annotations
	code     int      // of the step that ended the run
}

// run runs the steps until one fails.
func (r *runner) run() {
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	page := harness.Read(r.t, harness.Root+"action.yml")
	if err := yaml.Unmarshal([]byte(page), &action); err != nil || len(action.Runs.Steps) != 2 {
		r.t.Fatalf("%d steps, want 2: %v", len(action.Runs.Steps), err)
	}
	root := absolute(r.t, harness.Root)
	r.outputs = map[string]string{}
	path := r.bin + ":" + os.Getenv("PATH")
	for _, step := range action.Runs.Steps {
		if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			r.t.Errorf("a shell executes an input, or it isn't bash: %+v", step)
		}
		files := map[string]string{"GITHUB_PATH": filepath.Join(r.t.TempDir(), "path"), "GITHUB_OUTPUT": filepath.Join(r.t.TempDir(), "output")}
		env := []string{"GITHUB_ACTION_PATH=" + root, "RUNNER_TEMP=" + r.t.TempDir(), "PATH=" + path}
		for name, file := range files {
			env = append(env, name+"="+file)
		}
		for name, value := range step.Env {
			env = append(env, name+"="+expression.ReplaceAllStringFunc(value, func(e string) string {
				input := expression.FindStringSubmatch(e)[1]
				if value, given := r.inputs[input]; given || input == "" {
					return value
				}
				return action.Inputs[input].Default
			}))
		}
		r.step(step.Run, append(env, "RELEASES="+r.releases))
		r.take(files["GITHUB_OUTPUT"])
		if added, err := os.ReadFile(files["GITHUB_PATH"]); err == nil {
			path = strings.TrimSpace(string(added)) + ":" + path
		}
		if r.code != 0 {
			return
		}
	}
}

// expression is an expression of a workflow: an input, or the token.
var expression = regexp.MustCompile(`\$\{\{ (?:inputs\.([a-z0-9-]+)|github\.token) \}\}`)

// step runs a step, and executes the workflow commands in its output. A runner reads stdout and stderr from two pipes,
// in any order. The step must have no command in the two extreme orders.
func (r *runner) step(script string, env []string) {
	command := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	command.Dir, command.Env = r.dir, slices.Concat(os.Environ(), env, r.env)
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	_ = command.Run() // its exit code is kept
	r.printed, r.code = r.printed+errOut.String()+out.String(), command.ProcessState.ExitCode()
	r.execute(out.String() + errOut.String())
	r.execute(errOut.String() + out.String())
}

// execute executes the workflow commands in the output of a step.
func (r *runner) execute(printed string) {
	resume := ""
	for line := range strings.Lines(printed) {
		name, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "::"), "::")
		is = is && strings.HasPrefix(strings.TrimSpace(line), "::")
		switch {
		case resume != "":
			if is && name == resume {
				resume = ""
			}
		case is && name == "stop-commands":
			resume = value
		case is && !isAnnotation(name), !is && strings.Contains(line, "##["):
			r.commands = append(r.commands, line)
		}
	}
}

// isAnnotation reports whether a workflow command only prints.
func isAnnotation(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	return name == "error" || name == "warning" || name == "notice"
}

// take reads the outputs of a step: lines NAME=VALUE, or NAME<<END, the value, and END.
func (r *runner) take(file string) {
	text, _ := os.ReadFile(file) // there are none before the second step
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		if name, end, is := strings.Cut(lines[i], "<<"); is {
			size := slices.Index(lines[i+1:], end)
			r.outputs[name] = strings.Join(lines[i+1:i+1+size], "\n")
			i += size + 1
		} else if name, value, is := strings.Cut(lines[i], "="); is {
			r.outputs[name] = value
		}
	}
}

// archiveOf returns an archive of a release with the program, and its name.
func archiveOf(t *testing.T, program []byte) (name string, archive []byte) {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	for _, failed := range []error{
		files.WriteHeader(&tar.Header{Name: "kubectl-genname", Mode: 0o755, Size: int64(len(program))}),
		func() error { _, err := files.Write(program); return err }(), files.Close(), zipped.Close(),
	} {
		if failed != nil {
			t.Fatal(failed)
		}
	}
	return fmt.Sprintf("kubectl-genname_v0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH), out.Bytes()
}

// serve serves a release with the program. The environment makes curl trust the server.
func serve(t *testing.T, program []byte) (mux *http.ServeMux, r *runner) {
	t.Helper()
	name, archive := archiveOf(t, program)
	mux = http.NewServeMux()
	mux.HandleFunc("/v0.1.0/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	mux.HandleFunc("/v0.1.0/checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%x  another\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256(archive), name)
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	authority := harness.File(t, "ca.crt", string(certificate))
	return mux, &runner{
		t: t, dir: t.TempDir(), env: []string{"CURL_CA_BUNDLE=" + authority}, releases: server.URL,
		inputs: map[string]string{"version": "v0.1.0", "args": "-f a.yaml"},
	}
}

// printsArguments is a program that prints a line per argument.
const printsArguments = "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"

// The action installs an archive only if its checksum and its provenance are right.
func TestActionInstalls(t *testing.T) {
	t.Parallel()
	name, archive := archiveOf(t, []byte(printsArguments))
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) }))
	defer plain.Close()
	const verify = "attestation verify %s --repo kubectl-genname/kubectl-genname --cert-identity " +
		"https://github.com/kubectl-genname/kubectl-genname/.github/workflows/release.yaml@refs/tags/v0.1.0"
	for _, test := range []struct {
		title, version, sha256 string
		gh                     string // the commands that gh runs
		handler                http.HandlerFunc
		code                   int
		printed                string
	}{
		{title: "the checksum of the release", printed: "Warning: the provenance of " + name + " is not verified"},
		{title: "the checksum of the input", sha256: fmt.Sprintf("%x", sha256.Sum256(archive))},
		{title: "another checksum", sha256: strings.Repeat("0", 64), code: 1, printed: "but the expected value is 0000"},
		{title: "another archive", handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("other")) }, code: 1, printed: "Otherwise don't use the archive"},
		{title: "no archive", handler: http.NotFound, code: 1, printed: "error: can't download " + name},
		{title: "a redirect without TLS", handler: http.RedirectHandler(plain.URL, http.StatusFound).ServeHTTP, code: 1, printed: "error: can't download " + name},
		{title: "no release", version: "v9.9.9", code: 1, printed: "Check that the release v9.9.9 exists"},
		{title: "no version", version: "main; touch x", code: 1, printed: "error: the input version must be"},
		{title: "provenance", gh: `[ "$2" = --help ] || echo "$@"`, printed: strings.SplitAfter(verify, "%s")[1]},
		{title: "no provenance", gh: `[ "$2" = --help ]`, code: 1, printed: "error: can't verify that the release workflow"},
		{title: "an old gh", gh: "false", printed: "Warning: the provenance of " + name + " is not verified"},
	} {
		t.Run(test.title, func(t *testing.T) {
			t.Parallel()
			mux, r := serve(t, []byte(printsArguments))
			if test.handler != nil {
				mux.HandleFunc("GET /v0.1.0/"+name, test.handler)
			}
			if test.version != "" {
				r.inputs["version"] = test.version
			}
			r.inputs["sha256"] = test.sha256
			if test.gh != "" {
				r.bin = harness.Program(t, "gh", "#!/bin/sh\n"+test.gh+"\n")
			}
			r.inputs[""] = "token"
			r.run()
			if r.code != test.code || !strings.Contains(r.printed, test.printed) {
				t.Errorf("exit code %d, and printed\n%s", r.code, r.printed)
			}
			if ran := strings.Contains(r.printed, "lint\n-f\na.yaml\n"); ran != (test.code == 0) {
				t.Errorf("the program ran: %t\n%s", ran, r.printed)
			}
		})
	}
}

// stepOfTheGuide returns the inputs of the step in the guide.
func stepOfTheGuide(t *testing.T) map[string]string {
	t.Helper()
	var steps []struct {
		Uses string
		With map[string]string
	}
	_, block, _ := strings.Cut(harness.Read(t, harness.Root+"docs/guides/lint.md"), "```\n- uses: ")
	block, _, _ = strings.Cut("- uses: "+block, "```")
	if err := yaml.UnmarshalStrict([]byte(block), &steps); err != nil || len(steps) != 1 || steps[0].Uses != "kubectl-genname/kubectl-genname@v0.1.0" {
		t.Fatalf("%+v, want one step that uses v0.1.0: %v", steps, err)
	}
	return steps[0].With
}

// The program of a release checks and creates manifests.
func TestAction(t *testing.T) {
	t.Parallel()
	_, r := serve(t, []byte(harness.Read(t, harness.Plugin(t))))
	examples := absolute(t, harness.Root+"examples")
	r.inputs = stepOfTheGuide(t)
	if err := os.CopyFS(filepath.Join(r.dir, "deploy"), os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	r.run()
	if r.code != 3 || r.outputs["exit-code"] != "3" || !strings.Contains(r.printed, "\n::error file=deploy/long-prefixes.yaml,") || len(r.commands) != 0 {
		t.Errorf("lint: exit code %d, outputs %q, commands %q, and printed\n%s", r.code, r.outputs, r.commands, r.printed)
	}
	ns := harness.Namespace(t, retrying)
	r.env = append(r.env, "KUBECONFIG="+harness.As(t, retrying.Admin()).Kubeconfig)
	r.inputs["command"], r.inputs["args"] = "create", "-n "+ns+" -f "+examples+"/job.yaml --count 2"
	r.run()
	const names = "job.batch/nightly-report-xxxxx\njob.batch/nightly-report-xxxxx\n"
	if r.code != 0 || r.outputs["exit-code"] != "0" || harness.Placeholders(r.outputs["names"]) != names {
		t.Errorf("create: exit code %d, outputs %q, and printed\n%s", r.code, r.outputs, r.printed)
	}
	endJobs(t, retrying, ns, batchv1.JobComplete)
	r.inputs["args"], r.inputs["key"], r.inputs["wait"] = "-n "+ns+" -f "+examples+"/migration.yaml", "deploy-4f1d2e8", "true"
	r.inputs["secret"] = strings.Repeat("s", 32)
	r.run()
	first := r.outputs["names"]
	r.run()
	if r.code != 0 || r.outputs["names"] != first || !strings.HasPrefix(first, "job.batch/migrate-") {
		t.Errorf("create with a key: exit code %d, names %q and %q, and printed\n%s", r.code, first, r.outputs["names"], r.printed)
	}
	job, err := harness.Clientset(t, retrying).BatchV1().Jobs(ns).Get(t.Context(), strings.TrimPrefix(first, "job.batch/"), metav1.GetOptions{})
	if err != nil || !strings.HasPrefix(job.Annotations["genname.dev/creation-id"], "v1s-") || strings.Contains(r.printed, r.inputs["secret"]) {
		t.Errorf("the secret has no effect, or was printed: %v %v\n%s", err, job.Annotations, r.printed)
	}
}

// The action outputs names and the exit code. It executes nothing in its inputs, and the runner executes nothing in the
// output of the program. The program doesn't run if an input has an unclear value. GitHub gives workflows of forks
// empty secrets. The action passes them on, and the program refuses them.
func TestActionRuns(t *testing.T) {
	t.Parallel()
	const hostile = "::add-mask::a\n##[add-mask]a\nnames=a\nEND"
	const program = "#!/bin/sh\nprintf '%s\\n' \"key:${GENNAME_IDEMPOTENCY_KEY-none}\" \"secret:${GENNAME_IDEMPOTENCY_SECRET-none}\" \"$@\" > asked\n" +
		"printf '%s\\n' '" + hostile + "'; printf '%s\\n' '" + hostile + "' >&2\n[ $1 = create ] && exit 4\nexit 3\n"
	for _, test := range []struct {
		command, args string
		inputs        map[string]string // the defaults of the action if absent
		code          int
		asked, names  string // the program's arguments, and the action's output
		printed       string
	}{
		{"lint", "-f $(touch x) *", nil, 3, "key:none secret:none lint -f $(touch x) *", "", ""},
		{"lint", "-f a", map[string]string{"key": "k", "wait": "true", "logs": "true"}, 3, "key:none secret:none lint -f a", "", ""},
		{"wrap", "argo $(touch x) *", map[string]string{"key": "k", "wait": "true"}, 3, "key:none secret:none wrap -- argo $(touch x) *", "", ""},
		{"create", "-f a", nil, 4, "key:none secret:none create -f a", hostile, ""},
		{"create", "-f a", map[string]string{"key": "$(touch x)-*", "wait": "true"}, 4, "key:$(touch x)-* secret:none create -f a --wait", hostile, ""},
		{"create", "-f a", map[string]string{"logs": "true"}, 4, "key:none secret:none create -f a --wait --logs", hostile, ""},
		{"create", "-f a", map[string]string{"key": "", "secret": ""}, 4, "key: secret: create -f a", hostile, ""},
		{"create", "-f a", map[string]string{"wait": "True"}, 1, "", "", "error: the inputs wait and logs must be true or false"},
		{"create", "-f a", map[string]string{"logs": "yes"}, 1, "", "", "error: the inputs wait and logs must be true or false"},
		{"version; touch x", "-f a", nil, 1, "", "", "error: the input command must be lint, create or wrap"},
	} {
		_, r := serve(t, []byte(program))
		r.inputs["command"], r.inputs["args"] = test.command, test.args
		maps.Copy(r.inputs, test.inputs)
		r.run()
		asked, _ := os.ReadFile(filepath.Join(r.dir, "asked"))
		words := strings.TrimSuffix(strings.Join(strings.Fields(string(asked)), " "), " -o name")
		if _, err := os.Stat(filepath.Join(r.dir, "x")); err == nil || words != test.asked {
			t.Errorf("%s %s: the program got %q, want %q", test.command, test.args, words, test.asked)
		}
		if r.code != test.code || r.outputs["names"] != test.names || len(r.commands) > 0 || !strings.Contains(r.printed, test.printed) {
			t.Errorf("%s %s: exit code %d, outputs %q, commands %q, and printed\n%s", test.command, test.args, r.code, r.outputs, r.commands, r.printed)
		}
		if code := r.outputs["exit-code"]; test.asked != "" && code != fmt.Sprint(test.code) {
			t.Errorf("%s %s: the action outputs the exit code %s", test.command, test.args, code)
		}
	}
}
