package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// kubelet serves one Pod and its log. test/logs uses a real API server. The histories here need events at moments that
// test/logs can't choose.
type kubelet struct {
	mu     sync.Mutex // guards the fields below
	pod    *corev1.Pod
	logs   int // requests of the log
	lines  []string
	events []Event

	forbidden bool // the Pods can't be listed

	log func(w http.ResponseWriter, r *http.Request, n int)
}

func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	if strings.HasSuffix(r.URL.Path, "/log") {
		k.logs++
		n, log := k.logs, k.log
		k.mu.Unlock()
		log(flushing{w}, r, n)
		return
	}
	defer k.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	if !k.forbidden {
		list.Items = append(list.Items, *k.pod)
		_ = json.NewEncoder(w).Encode(list)
		return
	}
	refuse(w, apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no")))
}

// flushing sends each line immediately.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(line []byte) (int, error) {
	n, err := f.ResponseWriter.Write(line)
	return n, errors.Join(err, http.NewResponseController(f.ResponseWriter).Flush())
}

// follow starts a follower. Instead of an informer, the test reports the states of the Pod.
func follow(t *testing.T, k *kubelet) *Follower {
	t.Helper()
	config := fakeapi.Pipe(t, k)
	config.QPS = -1
	client, err := typedcore.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return Start(t.Context(), Config{
		Client: client, Streams: 10, RetryTimeout: 20 * time.Second,
		Line: func(_ Container, text []byte) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.lines = append(k.lines, string(text))
		},
		Event: func(e Event) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.events = append(k.events, e)
		},
	}, nil)
}

// set stores a state of the Pod in the API server, and reports it to the follower.
func (k *kubelet) set(f *Follower, pod *corev1.Pod) {
	k.mu.Lock()
	k.pod = pod
	k.mu.Unlock()
	f.update(pod, false)
}

// requested waits for the nth request for the log.
func (k *kubelet) requested(n int) {
	for logs := 0; logs < n; time.Sleep(5 * time.Millisecond) {
		k.mu.Lock()
		logs = k.logs
		k.mu.Unlock()
	}
}

// The follower reports that it can't list Pods.
func TestUnlisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kubelet{forbidden: true}
		f := follow(t, k)
		f.sources = []pods.Source{{Namespace: "ns"}}
		f.Drain()
		if len(k.events) != 1 || !apierrors.IsForbidden(k.events[0].(Unlisted).Err) {
			t.Errorf("%+v, want one Unlisted", k.events)
		}
	})
}

// The follower delivers a line of 5 MiB as one line, even if a response ends within it. If it has no memory for a line,
// it delivers the line in parts, and reports this. It reports a gap if a response ends within such a line.
func TestLongLine(t *testing.T) {
	for size, want := range map[int]struct{ parts, reports, gaps int }{5 << 20: {1, 0, 0}, maxLong + 2*maxLine: {2, 1, 1}} {
		synctest.Test(t, func(t *testing.T) {
			k := &kubelet{}
			k.log = func(w http.ResponseWriter, _ *http.Request, n int) {
				long := line(1, strings.Repeat("x", size))
				if n == 1 {
					long = long[:size-maxLine/2]
				}
				fmt.Fprint(w, long)
			}
			f := follow(t, k)
			k.set(f, podIn("ours", ends, corev1.PodSucceeded))
			f.Drain()
			if parts, gaps := len(k.lines), len(k.gaps()); parts != want.parts || gaps != want.gaps || len(k.events)-gaps != want.reports {
				t.Errorf("%d bytes: %d parts, %d gaps, %d events; want %+v", size, parts, gaps, len(k.events), want)
			}
			if used := f.long.Load(); used != 0 {
				t.Errorf("%d bytes of memory are not free", used)
			}
		})
	}
}

