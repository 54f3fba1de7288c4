package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// limit ends a call of a program that hangs. A slow machine needs minutes to start some of them.
const limit = 10 * time.Minute

// A result is a line of the table.
type result struct {
	name           string
	claims         []string
	report         string // the last line of stderr of the last run
	posts, objects int
	unnamed        int // POSTs without a name, like those that bypass wrap
	took           time.Duration
	problems       []string
}

func (r *result) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// A claim is the last line of a program.
type claim struct {
	Outcome string `json:"outcome"`
	Name    string `json:"name"`
}

// A player plays one case.
type player struct {
	testCase
	program []string
	open    opener
	server  server
	key     string // the key of all runs of the case
	dir     string
	posted  chan struct{} // has an element when the first POST has arrived
	mu      sync.Mutex    // guards result.report
	result  result
}

func (c testCase) play(program []string, open opener) result {
	p := &player{testCase: c, program: program, open: open, posted: make(chan struct{}, 1)}
	p.key = "conformance-" + strings.ToLower(rand.Text()[:8])
	p.result.name = c.name
	start := time.Now()
	if err := p.play(); err != nil {
		p.result.problem("%v", err)
	}
	p.result.took = time.Since(start)
	return p.result
}

func (p *player) play() (err error) {
	if p.dir, err = os.MkdirTemp("", "conformance"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.dir)) }()
	if p.server, err = p.open(p.key, p.place()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.cleanUp()) }()
	routes := http.NewServeMux()
	routes.Handle("/", p.server)
	routes.Handle(elsewhere, http.StripPrefix(strings.TrimSuffix(elsewhere, "/"), http.HandlerFunc(pretend)))
	server := httptest.NewServer(routes)
	defer server.Close()
	if err := p.writeKubeconfig(server.URL); err != nil {
		return err
	}
	p.server.Func(p.seen)
	if p.setup != nil {
		p.setup(p.server)
	}
	claims, err := p.runAll()
	if err != nil {
		return err
	}
	p.server.Land()
	p.check(claims)
	return nil
}

// elsewhere begins the paths to which redirects lead.
const elsewhere = "/elsewhere/"

// pretend stores nothing, and responds to a POST with the object in it.
func pretend(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.Copy(w, r.Body) // fails if the client is gone
}

// place returns the type and the namespace of the objects of the case.
func (c testCase) place() place {
	at := place{configMaps, cmp.Or(c.namespace, metav1.NamespaceDefault)}
	if c.resource != (schema.GroupVersionResource{}) {
		at.resource = c.resource
	}
	return at
}

// cleanUp removes the objects of the case. cleanUp returns the first error of a request of the run itself.
func (p *player) cleanUp() error {
	removeAll(p.server)
	if c, is := p.server.(*cluster); is {
		return c.Err()
	}
	return nil
}

// seen reports the first POST to a run that is interrupted. Several POSTs can arrive at the same time.
func (p *player) seen(r *oncetest.Request) oncetest.Fault {
	if r.Verb == "create" {
		select {
		case p.posted <- struct{}{}:
		default:
		}
	}
	return nil
}

// runAll calls the program for each run, and returns the claims.
func (p *player) runAll() ([]claim, error) {
	claims, failures := make([]claim, len(p.runs)), make([]error, len(p.runs))
	var group sync.WaitGroup
	for i, r := range p.runs {
		if r.before != nil {
			r.before(p.server)
		}
		group.Go(func() { claims[i], failures[i] = p.call(r) })
		if !r.beside {
			group.Wait()
		}
	}
	return claims, errors.Join(failures...)
}

