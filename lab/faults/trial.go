package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// trial runs one client through the fault-injection test, in its own namespace and behind its own proxy.
type trial struct {
	Settings
	cp        *controlplane.ControlPlane
	server    kubernetes.Interface // not through the proxy
	namespace string
	dir       string // of this trial only
	mix       *faultproxy.Mix
	proxy     *faultproxy.Proxy

	kills     []kill     // in their order
	failures  []failure  // of the control plane; the first one is next
	recovered chan error // from the last failure
	mu        sync.Mutex // guards the fields below
	stored    int        // objects, by the responses that passed the proxy
	posts     int        // of objects, that the proxy received
	client    *os.Process
	log       tally
}

// tally contains the counts of a trial.
type tally struct {
	runs, clientKills, serverKills int
}

// kill is due once the given number of objects are stored.
type kill struct {
	at     int
	server bool // a failure of the control plane; otherwise a kill of the client
}

// plan spreads the kills evenly over the objects to create.
func plan(objects, clients, servers int) []kill {
	var kills []kill
	for i := range clients {
		kills = append(kills, kill{at: objects * (i + 1) / (clients + 1)})
	}
	for i := range servers {
		kills = append(kills, kill{at: objects * (2*i + 1) / (2*servers + 1), server: true})
	}
	slices.SortFunc(kills, func(a, b kill) int { return a.at - b.at })
	return kills
}

// newTrial creates the namespace, the proxy and the kubeconfig.
func newTrial(ctx context.Context, s Settings, cp *controlplane.ControlPlane, name string) (*trial, error) {
	t := &trial{
		Settings: s, cp: cp, namespace: fmt.Sprintf("%s-%d", name, s.Seed), dir: filepath.Join(cp.Dir, name),
		mix:       &faultproxy.Mix{Seed: s.Seed, Rate: s.Rate},
		kills:     plan(s.Objects(), s.ClientKills, s.ServerKills),
		failures:  failuresOf(cp),
		recovered: make(chan error, 1),
	}
	t.recovered <- nil
	var err error
	if t.server, err = kubernetes.NewForConfig(cp.Admin()); err != nil {
		return nil, err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}
	if _, err := t.server.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	if t.proxy, err = faultproxy.StartBalancer(s.Protocol, cp.Admin(), addresses(cp), t.choose); err != nil {
		return nil, err
	}
	return t, errors.Join(
		os.MkdirAll(t.dir, 0o755),
		controlplane.WriteKubeconfig(t.path("kubeconfig"), t.proxy.Config),
	)
}

func addresses(cp *controlplane.ControlPlane) (urls []string) {
	for _, s := range cp.Servers {
		urls = append(urls, s.URL)
	}
	return urls
}

// finish waits for requests in flight, which can still store objects, and for the control plane to recover.
func (t *trial) finish() error {
	t.proxy.Close()
	return <-t.recovered
}

func (t *trial) path(name string) string { return filepath.Join(t.dir, name) }

// choose returns the fault that the mix chooses, and counts stored objects.
func (t *trial) choose(r *http.Request) faultproxy.Fault {
	fault := t.mix.Choose(r)
	if !creates(r) { // for example, a review of permissions
		return fault
	}
	t.mu.Lock()
	t.posts++
	t.mu.Unlock()
	return faultproxy.Observe(fault, func(code int) {
		if code == http.StatusCreated {
			t.objectStored()
		}
	})
}

// creates reports whether r can create a ConfigMap. It is a POST, or the PATCH of a server-side apply.
func creates(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/configmaps") ||
		r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/configmaps/")
}

// objectStored carries out the kills that are due, before the client receives the response.
func (t *trial) objectStored() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stored++
	for len(t.kills) > 0 && t.stored >= t.kills[0].at {
		if t.kills[0].server {
			t.failServer()
		} else if !t.killClient() {
			return // between two runs, so the next run is killed
		}
		t.kills = t.kills[1:]
	}
}

// killClient kills the client and reports whether there was one.
func (t *trial) killClient() bool {
	if t.client == nil || t.client.Kill() != nil {
		return false
	}
	t.client = nil
	t.log.clientKills++
	return true
}