// A Pod with two containers is being deleted, but its node is gone. One container has the only stream. The other one
// waits for a stream. Drain gives up, so lines of both containers might be missing.
func TestGapsOfAnUnreachableNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kubelet{}
		k.log = func(w http.ResponseWriter, _ *http.Request, _ int) {
			refuse(w, apierrors.NewInternalError(errors.New("the kubelet is unreachable")))
		}
		f := follow(t, k)
		f.slots = &slots{free: 1}
		pod := podIn("ours", runs, corev1.PodRunning)
		pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		side := corev1.ContainerStatus{Name: "side", State: runs}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, side)
		k.set(f, pod)
		k.requested(1)
		f.Drain()
		of := map[string]int{}
		for _, gap := range k.gaps() {
			of[gap.Container.Name]++
		}
		if of["main"] != 1 || of["side"] != 1 {
			t.Errorf("gaps %+v, want one of each container", k.gaps())
		}
	})
}

// Drain reads the logs of all containers, even if containers without lines take longer than Drain waits for a line.
func TestSilentContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kubelet{}
		k.log = func(http.ResponseWriter, *http.Request, int) { time.Sleep(drainTimeout * 2 / 3) }
		f := follow(t, k)
		f.slots = &slots{free: 1}
		pod := podIn("ours", ends, corev1.PodSucceeded)
		for n := range 3 {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint(n), State: ends})
		}
		k.set(f, pod)
		f.Drain()
		if gaps := k.gaps(); len(gaps) > 0 || k.logs != 4 {
			t.Errorf("%d logs, gaps %+v, want 4 logs and no gaps", k.logs, gaps)
		}
	})
}

// A Pod is being deleted with a grace period of a year, and its container writes for another hour. If the Pod's owner
// has ended, Drain reads the lines for a short time, and warns of further lines. Otherwise Drain ends the stream.
func TestDeletedPodThatWritesOn(t *testing.T) {
	for unfinished, want := range map[types.UID]time.Duration{"another": drainTimeout, "ours": 0} {
		synctest.Test(t, func(t *testing.T) {
			k := &kubelet{}
			f := follow(t, k)
			f.sources = pods.Sources([]pods.Owner{{Namespace: "ns", Name: "p", UID: "ours"}})
			k.log = func(w http.ResponseWriter, r *http.Request, n int) {
				for i := range 3600 {
					fmt.Fprint(w, line(i, "a line"))
					if n > 1 { // the container has ended
						continue
					}
					select {
					case <-r.Context().Done():
						return
					case <-time.After(time.Second):
					}
				}
				k.set(f, podIn("ours", ends, corev1.PodSucceeded))
			}
			pod := podIn("ours", runs, corev1.PodRunning)
			pod.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(time.Hour)}
			k.set(f, pod)
			k.requested(1)
			began := time.Now()
			f.Drain(unfinished)
			took, gaps := time.Since(began).Round(time.Second), k.gaps()
			if took != want || len(gaps) != map[bool]int{true: 1}[want > 0] {
				t.Errorf("with %q unfinished: %s, want %s; gaps %+v", unfinished, took, want, gaps)
			}
		})
	}
}

// restarted returns a Pod whose container was restarted several times. The container ends when the Pod ends.
func restarted(times int32, phase corev1.PodPhase) *corev1.Pod {
	state := runs
	if phase == corev1.PodSucceeded {
		state = ends
	}
	pod := podIn("ours", state, phase)
	status := &pod.Status.ContainerStatuses[0]
	status.RestartCount, status.LastTerminationState = times, ends
	return pod
}

func (k *kubelet) gaps() (gaps []Gap) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.events {
		if gap, is := e.(Gap); is {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

var (
	runs = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ends = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
)

func podIn(uid types.UID, state corev1.ContainerState, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: uid},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}, {Name: "side"}}},
		Status: corev1.PodStatus{
			Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: state}},
		},
	}
}

// line returns a line of a log that was written some seconds after the log's beginning.
func line(second int, text string) string {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return begin.Add(time.Duration(second)*time.Second).Format(time.RFC3339Nano) + " " + text + "\n"
}

func refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.APIVersion, status.Kind = "v1", "Status"
	body, _ := json.Marshal(status)
	fakeapi.Respond(w, int(status.Code), string(body))
}

// A phase is a state of the Pod. The Pod gets this state after a number of requests for the log.
type phase struct {
	requests int
	pod      *corev1.Pod
}

// A history has the log that a kubelet serves, the changes of the Pod, and the lines that Drain must have delivered.
type history struct {
	responses []string // to the requests in order; the last one repeats
	previous  string   // the response to requests of the run before
	restarted bool     // the container was restarted before the first request, which the informer doesn't know yet
	// log writes the response instead of responses.
	log    func(k *kubelet, w http.ResponseWriter, r *http.Request, n int)
	before []phase // none for a container that has ended when it is followed
	last   *corev1.Pod
	unseen *corev1.Pod // instead of last, and the informer doesn't report it
	lines  []string    // nil if the lines don't matter
	gaps   []string    // the beginnings of their reasons
	within time.Duration
}

func (h history) respond(k *kubelet, w http.ResponseWriter, r *http.Request, n int) {
	if h.restarted && n == 1 {
		k.becomes(restarted(1, corev1.PodRunning))
	}
	text := h.responses[min(n, len(h.responses))-1]
	if r.URL.Query().Get("previous") == "true" {
		text = h.previous
	}
	fmt.Fprint(w, text)
}

func (h history) play(t *testing.T) {
	k := &kubelet{}
	if h.log == nil {
		h.log = h.respond
	}
	k.log = func(w http.ResponseWriter, r *http.Request, n int) { h.log(k, w, r, n) }
	f, began := follow(t, k), time.Now()
	f.sources = pods.Sources([]pods.Owner{{Namespace: "ns", Name: "p", UID: "ours"}})
	for _, phase := range h.before {
		k.set(f, phase.pod)
		k.requested(phase.requests)
	}
	if h.last == nil {
		h.last = podIn("ours", ends, corev1.PodSucceeded)
	}
	if h.unseen != nil {
		k.becomes(h.unseen)
	} else {
		k.set(f, h.last)
	}
	f.Drain()
	if diff := cmp.Diff(h.lines, k.lines); h.lines != nil && diff != "" {
		t.Errorf("other lines (-want +got):\n%s", diff)
	}
	gaps := k.gaps()
	if !slices.EqualFunc(gaps, h.gaps, func(g Gap, want string) bool { return strings.HasPrefix(g.Reason, want) && len(g.Reason) < 300 }) {
		t.Errorf("gaps %.300v, want short reasons %q", gaps, h.gaps)
	}
	if took := time.Since(began); h.within > 0 && took > h.within {
		t.Errorf("it took %s, want at most %s", took, h.within)
	}
}

// becomes changes the Pod in the API server, before the informer reports the change.
func (k *kubelet) becomes(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pod = pod
}

