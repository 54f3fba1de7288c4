package create

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// waitingFor returns results that wait for Jobs, and their stderr.
func waitingFor(jobs ...string) (*results, *bytes.Buffer) {
	var errOut bytes.Buffer
	streams := genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &errOut}
	r := &results{
		options: optionsWith(streams), ctx: context.Background(),
		warned: map[string]bool{},
	}
	r.waiting = waiting{
		ended: map[wait.Outcome]int{}, suspended: map[wait.Object]bool{}, began: time.Now(),
		why: podReasons{last: map[apitypes.UID]pods.Reason{}, ended: map[apitypes.UID]bool{}},
	}
	for _, name := range jobs {
		r.waiting.objects = append(r.waiting.objects, aJob(name))
	}
	return r, &errOut
}

func aJob(name string) wait.Object {
	return wait.Object{
		Mapping: &meta.RESTMapping{
			Resource:         schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"},
			GroupVersionKind: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"},
			Scope:            meta.RESTScopeNamespace,
		},
		Namespace: "ci", Name: name, UID: apitypes.UID(name),
	}
}

// reasonOf returns the reason of the Pod of a Job.
func reasonOf(job string) pods.Reason {
	return pods.Reason{
		Owner: &pods.Owner{Namespace: "ci", Name: job, UID: apitypes.UID(job), Job: true},
		Kind:  "Pod", Name: job + "-x", Reason: "Unschedulable", Message: "0/3 nodes are available",
	}
}

// Without a terminal, a line reports every 30 seconds why nothing runs, and nothing while all Pods run.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, errOut := waitingFor("a", "b")
		in, events := queue[wait.Event]()
		go func() {
			defer close(in)
			time.Sleep(65 * time.Second)
			in <- wait.Ended{Object: aJob("a"), Outcome: wait.Succeeded}
			time.Sleep(30 * time.Second)
			in <- wait.Ended{Object: aJob("b"), Outcome: wait.Succeeded}
			time.Sleep(60 * time.Second)
		}()
		r.waiting.why.note([]pods.Reason{reasonOf("a"), reasonOf("b")})
		r.takeAll(events)
		want := strings.Join([]string{
			"Waiting for 30s: 0 succeeded, 0 failed, 2 running. Pod a-x: Unschedulable: 0/3 nodes are available (and 1 more)",
			"Waiting for 1m0s: 0 succeeded, 0 failed, 2 running. Pod a-x: Unschedulable: 0/3 nodes are available (and 1 more)",
			"Waiting for 1m30s: 1 succeeded, 0 failed, 1 running. Pod b-x: Unschedulable: 0/3 nodes are available", "",
		}, "\n")
		if got := errOut.String(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
}

// The line of the progress has the reason.
func TestProgressOfTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, _ := waitingFor("a")
		two, _ := waitingFor("a", "b")
		time.Sleep(90 * time.Second)
		for want, r := range map[string]*results{
			"waiting for 1m30s: Pod a-x: Unschedulable: 0/3 nodes are available":            one,
			"waiting for 1m30s: 2 running. Pod a-x: Unschedulable: 0/3 nodes are available": two,
		} {
			if got := r.waiting.progress(); !strings.HasPrefix(got, "waiting for 1m30s: 0 succeeded") {
				t.Errorf("%s", got)
			}
			r.waiting.why.note([]pods.Reason{reasonOf("a")})
			if got := r.waiting.progress(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

// A Job that fails at its deadline has the reason why its Pod didn't run. Kubernetes has deleted the Pod.
func TestDeadline(t *testing.T) {
	for _, logs := range []bool{false, true} {
		r, errOut := waitingFor("a")
		r.flags.logs = logs
		r.waiting.why.note([]pods.Reason{reasonOf("a")})
		r.takeWait(wait.Ended{
			Object: aJob("a"), Outcome: wait.Failed, Status: finished.Status{State: finished.Failed, Reason: "DeadlineExceeded"},
		})
		deleted := ", and their logs."
		if logs {
			deleted = ". The lines above are all that is left of their logs."
		}
		want := "error: job.batch/a has failed (DeadlineExceeded)\nPod a-x: Unschedulable: 0/3 nodes are available\n" +
			"Kubernetes has deleted the unfinished Pods of this Job" + deleted + "\n  kubectl describe job/a -n ci\n"
		if got := errOut.String(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// The end names some of many reasons.
func TestReasonsAtTheEnd(t *testing.T) {
	var many []pods.Reason
	for range maxShown + 2 {
		many = append(many, reasonOf("a"))
	}
	lines := reasonLines(many)
	if len(lines) != 2*maxShown+1 || lines[1] != "  kubectl describe pod/a-x -n ci" || lines[2*maxShown] != "(and 2 more)" {
		t.Errorf("%q", lines)
	}
}

// roundTrip responds to requests in place of a server.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The pause after a slow list is at most a minute, and after a slow failure it is as short as always.
func TestPausesOfSlowLists(t *testing.T) {
	for _, test := range []struct {
		took, pause time.Duration
		code        int
	}{
		{time.Millisecond, longestPending, http.StatusOK},
		{time.Second, 20 * time.Second, http.StatusOK},
		{10 * time.Second, time.Minute, http.StatusOK},
		{10 * time.Second, longestPending, http.StatusInternalServerError},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var ended time.Time
			var pauses []time.Duration
			server := roundTrip(func(r *http.Request) (*http.Response, error) {
				if pauses = append(pauses, time.Since(ended)); len(pauses) == 5 {
					cancel()
					return nil, ctx.Err()
				}
				time.Sleep(test.took)
				ended = time.Now()
				return &http.Response{
					StatusCode: test.code, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(`{"apiVersion":"v1","kind":"PodList"}`)), Request: r,
				}, nil
			})
			client, err := typedcore.NewForConfig(&rest.Config{Host: "http://server", Transport: server, QPS: -1})
			if err != nil {
				t.Fatal(err)
			}
			why := podReasons{client: client, sources: pods.Sources([]pods.Owner{{Namespace: "ci", Name: "a", UID: "a"}})}
			reasons := why.list(ctx)
			for ctx.Err() == nil {
				select {
				case <-reasons:
				case <-ctx.Done():
				}
			}
			if got := pauses[len(pauses)-1]; got != test.pause {
				t.Errorf("after %s and %d: the pauses are %s, want %s", test.took, test.code, pauses[1:], test.pause)
			}
		})
	}
}
