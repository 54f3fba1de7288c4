// Package parity runs command lines of kubectl create with the reference kubectl and with the plugin, on a real API
// server, and compares all results.
package parity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// parityCase is one command line for the reference kubectl and the plugin. Outputs, exit codes and the resulting
// objects must be equal.
type parityCase struct {
	args   string // after "create"; the files are in testdata/files
	code   int    // kubectl's exit code
	prints string // a part of kubectl's output, which proves that the case tests its subject

	stdin   string                                      // a file
	editor  string                                      // KUBE_EDITOR
	user    string                                      // "admin" if empty
	prepare func(t *testing.T, namespace string)        // runs first
	faults  func() func(*http.Request) faultproxy.Fault // faults between the client and the server
	unknown bool                                        // the outcome is unknown, so the plugin exits with 4

	// client contains regular expressions for the plugin's own naming, if its result differs.
	client *harness.Result
}

func TestParity(t *testing.T) {
	p := newParity(t)
	for _, c := range cases {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			kubectls := p.run(t, c, retrying.Binaries.Kubectl, "create")
			if kubectls.Code != c.code || !strings.Contains(kubectls.Stdout+kubectls.Stderr, c.prints) {
				t.Errorf("kubectl does not do what the case says (exit code %d, %q): %+v", c.code, c.prints, kubectls)
			}
			ours := p.run(t, c, p.plugin, "create", "--naming=server", "--attempts=1")
			expected := kubectls
			if c.unknown {
				expected.Code = 4
			}
			p.compare(t, "--naming=server --attempts=1", expected, ours)
			ours = p.run(t, c, p.plugin, "create")
			ours.Stderr = added.ReplaceAllString(ours.Stderr, "")
			if c.client != nil {
				ours.Expect(t, c.client.Code, c.client.Stdout, c.client.Stderr)
				return
			}
			p.compare(t, "by default", kubectls, ours)
		})
	}
}

// added matches output that the plugin prints by default and kubectl never prints. Examples are a check of a refusal,
// an error found by lint, an object that can't be read, and the next step at the end.
var added = regexp.MustCompile(`(?m:^\S+: .* \(checking for 13s.*\)\n)|(?m:^If a proxy repeated the request, .*\n)|` +
	`(?m:^Warning: .*: .*\. To fix this, .* \(lint rule .*\)\.\n)|` +
	`(?ms:^(error: (not all objects were created|stopped after a failure): |` +
	`(Fix the cause\. Then run|Run) the same command again\. Nothing was created\.\n).*\z)`)

// parity is shared by the cases.
type parity struct {
	plugin string
	home   string
	files  *httptest.Server
}

// left is the result of a run, with the objects as JSON.
type left struct {
	harness.Result
	objects string
}

func newParity(t *testing.T) *parity {
	t.Helper()
	p := &parity{plugin: harness.Plugin(t), home: t.TempDir()}
	setUpParity(t)
	p.files = httptest.NewServer(unsteady(http.FileServer(http.Dir("testdata/files"))))
	t.Cleanup(p.files.Close)
	return p
}