func TestHistories(t *testing.T) {
	running := func(requests int) []phase { return []phase{{requests, podIn("ours", runs, corev1.PodRunning)}} }
	whole := line(1, "first") + line(2, "second") + strings.TrimSuffix(line(3, "third"), "\n")
	within2 := strings.Index(whole, "ond\n")
	again1, _, _ := strings.Cut(whole, "st\n")
	again2, unread := whole[:within2], strings.TrimSuffix(whole, "ird")
	const tenLines = 10 // of each response
	histories := map[string]history{
		// The follower distinguishes the lines of the next run from those of the ended run, and delivers no line twice.
		"a restart before the rest of the ended run": {
			restarted: true, previous: line(1, "first"), responses: []string{line(5, "second")},
			before: []phase{{2, podIn("ours", ends, corev1.PodRunning)}}, last: restarted(1, corev1.PodSucceeded),
			lines: []string{"first", "second"},
		},
		"a restart before the first stream": {
			restarted: true, previous: line(1, "first"), responses: []string{line(5, "second")},
			before: running(1), last: restarted(1, corev1.PodSucceeded), lines: []string{"first", "second"},
		},
		"a restart and the end before the first line of a stream": {
			log: func(_ *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				if r.URL.Query().Get("previous") == "true" {
					fmt.Fprint(w, line(1, "first"))
					return
				}
				if n == 1 {
					time.Sleep(time.Second)
				}
				fmt.Fprint(w, line(5, "second"))
			},
			before: running(1), last: restarted(1, corev1.PodSucceeded), lines: []string{"first", "second"},
		},
		// The kubelet no longer has the log of the ended run.
		"a second restart before the rest of the ended run": {
			log: func(k *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				switch {
				case n == 1:
					fmt.Fprint(w, line(1, "first"))
				case r.URL.Query().Get("previous") == "true":
					k.becomes(restarted(2, corev1.PodRunning))
					fmt.Fprint(w, line(5, "second"))
				default:
					fmt.Fprint(w, line(9, "third"))
				}
			},
			before: append(running(1), phase{4, restarted(1, corev1.PodRunning)}), last: restarted(2, corev1.PodSucceeded),
			lines: []string{"first", "second", "third"}, gaps: []string{""},
		},
		// Because the container waits for its next restart, the kubelet returns the log of the next run.
		"an end of the next run before the rest of the ended run": {
			log: func(k *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				switch {
				case n == 1:
					fmt.Fprint(w, line(1, "first"))
				case r.URL.Query().Get("previous") == "true":
					waits := restarted(1, corev1.PodRunning)
					waits.Status.ContainerStatuses[0].State = corev1.ContainerState{}
					k.becomes(waits)
					fallthrough
				default:
					fmt.Fprint(w, line(5, "second"))
				}
			},
			before: append(running(1), phase{3, restarted(1, corev1.PodRunning)}), last: restarted(1, corev1.PodSucceeded),
			lines: []string{"first", "second"}, gaps: []string{"it was restarted again"},
		},
		"an empty response before an outage, in which lines may have been written": {
			log: func(_ *kubelet, w http.ResponseWriter, _ *http.Request, n int) {
				switch {
				case n < 3:
					fmt.Fprint(w, line(1, "first"))
				case n < 5:
					refuse(w, apierrors.NewInternalError(errors.New("the kubelet is unreachable")))
				default:
					refuse(w, apierrors.NewNotFound(corev1.Resource("pods"), "p"))
				}
			},
			before: running(4), last: podIn("ours", ends, corev1.PodFailed), lines: []string{"first"}, gaps: []string{""},
		},
		// The follower repeats the request as long as responses have new lines.
		"broken responses that take longer than RetryTimeout together": {
			log: func(_ *kubelet, w http.ResponseWriter, _ *http.Request, n int) {
				for i := range min(n, 30) * tenLines {
					fmt.Fprint(w, line(i, "a line"))
				}
				if n < 30 {
					time.Sleep(time.Second)
					panic(http.ErrAbortHandler)
				}
			},
			lines: slices.Repeat([]string{"a line"}, 30*tenLines),
		},
		// If a response ends within a repeated line, the log can have more lines. Text without a line break at the end
		// of the log is a line.
		"responses that end within a line": {
			responses: []string{
				whole[:within2+len("ond\n")],
				again1, again2, again1, // lines that were read before
				unread, again1, whole, unread, unread, // a line that wasn't, or only without its end
				whole,
			},
			lines: []string{"first", "second", "third"},
		},
		"a last stream that ends within a repeated line": {
			responses: []string{line(1, "first"), line(1, "first"), strings.TrimSuffix(line(1, "first"), "st\n"), line(1, "first")},
			before:    running(3), lines: []string{"first"},
		},
		"a rotated log": {
			responses: []string{line(1, "a line"), line(2, "a line")},
			lines:     []string{"a line", "a line"}, gaps: []string{"the log was rotated"},
		},
		"a rotated log without a line break at its end": {
			responses: []string{line(1, "first"), strings.TrimSuffix(line(2, "second"), "\n")},
			lines:     []string{"first", "second"}, gaps: []string{"the log was rotated"},
		},
		// The Pod can write more lines.
		"a Pod that is deleted when the wait ends": {
			log: func(_ *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				fmt.Fprint(w, line(1, "first"))
				if n > 1 {
					<-r.Context().Done()
				}
			},
			before: running(2), unseen: podIn("theirs", ends, corev1.PodSucceeded),
			lines: []string{"first"}, gaps: []string{"the Pod was deleted"},
		},
		"an endless stream after the end": {
			log: func(_ *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				for i := range 3600 {
					fmt.Fprint(w, line(i, "a line"))
					if n > 1 && i == 100 || n == 1 && apistatus.Sleep(r.Context(), time.Second) != nil {
						return
					}
				}
			},
			before: running(1), lines: slices.Repeat([]string{"a line"}, 101), within: drainTimeout + 2*time.Second,
		},
		"a container that has ended by its status, and goes on writing": {
			log: func(_ *kubelet, w http.ResponseWriter, _ *http.Request, n int) {
				for i := range n {
					fmt.Fprint(w, line(i, "a line"))
				}
				time.Sleep(time.Second)
			},
			gaps: []string{"lines come although it has ended"}, within: drainTimeout + 2*time.Second,
		},
	}
	// The node's clock is set back while the connection is broken. Responses to requests with sinceTime then lack the
	// later lines.
	for name, later := range map[string][]record{
		"other lines": {{-100, "third\n"}, {-99, "fourth\n"}}, "a repeated line": {{-100, "second\n"}}, "no lines": nil,
	} {
		records := []record{{1, "first\n"}, {2, "se"}, {3, "cond\n"}}
		histories["a clock that is set back before "+name] = history{
			log: func(_ *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 {
					readLogs(w, r, records)
					panic(http.ErrAbortHandler)
				}
				readLogs(w, r, slices.Concat(records, later))
			},
			before: running(2), lines: []string{"first", "second"}, gaps: make([]string, min(len(later), 1)),
		}
	}
	// A response with sinceTime can begin within a line that was read before. The follower doesn't retry then.
	for runtime, text := range map[string]string{"CRI-O": "Applying...", "containerd": strings.Repeat("x", 16<<10)} {
		records, want := steps(25, text, " OK")
		read := func(_ *kubelet, w http.ResponseWriter, r *http.Request, _ int) { readLogs(w, r, records) }
		histories["partial records of "+runtime] = history{log: read, lines: want, within: 5 * time.Second}
		histories["partial records of "+runtime+", and a broken response"] = history{
			log: func(k *kubelet, w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 {
					readLogs(w, r, records[:11]) // it ends within a line
					panic(http.ErrAbortHandler)
				}
				read(k, w, r, n)
			},
			before: running(3), lines: want, within: 5 * time.Second,
		}
	}
	// The kubelet reports an error as a last line without a time, with or without a line break. The follower shortens
	// it. If more lines follow a line without a time, it is no error, but its beginning might be missing.
	failure := "rpc error: " + strings.Repeat("x", 100_000)
	for end, gaps := range map[string][]string{
		failure: {"the kubelet reports: rpc error"}, failure + "\n": {"the kubelet reports: rpc error"}, line(2, "second")[:20]: nil,
		" rest\n" + line(2, "second"): {""},
	} {
		histories[fmt.Sprintf("the end %.30q", end)] = history{responses: []string{line(1, "first") + end}, gaps: gaps}
	}
	for name, h := range histories {
		t.Run(name, func(t *testing.T) { synctest.Test(t, h.play) })
	}
}

