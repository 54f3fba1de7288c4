package create

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

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

// jobServer is a server of Jobs, whose UIDs are their names. Each DELETE succeeds, except for a Job with the name.
func jobServer(undeletable string) *rest.Config {
	return fakeapi.Direct(func(w http.ResponseWriter, r *http.Request) {
		name, code := path.Base(r.URL.Path), http.StatusOK
		if r.Method == http.MethodDelete && name == undeletable {
			code = http.StatusForbidden
		}
		fakeapi.Respond(w, code, fmt.Sprintf(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"uid":%q,"resourceVersion":"1"}}`, name))
	})
}

// add adds a Job that the run has created to those that a follower waits for.
func add(follower *follow.Follower, name string) {
	stored := configMap(name)
	stored.SetUID(apitypes.UID(name))
	follower.Add(follow.Created{Mapping: aJob("a").Mapping, Namespace: "ci", Stored: stored, Input: stored, Ours: true})
}

// A line about a deleted object that can't be written is an error of the run.
func TestDeletedWithoutALine(t *testing.T) {
	r, e := afterInterrupt(t, jobServer(""), 1), &ending{}
	r.printer.out = gone{}
	r.deleteCreated(e)
	if len(e.deleted) != 1 || len(e.errs) != 1 {
		t.Errorf("deleted %q with the errors %v, want one of each", e.deleted, e.errs)
	}
}

// --qps doesn't hold up deletions, which have a few seconds.
func TestDeletionsHaveNoLimit(t *testing.T) {
	o, config := optionsWith(genericiooptions.NewTestIOStreamsDiscard()), jobServer("")
	o.flags.wait, o.flags.deletes = true, true
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(1e-6, 1)
	config.RateLimiter.Accept()
	follower, err := o.follower(nil, config)
	if err != nil {
		t.Fatal(err)
	}
	add(follower, "a")
	if end := <-follower.Delete(); end.Err != nil || end.Result != wait.Deleted {
		t.Errorf("%+v, want that it was deleted", end)
	}
}

// afterInterrupt returns the results of a run that was interrupted while it waited for n Jobs that it had created.
func afterInterrupt(t *testing.T, config *rest.Config, n int) *results {
	t.Helper()
	follower, err := follow.New(nil, config, follow.Config{Deletes: config})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		add(follower, fmt.Sprint(i))
	}
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	r := &results{
		flags: &ownCreateFlags{deletes: true}, stderr: terminal.NewStderr(io.Discard), follower: follower,
		printer: &printer{format: formatLines, out: &strings.Builder{}},
	}
	for event := range follower.Run(interrupted) {
		r.followed(event)
	}
	return r
}

// The memory for the results of objects grows with their number, and not with the square of the number.
func TestManyEnds(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := afterInterrupt(t, jobServer(""), 3000)
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 200 || r.follower.State().Unfinished() != 3000 {
		t.Errorf("%d unfinished, %d MiB were allocated, want 3000 and no more than 200", r.follower.State().Unfinished(), took)
	}
}

// An object that has finished since the interrupt is not deleted, and has its usual result.
func TestFinishedSinceTheInterrupt(t *testing.T) {
	for condition, want := range map[string]struct {
		code int
		line string
	}{
		"Complete": {0, "Waited for 1 object: 1 succeeded, 0 failed, 0 unfinished."},
		"Failed":   {exitcode.ObjectFailed, "error: job.batch/0 has failed"},
	} {
		server := fakeapi.Direct(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				t.Errorf("%s: a %s", condition, r.Method)
			}
			fakeapi.Respond(w, http.StatusOK, fmt.Sprintf(
				`{"kind":"Job","apiVersion":"batch/v1","metadata":{"uid":"0"},"status":{"conditions":[{"type":%q,"status":"True"}]}}`, condition))
		})
		r := afterInterrupt(t, server, 1)
		e := &ending{flags: &ownCreateFlags{}, interrupted: true}
		e.Documents, e.Totals = 1, create.Totals{protocol.Created: 1}
		r.deleteCreated(e)
		printed, err := e.result()
		code := 0
		if err != nil {
			_, code = exitcode.Describe(err)
		}
		if text := lines(append(e.notes(), printed...)...); code != want.code || text != want.line {
			t.Errorf("%s: exit code %d and\n%s\nwant %d and\n%s", condition, code, text, want.code, want.line)
		}
	}
}

// With -o jsonl, each object has one result, also if it was unfinished before it was deleted.
func TestResultsAfterAnInterrupt(t *testing.T) {
	r := afterInterrupt(t, jobServer("1"), 2)
	r.deleteCreated(&ending{})
	result := func(is, name string) string {
		return fmt.Sprintf(`{"result":%q,"apiVersion":"batch/v1","kind":"Job","namespace":"ci","name":%q,"uid":%q}`, is, name, name)
	}
	if got, want := fmt.Sprint(r.printer.out), lines(result("Deleted", "0"), result("Unfinished", "1"), ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The last lines name all objects that the run has deleted after an interrupt. None of them was deleted by others.
func TestManyDeleted(t *testing.T) {
	const n = follow.MaxExplained + 2
	r, e := afterInterrupt(t, jobServer(""), n), &ending{flags: &ownCreateFlags{}, interrupted: true}
	r.deleteCreated(e)
	text := strings.Join(e.waitClosing(), "\n")
	if want := fmt.Sprintf("error: interrupted: 0 succeeded, 0 failed, 0 unfinished, %d deleted", n); len(e.deleted) != n || !strings.HasSuffix(text, want) || strings.Contains(text, "more objects") {
		t.Errorf("%d deleted, %q:\n%s\nwant %d, none, and\n%s", len(e.deleted), e.undeleted, text, n, want)
	}
}

// If the response to a POST was lost, the creator of the object can be another run with the key. So an interrupt
// doesn't delete the object.
func TestOursAfterALostResponse(t *testing.T) {
	for key, want := range map[idempotency.Key]int{"": 1, "k": 0} {
		follower, err := follow.New(nil, &rest.Config{}, follow.Config{Deletes: &rest.Config{}})
		if err != nil {
			t.Fatal(err)
		}
		r := &results{flags: &ownCreateFlags{keys: keyflags.Flags{Key: key}}, follower: follower, printer: &printer{}}
		stored := configMap("demo-1")
		stored.SetUID("1")
		r.await(create.Outcome{Document: demo(), Result: exactlyonce.Result{Outcome: protocol.Created, Object: stored, Reread: true}})
		if ours := follower.Ours(); len(ours) != want {
			t.Errorf("with the key %q: %+v, want %d", key, ours, want)
		}
	}
}

// reasonOf returns the reason of the Pod of a Job.
func reasonOf(job string) pods.Reason {
	return pods.Reason{
		Owner: &pods.Owner{Namespace: "ci", Name: job, UID: apitypes.UID(job), Job: true},
		Kind:  "Pod", Name: job + "-x", Reason: "Unschedulable", Message: "0/3 nodes are available",
	}
}

// Without a terminal, a line reports why nothing runs. While all Pods run, there is a line every five minutes, because a
// CI system ends a job that prints nothing.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := follow.State{Objects: []wait.Object{aJob("a"), aJob("b")}, Ended: map[wait.Result]int{}, Began: time.Now()}
		for _, want := range []string{"", "Waiting for 4m30s: 0 succeeded, 0 failed, 2 unfinished.", ""} {
			if got := reportOf(s); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			time.Sleep(270 * time.Second)
		}
		s.Began = time.Now().Add(-90 * time.Second)
		s.Ended[wait.Succeeded], s.Reasons = 1, []pods.Reason{reasonOf("a"), reasonOf("b")}
		want := "Waiting for 1m30s: 1 succeeded, 0 failed, 1 unfinished. Pod a-x: Unschedulable: 0/3 nodes are available (and 1 more)"
		if got := reportOf(s); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
}

// The line of the progress has the reason.
func TestProgressOfTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := follow.State{Objects: []wait.Object{aJob("a")}, Began: time.Now()}
		two := follow.State{Objects: []wait.Object{aJob("a"), aJob("b")}, Began: time.Now()}
		time.Sleep(90 * time.Second)
		for want, s := range map[string]follow.State{
			"waiting for 1m30s: Pod a-x: Unschedulable: 0/3 nodes are available":               one,
			"waiting for 1m30s: 2 unfinished. Pod a-x: Unschedulable: 0/3 nodes are available": two,
		} {
			if got := progressOf(s, true); !strings.HasPrefix(got, "waiting for 1m30s: 0 succeeded") {
				t.Errorf("%q, want waiting for 1m30s: 0 succeeded, and more", got)
			}
			s.Reasons = []pods.Reason{reasonOf("a")}
			if got := progressOf(s, true); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		one.Ended = map[wait.Result]int{wait.Succeeded: 1}
		if got := progressOf(one, true); !strings.HasPrefix(got, "reading the last lines of the logs: 1 succeeded") {
			t.Errorf("%s, want that logs are read, because the wait is over", got)
		}
	})
}

// A Job that fails at its deadline has the reason why its Pod didn't run. Kubernetes has deleted the Pod.
func TestDeadline(t *testing.T) {
	reason := reasonOf("a")
	e := follow.Explained{Reason: &reason, Ended: wait.Ended{
		Object: aJob("a"), Result: wait.Failed, Status: finished.Status{State: finished.Failed, Reason: "DeadlineExceeded"},
	}}
	for logs, deleted := range map[bool]string{
		false: ", and their logs.", true: ". The lines above are all that is left of their logs.",
	} {
		want := "error: job.batch/a has failed (DeadlineExceeded)\nPod a-x: Unschedulable: 0/3 nodes are available\n" +
			"If Pods of this Job were unfinished, Kubernetes has deleted them" + deleted + "\n  kubectl describe job/a -n ci"
		if got := endOf(e.Ended) + afterFailure(e, logs); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	e.PodsRemain, e.Container = true, "db"
	if got := afterFailure(e, false); got != "\n  kubectl logs job/a -n ci -c db" {
		t.Errorf("with an init container that has failed:%s", got)
	}
}

// The end names some of many reasons.
func TestReasonsAtTheEnd(t *testing.T) {
	var many []pods.Reason
	for range maxShown + 2 {
		many = append(many, reasonOf("a"))
	}
	lines := reasonLines(many)
	if len(lines) != maxShown+1 || !strings.HasSuffix(lines[1], "available\n  kubectl describe pod/a-x -n ci") || lines[maxShown] != "(and 2 more)" {
		t.Errorf("%q, want %d reasons with commands, and the number of the others", lines, maxShown)
	}
}

// If a wait ends without a result, the last lines explain the effect of a second run.
func TestWaitingAgain(t *testing.T) {
	const (
		goesOn      = "Run the same command again. It creates nothing twice, and goes on waiting."
		again       = "Run the same command again. It creates deleted objects again, and waits for all."
		doesNot     = "Don't run the command again to go on waiting. It would create the objects a second time."
		exists      = "Don't run the command again to go on waiting. It would report AlreadyExists."
		anotherTime = "If you run the command again, it creates the objects again."
	)
	for outcome, want := range map[wait.Result]struct{ keyed, notKeyed, fixedNames string }{
		wait.Abandoned: {goesOn, doesNot, exists}, wait.OutOfTime: {goesOn, doesNot, exists},
		wait.Interrupted: {goesOn, doesNot, exists}, wait.Deleted: {again, anotherTime, anotherTime},
		wait.Replaced: {again, anotherTime, anotherTime}, wait.Failed: {},
	} {
		for name, test := range map[string]struct {
			key, want string
			again     int
		}{"with a key": {"k", want.keyed, 1}, "without a key": {"", want.notKeyed, 1}, "with fixed names": {"", want.fixedNames, 0}} {
			e := &ending{flags: &ownCreateFlags{keys: keyflags.Flags{Key: idempotency.Key(test.key)}}}
			e.Again = test.again
			e.followed = follow.State{Objects: []wait.Object{aJob("a")}, Began: time.Now(), Ended: map[wait.Result]int{outcome: 1}}
			if outcome == wait.OutOfTime || outcome == wait.Interrupted {
				e.followed.Running = []wait.Ended{{Object: aJob("a"), Result: outcome}}
			}
			text := strings.Join(e.waitClosing(), "\n")
			if test.want == "" && strings.Contains(text, " again") || !strings.Contains(text, test.want) {
				t.Errorf("%s, %s:\n%s\nwant\n%s", outcome, name, text, test.want)
			}
			if hangs := strings.Join(e.lastLines(), "\n"); test.want != "" && !strings.Contains(hangs, test.want) {
				t.Errorf("%s, %s, interrupted again:\n%s\nwant\n%s", outcome, name, hangs, test.want)
			}
		}
	}
}

// Objects that are being deleted are listed apart. The newest fact about each object is at the end.
func TestAboutRunning(t *testing.T) {
	e := &ending{flags: &ownCreateFlags{}}
	e.followed = follow.State{Objects: []wait.Object{aJob("a"), aJob("b")}, Began: time.Now(), Running: []wait.Ended{
		{Object: aJob("a"), Progress: finished.Progress{Reason: "being deleted", Message: "held by the finalizer x", Deleting: true}},
		{Object: aJob("b")},
	}}
	want := `These objects have not finished:
  kubectl get --watch job.batch/b -n ci
  kubectl describe job.batch/b -n ci
These objects are being deleted:
  kubectl get --watch job.batch/a -n ci
  kubectl describe job.batch/a -n ci
Job a: being deleted: held by the finalizer x`
	if got := strings.Join(e.aboutRunning(), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	e.followed.Facts, e.followed.Fact = 1, wait.Change{Object: aJob("a"), Progress: e.followed.Running[0].Progress}
	e.followed.Reasons = []pods.Reason{reasonOf("b")}
	want = "Waiting for 0s: 0 succeeded, 0 failed, 2 unfinished. Job a: being deleted: held by the finalizer x (and 1 more)"
	if got := reportOf(e.followed); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The commands that stop objects are quoted, one for each namespace. Objects that are being deleted need none.
func TestAboutStopping(t *testing.T) {
	running := func(namespace, name string) wait.Ended {
		o := aJob(name)
		o.Namespace, o.UID = namespace, apitypes.UID(namespace+name)
		return wait.Ended{Object: o, Result: wait.Interrupted}
	}
	late, deleting, namespace := running("ci", "late"), running("ci", "deleting"), running("", "prod")
	late.Result, deleting.Progress.Deleting = wait.OutOfTime, true
	namespace.Object.Mapping = &meta.RESTMapping{Resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}}
	e := &ending{}
	if lines := e.aboutStopping(); lines != nil {
		t.Errorf("%q, want nothing", lines)
	}
	e.followed.Running = []wait.Ended{running("ci", "b"), running("ci", "$(a)"), late, deleting, namespace, running("x", "\x1b")}
	e.left = []wait.Object{e.followed.Running[0].Object}
	want := "To stop the objects, delete them:\n  kubectl delete 'job.batch/$(a)' job.batch/b -n ci\n  kubectl delete $'job.batch/\\x1b' -n x"
	if got := strings.Join(e.aboutStopping(), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	e.followed.Running = nil
	for n := range maxShown + 2 {
		e.followed.Running = append(e.followed.Running, running("ci", fmt.Sprint(n)))
	}
	if lines := e.aboutStopping(); lines[0] != "To stop the objects, delete them (the first 10 of 13):" || strings.Count(lines[1], "job.batch/") != maxShown {
		t.Errorf("%q, want the first %d of 13", lines, maxShown)
	}
}