// failServer starts the next failure of the control plane, once it has recovered from the last one.
func (t *trial) failServer() {
	err := <-t.recovered
	next := t.failures[0]
	t.failures = append(t.failures[1:], next)
	t.log.serverKills++
	end, failed := next.begin(context.Background(), t.cp)
	if err = errors.Join(err, failed); err != nil {
		t.recovered <- fmt.Errorf("%s: %w", next.name, err)
		return
	}
	go func() {
		time.Sleep(next.lasts)
		t.recovered <- end()
	}()
}

// postsSoFar returns the number of POSTs that the proxy received.
func (t *trial) postsSoFar() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.posts
}

// counts returns the number of requests, and the number of requests with a fault.
func (t *trial) counts() (requests, faults int) {
	requests, each := t.mix.Count()
	for _, n := range each {
		faults += n
	}
	return requests, faults
}

// maxRuns limits the runs of a loop. No fault-injection test needs as many.
const maxRuns = 200

// run is the result of one run of a client.
type run struct {
	code           int // -1 if it was killed
	stdout, stderr string
}

// run runs kubectl or the plugin against the proxy.
func (t *trial) run(ctx context.Context, program string, args ...string) (run, error) {
	return t.execute(ctx, program, append(args, t.flags()...)...)
}

func (t *trial) flags() []string {
	return []string{
		"--kubeconfig=" + t.path("kubeconfig"), "--cache-dir=" + t.path("cache"), "--namespace=" + t.namespace,
		"--request-timeout=" + t.RequestTimeout.String(),
	}
}

// execute runs a program, and records its output.
func (t *trial) execute(ctx context.Context, program string, args ...string) (run, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return run{}, err
	}
	t.track(cmd.Process)
	err := cmd.Wait()
	t.track(nil)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return run{}, err
	}
	r := run{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	t.logRun(r)
	return r, ctx.Err()
}

// track sets the process that is killed as the client.
func (t *trial) track(client *os.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.client = client
	if client != nil {
		t.log.runs++
	}
}

func (t *trial) logRun(r run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	fmt.Fprintf(t.Log, "%s: run %d: exit code %d, %d objects reported, %d stored; stderr ends with: %.300s\n",
		t.namespace, t.log.runs, r.code, len(r.reported()), t.stored, lines[len(lines)-1])
}

// reported returns the names that the run printed, with the verb after each.
func (r run) reported() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(r.stdout) {
		object, verb, ok := strings.Cut(strings.TrimSpace(line), " ")
		if name, isConfigMap := strings.CutPrefix(object, "configmap/"); ok && isConfigMap {
			names[name] = verb
		}
	}
	for _, match := range alreadyExists.FindAllStringSubmatch(r.stderr, -1) {
		names[match[1]] = exists
	}
	return names
}

// alreadyExists is the error of kubectl for an object with a fixed name that exists. alreadyExists doesn't show
// whether an earlier run has created the object.
var alreadyExists = regexp.MustCompile(`configmaps "(document-\d+-fixed)" already exists`)

// unknown returns the names of the objects whose outcome the run reported as unknown.
func (r run) unknown() []string {
	var names []string
	for line := range strings.Lines(r.stderr) {
		if name, isConfigMap := strings.CutPrefix(line, "error: outcome unknown: configmap/"); isConfigMap {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	return names
}

// count is a part of the last line of a run that did not create all objects.
var count = regexp.MustCompile(`(\d+) (failed|not attempted)\b`)

// totals returns the counts of the last line. They are 0 if the run printed none, because then it did everything.
func (r run) totals() totals {
	counted := map[string]int{}
	for line := range strings.Lines(r.stderr) {
		if !strings.Contains(line, " not attempted") {
			continue
		}
		for _, part := range count.FindAllStringSubmatch(line, -1) {
			counted[part[2]], _ = strconv.Atoi(part[1]) // the expression has digits only
		}
	}
	return totals{failed: counted["failed"], notAttempted: counted["not attempted"]}
}