// Before the informer reports our Pod, another user's Pod has its name. The follower delivers no line of that Pod.
func TestAnotherPodOfTheName(t *testing.T) {
	for replaced, want := range map[int][]string{1: nil, 2: {"ours"}} { // by the request
		synctest.Test(t, func(t *testing.T) {
			k := &kubelet{}
			k.log = func(w http.ResponseWriter, _ *http.Request, n int) {
				if n < replaced {
					fmt.Fprint(w, line(1, "ours"))
					return
				}
				k.becomes(podIn("theirs", runs, corev1.PodRunning))
				fmt.Fprint(w, line(10, "theirs"))
			}
			f := follow(t, k)
			k.set(f, podIn("ours", runs, corev1.PodRunning))
			k.requested(3)
			f.update(podIn("ours", ends, corev1.PodSucceeded), true)
			f.Drain()
			f.update(podIn("ours", runs, corev1.PodRunning), false) // from a list that is late
			if known, is := f.pods["ours"]; known != nil || !is {
				t.Errorf("a Pod that is gone is kept: %+v", known)
			}
			if !slices.Equal(k.lines, want) {
				t.Errorf("%q, want %q", k.lines, want)
			}
		})
	}
}

// The informer is older than Drain's list. Its old state doesn't end the log of a container that has ended.
func TestInformerThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(version string, state corev1.ContainerState, phase corev1.PodPhase) *corev1.Pod {
			pod := podIn("ours", state, phase)
			pod.ResourceVersion = version
			return pod
		}
		k := &kubelet{}
		f := follow(t, k)
		f.sources = pods.Sources([]pods.Owner{{Namespace: "ns", Name: "p", UID: "ours"}})
		k.log = func(w http.ResponseWriter, _ *http.Request, n int) {
			fmt.Fprint(w, line(1, "first"))
			if n == 1 {
				<-f.ended
				f.update(at("9", runs, corev1.PodRunning), false)
				return
			}
			fmt.Fprint(w, line(2, "second"))
		}
		k.set(f, at("8", runs, corev1.PodRunning))
		k.requested(1)
		k.becomes(at("10", ends, corev1.PodSucceeded))
		f.Drain()
		if want := []string{"first", "second"}; !slices.Equal(k.lines, want) || len(k.events) > 0 {
			t.Errorf("%q, %+v, want %q and no event", k.lines, k.events, want)
		}
	})
}

