package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Settings are the settings of all trials.
type Settings struct {
	Seed     uint64
	Purposes int
	Log      io.Writer // stderr of the processes
}

// Result is the outcome of a trial.
type Result struct {
	Way, Scenario string
	// Purposes is the number of objects that there should be.
	Purposes int
	// Duplicates is the number of extra objects for the same purposes. Missing is the number of purposes without an
	// object.
	Duplicates, Missing int
	// Unsettled is the number of purposes with an error in the reconcile after the last fault.
	Unsettled int
	// Posts, Gets and Lists are the requests for the objects. Conflicts is the number of responses with status 409.
	// Faults is the number of requests with a fault. Refused is the number of them whose second copy was refused.
	Posts, Gets, Lists, Conflicts, Faults, Refused int
	Processes, Kills                               int
	Took                                           time.Duration
}

func (r *Result) String() string {
	return fmt.Sprintf("%s, %s: %d purposes, %d objects too many, %d missing, %d unsettled; "+
		"%d POSTs (%d conflicts), %d GETs, %d lists, of which %d met a fault; %d processes, %d killed, %s",
		r.Way, r.Scenario, r.Purposes, r.Duplicates, r.Missing, r.Unsettled,
		r.Posts, r.Conflicts, r.Gets, r.Lists, r.Faults, r.Processes, r.Kills, r.Took.Round(time.Second))
}

// Check returns the promises of pkg/once that were broken. generateName promises nothing.
func (r *Result) Check() error {
	var broken []error
	switch {
	case r.Way == "generate":
		return nil
	case r.Duplicates+r.Missing+r.Unsettled > 0:
		broken = append(broken, errors.New("not exactly once"))
	}
	if r.Scenario == "calm" && (r.Posts != r.Purposes || r.Gets+r.Lists > 0) {
		broken = append(broken, errors.New("not one POST and no read for each purpose, although nothing went wrong"))
	}
	if r.Gets > r.Faults+r.Conflicts+3*r.Refused {
		broken = append(broken, errors.New("more than one GET for each fault and conflict, and three more for a refusal"))
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errors.Join(broken...), r)
}

// trial runs one way through one scenario, in its own namespace.
type trial struct {
	Settings
	way       string
	cp        *controlplane.ControlPlane
	server    kubernetes.Interface // not through a proxy
	namespace string
	dir       string
	faults    *faultproxy.Mix
	deletions sync.WaitGroup // deletions of objects of other clients that are in progress

	posts, gets, lists, conflicts, processes atomic.Int32

	mu      sync.Mutex
	objects int // number of stored objects
	kills   []int
	killed  int
}

// Run runs a way through a scenario, which have these names, on the control plane. The error is about the trial. The Result lists which
// objects exist.
func Run(ctx context.Context, cp *controlplane.ControlPlane, s Settings, way, name string) (*Result, error) {
	scenario := scenarios[name]
	t := &trial{
		Settings: s, way: way, cp: cp, namespace: way + "-" + name,
		faults: &faultproxy.Mix{Seed: s.Seed, Rate: scenario.Rate, Of: faults()},
	}
	if scenario.OtherClients {
		t.faults.Of = append(t.faults.Of, faultproxy.NamedFault{
			Name: "the name taken by another client, and freed", Fault: t.takeName, WritesOnly: true,
		})
	}
	for i := range scenario.Kills {
		t.kills = append(t.kills, s.Purposes*(i+1)/(scenario.Kills+1))
	}
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	var leaders errgroup.Group
	for range scenario.Leaders {
		leaders.Go(func() error { return t.lead(ctx, scenario) })
	}
	if err := leaders.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.namespace, err)
	}
	t.deletions.Wait()
	r := &Result{Way: way, Scenario: name, Purposes: s.Purposes, Took: time.Since(start)}
	t.fill(r)
	var err error
	if r.Unsettled, err = t.settle(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", t.namespace, err)
	}
	r.Duplicates, r.Missing, err = t.compare(ctx)
	return r, err
}

// prepare creates the namespace and the owner.
func (t *trial) prepare(ctx context.Context) (err error) {
	if t.server, err = kubernetes.NewForConfig(t.cp.Admin()); err != nil {
		return err
	}
	t.dir = filepath.Join(t.cp.Dir, t.namespace)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}
	_, err = t.server.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	owner := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: ownerName}}
	_, err2 := t.server.CoreV1().Secrets(t.namespace).Create(ctx, owner, metav1.CreateOptions{})
	return errors.Join(err, err2, os.MkdirAll(t.dir, 0o755))
}