// call calls the program once.
func (p *player) call(r run) (claim, error) {
	manifest, err := p.writeManifest(r.input)
	if err != nil {
		return claim{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append(slices.Clone(p.program[1:]), filepath.Join(p.dir, "kubeconfig"), manifest)
	cmd := exec.CommandContext(ctx, p.program[0], args...)
	cmd.Env = append(os.Environ(), "GENNAME_IDEMPOTENCY_KEY="+cmp.Or(r.key, p.key), "HOME="+p.dir)
	if r.secret != "" {
		cmd.Env = append(cmd.Env, "GENNAME_IDEMPOTENCY_SECRET="+r.secret)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt goes to the program of a script, too
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return claim{}, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the claim counts, and not the exit code
	}()
	if r.stop {
		select {
		case <-p.posted:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // fails if the program has just ended
		case <-ended:
		}
	}
	<-ended
	if ctx.Err() != nil {
		return claim{}, fmt.Errorf("did not end within %v", limit)
	}
	p.setReport(lastLine(stderr.String()))
	c, unread := parse(stdout.String())
	if unread != nil {
		return claim{}, fmt.Errorf("%w (%s): %s", unread, cmd.ProcessState, lastLine(stderr.String()))
	}
	return c, nil
}

// setReport can be called by several runs at the same time.
func (p *player) setReport(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.report = line
}

// parse returns the claim in the last line of stdout.
func parse(stdout string) (claim, error) {
	var c claim
	if err := json.Unmarshal([]byte(lastLine(stdout)), &c); err != nil {
		return c, errors.New("the last line of stdout is no claim")
	}
	if !slices.Contains([]string{created, exists, failed, unknown}, c.Outcome) {
		return c, fmt.Errorf("the claim has the outcome %q", c.Outcome)
	}
	return c, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}

// check compares the claims with the objects.
func (p *player) check(claims []claim) {
	expected := map[string]oncetest.Outcome{}
	for i, c := range claims {
		p.result.claims = append(p.result.claims, c.Outcome)
		if !slices.Contains(p.runs[i].claims, c.Outcome) {
			p.result.problem("claimed %s, and the case ends with %s", c.Outcome, strings.Join(p.runs[i].claims, " or "))
		}
		if c.Outcome == created || c.Outcome == exists {
			expected["ours"] = oncetest.Created
			p.named(c.Name)
		}
	}
	if _, ok := expected["ours"]; !ok {
		expected["ours"] = oncetest.Failed
		if slices.ContainsFunc(claims, func(c claim) bool { return c.Outcome == unknown }) {
			expected["ours"] = oncetest.Unknown
		}
	}
	for _, violation := range p.server.Check(creationOf, expected) {
		p.result.problem("%s", violation.Problem)
	}
	p.count()
}

// named checks that the object of a claim exists.
func (p *player) named(name string) {
	ours := func(o *unstructured.Unstructured) bool { return o.GetName() == name && creationOf(o) == "ours" }
	if !slices.ContainsFunc(p.server.Objects(), ours) && !p.gone {
		p.result.problem("claimed the name %q, and the server has no such object", name)
	}
}

func (p *player) count() {
	for _, object := range p.server.Objects() {
		if creationOf(object) == "ours" {
			p.result.objects++
			p.derived(object)
		}
	}
	var posts []time.Time
	for _, r := range p.server.Requests() {
		if r.Verb == "create" && r.Resource == p.place().resource {
			posts = append(posts, r.Time)
			if r.Name == "" {
				p.result.unnamed++
			}
		}
	}
	p.result.posts = len(posts)
	if p.runs[0].bad && len(posts) > 0 {
		p.result.problem("sent a POST with an unusable secret")
	}
	if len(posts) > 1 && posts[1].Sub(posts[0]) < p.pause {
		p.result.problem("sent the second POST after %v, and Retry-After is %v", posts[1].Sub(posts[0]), p.pause)
	}
}

// derived checks the ID, the name and the digest of an object.
func (p *player) derived(object *unstructured.Unstructured) {
	var with derive.Secret
	if text := p.runs[0].secret; text != "" && !p.runs[0].bad {
		var err error
		if with, err = derive.ParseSecret(text); err != nil {
			p.result.problem("%v", err)
		}
	}
	const prefix = "once-"
	at := p.place()
	place := derive.Object{Group: at.resource.Group, Kind: object.GetKind(), Namespace: at.namespace, GenerateName: prefix}
	id := object.GetAnnotations()[derive.IDAnnotation]
	name := object.GetName()
	if p.renamed {
		name = with.Name(id, prefix)
	}
	if !with.Verifies(derive.FromKey(p.key), place, id, name) || object.GetGenerateName() != prefix {
		p.result.problem("the object %s has the ID %q and the generateName %q, which is not as specified",
			object.GetName(), id, object.GetGenerateName())
	}
	digest, specified := object.GetAnnotations()[derive.DigestAnnotation], with.Digest(id, place, object.Object)
	if digest != "" && digest != specified {
		p.result.problem("the object %s has the digest %s, and not %s", object.GetName(), digest, specified)
	}
}

// creationOf returns the creation of an object: ours, or "" for an object of another user.
func creationOf(object metav1.Object) string {
	if whole, ok := object.(*unstructured.Unstructured); ok {
		if work, _, _ := unstructured.NestedString(whole.Object, "data", "work"); work == theirWork {
			return ""
		}
	}
	return "ours"
}

// theirWork is the value of data.work in an object of another user.
const theirWork = "theirs"

// caseLabel is on the objects of a case. Its value is the key.
const caseLabel = "conformance"

const configMapText = `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: once-
  labels: {%s: %q}
data:
  input: %q
`

func (p *player) writeManifest(input string) (string, error) {
	path := filepath.Join(p.dir, "manifest"+input+".yaml")
	return path, os.WriteFile(path, fmt.Appendf(nil, cmp.Or(p.manifest, configMapText), caseLabel, p.key, input), 0o600)
}

const roleText = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  generateName: once-
  labels: {%s: %q}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get], resourceNames: ["input%s"]}
`

const missingText = `apiVersion: conformance.genname.dev/v1
kind: Missing
metadata:
  generateName: once-
  labels: {%s: %q}
spec: {input: %q}
`

const kubeconfigText = `apiVersion: v1
kind: Config
current-context: conformance
contexts: [{name: conformance, context: {cluster: conformance, user: conformance, namespace: %q}}]
clusters: [{name: conformance, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: conformance, user: {token: conformance}}]
`

func (p *player) writeKubeconfig(url string) error {
	return os.WriteFile(filepath.Join(p.dir, "kubeconfig"), fmt.Appendf(nil, kubeconfigText, p.place().namespace, url), 0o600)
}