// After an interrupt, the follower doesn't deliver lines that it had already read.
func TestInterruptedLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kubelet{log: func(w http.ResponseWriter, _ *http.Request, _ int) {
			fmt.Fprint(w, strings.Repeat(line(1, "a line"), 100))
		}}
		f, lines := follow(t, k), 0
		ctx, interrupt := context.WithCancel(t.Context())
		f.caller, f.config.Line = ctx, func(Container, []byte) {
			lines++
			interrupt()
		}
		k.set(f, podIn("ours", ends, corev1.PodSucceeded))
		f.Drain()
		if lines != 1 {
			t.Errorf("%d lines, want 1", lines)
		}
	})
}

// A gap begins at the last line that was delivered. That line can belong to an earlier run, or can have an earlier time
// than the line before it.
func TestBeginningOfAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kubelet{}
		k.log = func(w http.ResponseWriter, _ *http.Request, _ int) {
			fmt.Fprint(w, line(7, "of stdout")+line(5, "of stderr"))
		}
		f := follow(t, k)
		k.set(f, podIn("ours", ends, corev1.PodRunning))
		k.requested(3)
		time.Sleep(time.Second)
		k.mu.Lock()
		k.log = func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, line(20, "third")) }
		k.mu.Unlock()
		k.set(f, restarted(3, corev1.PodSucceeded))
		f.Drain()
		gaps := k.gaps()
		if want := time.Date(2026, 1, 2, 3, 4, 10, 0, time.UTC); len(gaps) != 1 || !gaps[0].From.Equal(want) {
			t.Errorf("gaps %+v, want one from %s", gaps, want)
		}
	})
}

