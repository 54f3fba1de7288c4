package logs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// recorder records what a follower reports.
type recorder struct {
	mu      sync.Mutex
	lines   map[logs.Container][]string
	events  []string
	waiting int // Pods that wait for a stream
}

func newRecorder() *recorder {
	return &recorder{lines: map[logs.Container][]string{}}
}

func (r *recorder) line(c logs.Container, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines[c] = append(r.lines[c], string(text))
}

func (r *recorder) event(event logs.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := ""
	switch e := event.(type) {
	case logs.Gap:
		text = fmt.Sprintf("gap in %s, from %v, to %v: %s", e.Container.Name, !e.From.IsZero(), !e.To.IsZero(), e.Reason)
	case logs.Restart:
		text = fmt.Sprintf("restart of %s after exit code %d", e.Container.Name, e.Ended.ExitCode)
	case logs.Waiters:
		r.waiting += len(e.Pods)
		return
	case logs.Failure:
		text = fmt.Sprintf("failure, %v", e.Tail)
	}
	r.events = append(r.events, text)
}

// expect waits for a line.
func (r *recorder) expect(t *testing.T, line string) {
	t.Helper()
	harness.Eventually(t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, lines := range r.lines {
			if slices.Contains(lines, line) {
				return nil
			}
		}
		return fmt.Errorf("the line %.80q doesn't come", line)
	})
}

// scene creates a Pod, and starts a follower of its logs with a recorder.
func scene(t *testing.T, containers ...string) (*node, *recorder, *logs.Follower, *pod) {
	t.Helper()
	r, p := newRecorder(), newPod(t, harness.Namespace(t, onNode(t).ControlPlane), containers...)
	return onNode(t), r, follow(t, r, p.namespace), p
}

// follow starts a follower of the Pods of a Job.
func follow(t *testing.T, r *recorder, namespace string) *logs.Follower {
	t.Helper()
	return start(t, namespace, 10, r.line, r.event)
}

func start(
	t *testing.T, namespace string, streams int, line func(logs.Container, []byte), event func(logs.Event),
) *logs.Follower {
	t.Helper()
	return logs.Start(t.Context(), logs.Config{
		Client: onNode(t).client.CoreV1(), Streams: streams, RetryTimeout: 5 * time.Minute, Line: line, Event: event,
	}, []pods.Source{{
		Namespace: namespace, Options: metav1.ListOptions{LabelSelector: "job-name=j"},
		Of: func(*corev1.Pod) *pods.Owner { return &pods.Owner{} },
	}})
}

// compare compares the lines of Pods with what was written, byte for byte.
func (r *recorder) compare(t *testing.T, events []string, pods ...*pod) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range pods {
		for container, want := range p.wrote {
			got := r.lines[logs.Container{Namespace: p.namespace, Pod: p.name, Name: container}]
			if !slices.Equal(got, want) {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				t.Errorf("%s of %s has %d lines, want %d; they differ from line %d on: %.80q, want %.80q",
					container, p.name, len(got), len(want), at, got[at:min(at+2, len(got))], want[at:min(at+2, len(want))])
			}
		}
	}
	if slices.Sort(r.events); !slices.Equal(r.events, events) {
		t.Errorf("events %q, want %q", r.events, events)
	}
}

// texts returns n lines of different lengths.
func texts(prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s %d %s", prefix, i, strings.Repeat("ü", i%30))
	}
	return lines
}

// All containers are read, also those that ended before the follower began. At the end, the follower leaves a container
// that still runs.
func TestContainers(t *testing.T) {
	t.Parallel()
	ns, r := harness.Namespace(t, onNode(t).ControlPlane), newRecorder()
	p := newPod(t, ns, "init", "main", "sidecar")
	p.run("init", texts("init", 5)...)
	f := follow(t, r, ns)
	p.starts("sidecar", "ready")
	long := strings.Repeat("x", 5<<20)
	p.run("main", append(texts("main", 100), "", long, "a\rb\x00\xff", "", "")...)
	r.expect(t, "ready")
	r.expect(t, long)
	f.Drain()
	r.compare(t, nil, p)
}