// lead runs processes one after another until one has done its rounds.
func (t *trial) lead(ctx context.Context, scenario Scenario) error {
	for range scenario.Kills + 1 {
		i, err := t.start(ctx, scenario)
		if err != nil {
			return err
		}
		done, _, err := i.watch()
		i.end()
		if err != nil || done {
			return err
		}
	}
	return errors.Join(errors.New("a process ended that was not killed"), ctx.Err())
}

// settle reconciles once more without faults, and returns the number of purposes that fail in the first attempt.
func (t *trial) settle(ctx context.Context) (failed int, err error) {
	i, err := t.start(ctx, Scenario{Rounds: 1})
	if err != nil {
		return 0, err
	}
	defer i.end()
	done, failed, err := i.watch()
	if err == nil && !done {
		err = errors.New("the last process ended")
	}
	return failed, err
}

// compare counts the objects.
func (t *trial) compare(ctx context.Context) (duplicates, missing int, err error) {
	list, err := t.server.CoreV1().Secrets(t.namespace).List(ctx, metav1.ListOptions{LabelSelector: purposeLabel})
	if err != nil {
		return 0, 0, err
	}
	purposes := map[string]bool{}
	for _, object := range list.Items {
		purposes[object.Labels[purposeLabel]] = true
	}
	return len(list.Items) - len(purposes), t.Purposes - len(purposes), nil
}

// fill copies the counts of requests, faults and kills into the result.
func (t *trial) fill(r *Result) {
	r.Posts, r.Gets, r.Lists = int(t.posts.Load()), int(t.gets.Load()), int(t.lists.Load())
	r.Conflicts, r.Processes, r.Kills = int(t.conflicts.Load()), int(t.processes.Load()), t.killed
	_, faults := t.faults.Count()
	for name, n := range faults {
		r.Faults += n
		if strings.Contains(name, "refused") {
			r.Refused += n
		}
	}
}

// path returns the URL path of a Secret, or of all Secrets if name is empty.
func (t *trial) path(name string) string {
	return strings.TrimSuffix("/api/v1/namespaces/"+t.namespace+"/secrets/"+name, "/")
}

// count counts a request for objects. A list with a resourceVersion doesn't count. Caches send it to servers that
// stream no initial list.
func (t *trial) count(r *http.Request) {
	switch {
	case r.URL.Path == t.path("") && r.URL.Query().Has("resourceVersion"):
	case r.Method == http.MethodPost:
		t.posts.Add(1)
	case r.URL.Path == t.path(""):
		t.lists.Add(1)
	default:
		t.gets.Add(1)
	}
}

// mix chooses the fault, if the scenario has any.
func (t *trial) mix(s Scenario, r *http.Request) faultproxy.Fault {
	if s.Rate == 0 {
		return nil
	}
	return t.faults.Choose(r)
}

// stored kills the process if a kill is due.
func (t *trial) stored(by *instance) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.objects++
	if len(t.kills) > 0 && t.objects >= t.kills[0] && !by.killed {
		by.killed = by.command.Process.Kill() == nil
		t.kills = t.kills[1:]
		t.killed++
	}
}

// takeName is a fault. Another client takes the name in the request for a moment. If the server picks the name,
// nothing happens.
func (t *trial) takeName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent metav1.PartialObjectMetadata
		if err := json.Unmarshal(faultproxy.Body(r), &sent); err == nil && sent.Name != "" {
			t.take(sent.Name)
		}
		next.ServeHTTP(w, r)
	})
}

// take creates an object without an owner, and deletes it a moment later. If the name was taken, nothing happens.
func (t *trial) take(name string) {
	secrets := t.server.CoreV1().Secrets(t.namespace)
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ctx := context.Background()
	if _, err := secrets.Create(ctx, other, metav1.CreateOptions{}); err != nil {
		return
	}
	t.deletions.Go(func() {
		time.Sleep(300 * time.Millisecond)
		_ = secrets.Delete(ctx, name, metav1.DeleteOptions{}) // a leftover is counted as missing
	})
}