// The follower names the ended Jobs that have no Pods.
func TestNoPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kubelet{pod: podIn("pod", ends, corev1.PodSucceeded)}
		k.pod.OwnerReferences = []metav1.OwnerReference{{UID: "has one", Controller: new(true)}}
		k.log = func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, line(1, "a line")) }
		f := follow(t, k)
		f.sources = pods.Sources([]pods.Owner{
			{Namespace: "ns", Job: true, UID: "has one"}, {Namespace: "ns", Job: true, UID: "has none"}, {Namespace: "ns", Job: true, UID: "runs"},
		})
		f.Drain("runs")
		if e, is := k.events[0].(NoPods); len(k.events) != 1 || !is || len(e.Jobs) != 1 || e.Jobs[0].UID != "has none" {
			t.Errorf("%+v, want one event for the Job that has none", k.events)
		}
	})
}

// A sidecar gives its stream to another container. It gets a stream again after all other containers.
func TestSlots(t *testing.T) {
	s := slots{free: 2}
	side1, side2, side3 := s.request(true), s.request(true), s.request(true)
	main1, main2, main3 := s.request(false), s.request(false), s.request(false)
	expect := func(want string) {
		t.Helper()
		got := ""
		for _, turn := range []*turn{side1, side2, side3, main1, main2, main3} {
			switch {
			case isClosed(turn.yields):
				got += "y"
			case isClosed(turn.begun):
				got += "b"
			default:
				got += "-"
			}
		}
		if got != want {
			t.Errorf("three sidecars and three others: %s, want %s", got, want)
		}
	}
	expect("yy----")
	s.release(side1)
	s.release(side2)
	side1 = s.request(true)
	expect("-y-bb-")
	s.release(main1)
	expect("-y-bbb")
	s.release(main2)
	expect("-ybbbb")
	s.release(main3)
	expect("bybbbb")
	if s.request(false); !isClosed(side3.yields) || isClosed(side1.yields) {
		t.Error("the first sidecar of two doesn't yield to another container")
	}
}

// record is a record of a container's log file. CRI-O ends a record after each read, even without a line break.
// containerd ends a record after 16 KiB.
type record struct {
	second int
	text   string
}

// readLogs writes records as ReadLogs of k8s.io/cri-client does. It leaves out records before sinceTime. It writes a
// time only at the beginning of a line, so a line whose beginning is left out has no time.
func readLogs(w io.Writer, r *http.Request, records []record) {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("sinceTime"))
	begins := true
	if r.URL.Query().Has("tailLines") { // it counts records, and not lines
		records = records[len(records)-1:]
	}
	for _, rec := range records {
		stamp, _, _ := strings.Cut(line(rec.second, ""), " ")
		at, _ := time.Parse(time.RFC3339Nano, stamp)
		if !at.Before(since) {
			if begins {
				fmt.Fprint(w, stamp, " ")
			}
			fmt.Fprint(w, rec.text)
		}
		begins = strings.HasSuffix(rec.text, "\n")
	}
}

// steps returns lines of two records each. The second record of a line has the time of the next line's first record.
func steps(n int, begin, end string) (records []record, lines []string) {
	for i := range n {
		records = append(records, record{10 * i, begin}, record{10 * (i + 1), end + "\n"})
		lines = append(lines, begin+end)
	}
	return records, lines
}

// A status can name containers that the Pod doesn't have. The follower ignores them.
func TestContainersOfTheStatus(t *testing.T) {
	pod := podIn("ours", ends, corev1.PodFailed)
	for i := range 20_000 {
		other := corev1.ContainerStatus{Name: fmt.Sprint("other-", i), State: ends}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, other)
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, other)
	}
	trim(pod)
	if trim(pod); len(pod.Status.ContainerStatuses) != 1 || len(pod.Status.InitContainerStatuses) > 0 {
		t.Errorf("%d and %d statuses are left", len(pod.Status.ContainerStatuses), len(pod.Status.InitContainerStatuses))
	}
}