// If connections break, no line is lost, and no line comes twice.
func TestBrokenConnections(t *testing.T) {
	ns, r, n := harness.Namespace(t, onNode(t).ControlPlane), newRecorder(), onNode(t)
	f := follow(t, r, ns)
	seed := harness.Seed(t)
	var pods []*pod
	var writers sync.WaitGroup
	for i := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, i))
		p := newPod(t, ns, "main")
		pods = append(pods, p)
		p.starts("main")
		writers.Go(func() {
			for i := range 100 {
				p.write("main", 0, texts(fmt.Sprint("block ", i), 1+random.IntN(40))...)
				time.Sleep(time.Duration(random.IntN(80)) * time.Millisecond)
			}
			p.ends("main", 0, 0)
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	var breaker sync.WaitGroup
	breaker.Go(func() {
		random := rand.New(rand.NewPCG(seed, 4))
		for cuts := 0; ctx.Err() == nil; cuts++ {
			time.Sleep(time.Duration(100+random.IntN(400)) * time.Millisecond)
			n.link.cut(cuts%5 == 4)
		}
		n.link.cut(false)
	})
	writers.Wait()
	stop()
	breaker.Wait()
	f.Drain()
	r.compare(t, nil, pods...)
}

// The rest of a run that has ended is read after the container has started again.
func TestRestarts(t *testing.T) {
	n, r, f, p := scene(t, "restarts")
	p.starts("restarts")
	p.write("restarts", 0, texts("first", 50)...)
	r.expect(t, "first 20 "+strings.Repeat("ü", 20))
	n.link.cut(true) // until the kubelet and the status agree on the run
	p.write("restarts", 0, "the last line")
	p.ended("restarts", 0, 3)
	p.write("restarts", 1, texts("second", 50)...)
	p.running("restarts", 1)
	n.link.cut(false)
	p.write("restarts", 1, texts("third", 50)...)
	p.ends("restarts", 1, 0)
	f.Drain()
	r.compare(t, []string{"restart of restarts after exit code 3"}, p)
}

// Sidecars use all streams, and release them for containers that start later. No line of a sidecar is lost.
func TestSidecars(t *testing.T) {
	t.Parallel()
	ns, r := harness.Namespace(t, onNode(t).ControlPlane), newRecorder()
	f := start(t, ns, 2, r.line, r.event)
	var all []*pod
	for i := range 2 {
		p := newPod(t, ns, "init-sidecar", "main")
		all = append(all, p)
		p.starts("init-sidecar", texts(fmt.Sprint("sidecar begins ", i), 20)...)
		r.expect(t, texts(fmt.Sprint("sidecar begins ", i), 20)[19])
	}
	for i, p := range all {
		p.starts("main", fmt.Sprint("main ", i))
	}
	for i, p := range all { // both mains run at the same time
		r.expect(t, fmt.Sprint("main ", i))
		p.write("init-sidecar", 0, "meanwhile")
	}
	for _, p := range all {
		p.ended("main", 0, 0)
		p.write("init-sidecar", 0, texts("sidecar ends", 20)...)
		p.ends("init-sidecar", 0, 0)
	}
	f.Drain()
	r.compare(t, nil, all...)
}

// If there are too few streams, the follower reports the containers that wait, and reads them later.
func TestStreams(t *testing.T) {
	t.Parallel()
	ns, r := harness.Namespace(t, onNode(t).ControlPlane), newRecorder()
	f := follow(t, r, ns)
	var pods []*pod
	for i := range 20 {
		p := newPod(t, ns, "main")
		pods = append(pods, p)
		p.starts("main", texts(fmt.Sprint("begin ", i), 20)...)
	}
	harness.Eventually(t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.waiting != 10 || len(r.lines) != 10 {
			return fmt.Errorf("%d containers are read, and %d are reported as waiting, want 10 of each", len(r.lines), r.waiting)
		}
		return nil
	})
	for _, p := range pods {
		p.write("main", 0, texts("end", 20)...)
		p.ends("main", 0, 1)
	}
	f.Drain()
	failure := "failure, map[main:[" + strings.Join(texts("end", 20), " ") + "]]"
	r.compare(t, slices.Repeat([]string{failure}, 20), pods...)
}