// setUpParity creates custom resources and an admission policy on the server. They are not deleted, because a type that
// disappears would disturb other tests.
func setUpParity(t *testing.T) {
	t.Helper()
	admin := harness.As(t, retrying.Admin())
	kubectl := func(args ...string) ([]byte, error) {
		return exec.Command(retrying.Binaries.Kubectl, append(args, "--kubeconfig="+admin.Kubeconfig, "--cache-dir="+t.TempDir())...).CombinedOutput()
	}
	if out, err := kubectl("apply", "-f", "testdata/setup.yaml"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	harness.Eventually(t, func() error {
		if out, err := kubectl("create", "-f", "testdata/files/denied.yaml", "--dry-run=server"); err == nil {
			return fmt.Errorf("the policy does not deny: %s", out)
		}
		out, err := kubectl("get", "widgets,allowlists")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// unsteady responds with 503 to the first two requests for /flaky/CLIENT/FILE.
func unsteady(files http.Handler) http.Handler {
	var mu sync.Mutex
	seen := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.Path]++
		n := seen[r.URL.Path]
		mu.Unlock()
		part := strings.SplitN(r.URL.Path, "/", 4)
		switch {
		case part[1] == "flaky" && n <= 2:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case part[1] == "flaky":
			r.URL.Path = "/" + part[3]
			fallthrough
		default:
			files.ServeHTTP(w, r)
		}
	})
}

// run runs the case with a program. run uses a new namespace, which is the default of the kubeconfig, and new files.
func (p *parity) run(t *testing.T, c parityCase, program string, args ...string) left {
	t.Helper()
	ns := harness.Namespace(t, retrying)
	dir := t.TempDir()
	expand := strings.NewReplacer("$NS", ns, "$URL", p.files.URL).Replace
	copyFiles(t, "testdata/files", dir, expand, c.args+" "+c.stdin)
	if c.prepare != nil {
		c.prepare(t, ns)
	}
	for arg := range strings.FieldsSeq(expand(c.args)) {
		args = append(args, arg)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "KUBE_EDITOR=" + c.editor,
	}
	c.writeKubeconfig(t, ns, filepath.Join(dir, "kubeconfig"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.stdin != "" {
		in, err := os.Open(filepath.Join(dir, c.stdin))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		cmd.Stdin = in
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	plain := plainer(ns, dir)
	return left{
		harness.Result{Stdout: plain(stdout.String()), Stderr: plain(stderr.String()), Code: cmd.ProcessState.ExitCode()},
		plain(objects(t, ns)),
	}
}

// copyFiles copies the files and directories that the text named mentions.
func copyFiles(t *testing.T, from, to string, expand func(string) string, named string) {
	t.Helper()
	if err := fs.WalkDir(os.DirFS(from), ".", func(path string, entry fs.DirEntry, err error) error {
		switch top, _, _ := strings.Cut(path, "/"); {
		case err != nil:
			return err
		case path != "." && !strings.Contains(named, top): // can match too much
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o700)
		}
		content, err := os.ReadFile(filepath.Join(from, path))
		return errors.Join(err, os.WriteFile(filepath.Join(to, path), []byte(expand(string(content))), 0o600))
	}); err != nil {
		t.Fatal(err)
	}
}

func (c parityCase) writeKubeconfig(t *testing.T, namespace, path string) {
	t.Helper()
	config := retrying.Admin()
	if c.user != "" {
		config = retrying.User(c.user)
	}
	if c.faults != nil {
		config = faultproxy.New(t, config, c.faults()).Config
	}
	if err := controlplane.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig.Contexts[kubeconfig.CurrentContext].Namespace = namespace
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		t.Fatal(err)
	}
}

// plainer returns a function that replaces the text that differs between two runs of the same command.
func plainer(namespace, dir string) func(string) string {
	replace := func(pattern, by string) func(string) string {
		r := regexp.MustCompile(pattern)
		return func(text string) string { return r.ReplaceAllString(text, by) }
	}
	steps := []func(string) string{
		strings.NewReplacer(namespace, "NAMESPACE", dir, "DIR", "kubectl genname create", "kubectl create",
			"kubectl-genname create", "kubectl create").Replace,
		replace(`https://127\.0\.0\.1:\d+`, "SERVER"),
		replace(`http://127\.0\.0\.1:\d+`, "FILES"),
		replace(`kubectl(-genname)?-edit-\d+`, "EDIT"), // before SUFFIX, because its pattern can match such a number
		replace(`-`+harness.Suffix+`\b`, "-SUFFIX"),
		replace(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, "UID"),
		replace(`(resourceVersion\\?"?: ?\\?"?)\d+`, "${1}N"),
		replace(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`, "TIME"),
		replace(`(?m)^([WE])\d{4} [\d:.]+ +\d+ `, "$1 "),                         // klog
		replace(`manager(\\?"?: ?\\?"?)kubectl-genname\b`, "manager${1}kubectl"), // for --raw, from the User-Agent
		replace(` --(attempts=1|naming=server)`, ""),                             // in a change-cause
	}
	return func(text string) string {
		for _, step := range steps {
			text = step(text)
		}
		return text
	}
}

// objects lists the objects in the namespace, with everything that the server stores.
func objects(t *testing.T, namespace string) string {
	t.Helper()
	config := retrying.Admin()
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, resource := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "secrets"},
		{Version: "v1", Resource: "endpoints"},
		{Group: "batch", Version: "v1", Resource: "jobs"},
		{Group: "parity.example.com", Version: "v1", Resource: "widgets"},
		{Group: "parity.example.com", Version: "v1", Resource: "allowlists"},
	} {
		list, err := client.Resource(resource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range list.Items {
			text, err := json.MarshalIndent(object.Object, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	return strings.Join(all, "\n")
}

// nameOf returns a name to sort by, without random characters.
func nameOf(text string) string {
	return regexp.MustCompile(`-`+harness.Suffix).ReplaceAllString(regexp.MustCompile(`"name": "[^"]*"`).FindString(text), "")
}

func (p *parity) compare(t *testing.T, how string, kubectls, ours left) {
	t.Helper()
	type plain struct {
		Code                    int
		Stdout, Stderr, Objects string
	}
	if diff := gocmp.Diff(
		plain{kubectls.Code, kubectls.Stdout, kubectls.Stderr, kubectls.objects},
		plain{ours.Code, withoutID(ours.Stdout), ours.Stderr, withoutID(ours.objects)},
	); diff != "" {
		t.Errorf("%s: it differs (-kubectl's +ours):\n%s", how, diff)
	}
}

// withoutID removes the creation ID annotation from JSON, YAML or KYAML, and from managedFields.
func withoutID(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "genname.dev/creation-id") {
			lines = append(lines, line)
		}
	}
	for i := 0; i < len(lines); i++ {
		if n := emptied(lines[i:]); n > 0 {
			lines = slices.Delete(lines, i, i+n)
		}
	}
	return strings.Join(lines, "")
}

// emptied returns the number of lines at the beginning that contain an empty map of annotations.
func emptied(lines []string) int {
	word := func(i int) string {
		if i >= len(lines) {
			return ""
		}
		return strings.Trim(lines[i], "\" {,\n")
	}
	indent := func(i int) int { return len(lines[i]) - len(strings.TrimLeft(lines[i], " ")) }
	switch head := word(0); {
	case head == `annotations":` || head == "annotations:" && strings.HasSuffix(lines[0], "{\n"): // JSON, KYAML
		if word(1) == "}" {
			return 2
		}
	case head == "annotations:": // YAML
		if len(lines) == 1 || indent(1) <= indent(0) {
			return 1
		}
	case strings.HasPrefix(head, "f:annotations") && word(1) != "" && strings.HasSuffix(lines[0], "{\n"):
		if word(2) == "}" {
			return 3
		}
	case strings.HasPrefix(head, "f:annotations"):
		if len(lines) == 2 || indent(2) <= indent(0) {
			return 2
		}
	}
	return 0
}

// retrying is the server, which retries generated names by itself.
var retrying *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Server{ControlPlane: &retrying, Shared: "retrying"}))
}
