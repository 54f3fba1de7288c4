package follow

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// cluster is a Cluster without status subresources. It permits every verb that is not in denied.
type cluster struct {
	status bool
	denied []string
}

func (c cluster) Verbs(schema.GroupVersionResource) []string {
	if c.status {
		return []string{"get"}
	}
	return nil
}

func (c cluster) May(_ context.Context, verb string, _ schema.GroupVersionResource, _ string) bool {
	return !slices.Contains(c.denied, verb)
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

func following(t *testing.T, config Config, jobs ...string) *Follower {
	t.Helper()
	f, err := New(cluster{}, &rest.Config{Host: "http://server"}, config)
	if err != nil {
		t.Fatal(err)
	}
	f.state.Began, f.state.Ended = time.Now(), map[wait.Result]int{}
	for _, name := range jobs {
		f.state.Objects = append(f.state.Objects, aJob(name))
	}
	return f
}

func ended(name string, outcome wait.Result) wait.Ended {
	return wait.Ended{Object: aJob(name), Result: outcome, Status: finished.Status{State: finished.Succeeded}}
}

// condition returns the status of a Job with a condition.
func condition(kind string) map[string]any {
	return map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True"}}}}
}

// The wait for an object begins at the object's version. If the object already has a state that a watch would not
// report, it has no version.
func TestAdd(t *testing.T) {
	suspended, nothing := map[string]any{"spec": map[string]any{"suspend": true}}, map[string]any{}
	for name, test := range map[string]struct {
		found, input map[string]any
		want         string
	}{
		"it runs": {condition("SuccessCriteriaMet"), nothing, "7"}, "it is suspended": {suspended, nothing, ""},
		"it has succeeded": {condition("Complete"), nothing, ""}, "it has failed": {condition("Failed"), nothing, ""},
		"it was created suspended": {nothing, suspended, ""},
		"it is being deleted":      {map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-02T03:04:05Z"}}, nothing, ""},
	} {
		f := following(t, Config{})
		mapping := aJob("a").Mapping
		objects := map[string]*unstructured.Unstructured{}
		for which, content := range map[string]map[string]any{"stored": test.found, "input": test.input} {
			object := (&unstructured.Unstructured{Object: content}).DeepCopy()
			object.SetGroupVersionKind(mapping.GroupVersionKind)
			object.SetResourceVersion("7")
			objects[which] = object
		}
		got, _ := f.Add(Created{Mapping: mapping, Stored: objects["stored"], Input: objects["input"]})
		if got.Version != test.want {
			t.Errorf("%s: %+v, want the version %q", name, got, test.want)
		}
	}
}

// The state counts the unfinished objects with a fact, and has the first fact. Run yields an event for each suspension
// and each deletion.
func TestFacts(t *testing.T) {
	f := following(t, Config{}, "a", "b", "c")
	b, c := f.state.Objects[1], f.state.Objects[2]
	change := func(o wait.Object, reason string, suspended, deleting bool) wait.Change {
		return wait.Change{Object: o, Suspended: suspended, Progress: finished.Progress{Reason: reason, Deleting: deleting}}
	}
	var got []string
	for _, step := range []struct {
		event     wait.Event
		facts     int
		first     string
		suspended int
	}{
		{change(c, "third", false, false), 1, "third", 0},
		{change(b, "second", true, false), 2, "second", 1},
		{change(b, "newer", true, true), 2, "newer", 1},
		{change(b, "newest", false, true), 2, "newest", 0},
		{wait.Ended{Object: b, Result: wait.Deleted}, 1, "third", 0},
		{change(c, "", true, false), 0, "", 1},
		{wait.Ended{Object: c, Result: wait.OutOfTime, Status: finished.Status{Suspended: true}}, 0, "", 1},
	} {
		f.take(t.Context(), step.event, func(event Event) bool {
			switch e := event.(type) {
			case Suspended:
				got = append(got, e.Object.Name+" suspended")
			case Deleting:
				got = append(got, e.Object.Name+" deleting")
			}
			return true
		})
		if s := f.State(); s.Facts != step.facts || s.Fact.Progress.Reason != step.first || s.Suspended != step.suspended {
			t.Errorf("after %+v: %d facts, %+v, %d suspended; want %+v", step.event, s.Facts, s.Fact, s.Suspended, step)
		}
	}
	if want := []string{"b suspended", "b deleting", "c suspended"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// When a Job fails, it deletes its Pods. Run keeps the last reason from before the deletion.
func TestReasonBeforeTheDeletion(t *testing.T) {
	r := newReasons()
	r.note([]pods.Reason{{Owner: &pods.Owner{UID: "a"}, Reason: "Unschedulable"}})
	r.note([]pods.Reason{{Owner: &pods.Owner{UID: "a"}, Reason: pods.Terminating}})
	if r.end("a"); r.last["a"].Reason != "Unschedulable" {
		t.Errorf("%+v, want Unschedulable", r.last["a"])
	}
}

// If a Job sets its own selector, its Pods don't have the Job's label.
func TestManualSelector(t *testing.T) {
	f := following(t, Config{Logs: &Logs{}})
	job := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"manualSelector": true, "selector": map[string]any{
			"matchLabels":      map[string]any{"app": "manual"},
			"matchExpressions": []any{map[string]any{"key": "tier", "operator": "In", "values": []any{"a", "b"}}},
		},
	}}}
	f.Add(Created{Mapping: aJob("a").Mapping, Stored: job, Input: job})
	if owners := f.owned.owners; len(owners) != 1 || owners[0].Selector != "app=manual,tier in (a,b)" {
		t.Errorf("%+v, want the selector of the Job", owners)
	}
}

// A container's own restartPolicy overrides the restartPolicy of its Pod.
func TestRestarts(t *testing.T) {
	container := func(policy any) any { return map[string]any{"name": "c", "restartPolicy": policy} }
	for _, test := range []struct {
		ofPod      any
		containers []any
		want       bool
	}{
		{nil, []any{container(nil)}, true},
		{"Never", []any{container(nil)}, false},
		{"Always", []any{container("Never"), container("OnFailure")}, false},
		{"Always", []any{container("Never"), container(nil)}, true},
		{"Never", []any{container("Always")}, true},
	} {
		pod := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"restartPolicy": test.ofPod, "containers": test.containers},
		}}
		if got := restarts(pod); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// If a type has no status subresource, the server stores the status from the input. If that status has finished, it
// would be the result of the wait.
func TestFinishedInput(t *testing.T) {
	mapping := aJob("a").Mapping
	for _, subresource := range []bool{true, false} {
		for _, ended := range []bool{true, false} {
			object := &unstructured.Unstructured{Object: map[string]any{}}
			if ended {
				object.Object = condition("Complete")
			}
			object.SetGroupVersionKind(mapping.GroupVersionKind)
			f, err := New(cluster{status: subresource}, &rest.Config{}, Config{})
			if err != nil {
				t.Fatal(err)
			}
			if refusal := f.Check(t.Context(), mapping, "ci", object); (refusal != "") != (ended && !subresource) {
				t.Errorf("with a subresource %t, with the end %t: %q", subresource, ended, refusal)
			}
		}
	}
}

// The state has a failure as soon as the wait reports it, even if the caller is slow. The failure stays until the
// caller has handled its Explained. With logs, each Explained follows all ends.
func TestFailures(t *testing.T) {
	for _, logs := range []bool{false, true} {
		config := Config{}
		if logs {
			config.Logs = &Logs{}
		}
		f := following(t, config, "a", "b", "c")
		f.queue(ended("a", wait.Failed))
		f.queue(ended("b", wait.Succeeded))
		f.queue(ended("c", wait.Deleted))
		close(f.arrived)
		if s := f.State(); !s.Failed || len(s.Failures) != 1 || s.Left() != 3 {
			t.Errorf("%+v, want one failure and three objects left", s)
		}
		var got []string
		f.takeAll(t.Context(), func(event Event) bool {
			switch e := event.(type) {
			case Ended:
				got = append(got, e.Object.Name)
			case Explained:
				if len(f.State().Failures) != 1 && e.Object.Name == "a" {
					t.Error("it was forgotten before it was handled")
				}
				got = append(got, "why "+e.Object.Name)
			}
			return true
		})
		want, left := []string{"a", "why a", "b", "c", "why c"}, 0
		if logs {
			want, left = []string{"a", "b", "c"}, 1
		}
		if s := f.State(); !slices.Equal(got, want) || !s.Failed || len(s.Failures) != left || s.Left() != 0 {
			t.Errorf("with logs %t: %q, %+v", logs, got, s)
		}
	}
}

// Run yields Progress every second, and every 30 seconds with Report. The reasons in the state belong to objects that
// have not ended.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t, Config{}, "a", "b")
		reason := func(job string) pods.Reason {
			return pods.Reason{Owner: &pods.Owner{UID: apitypes.UID(job)}, Name: job}
		}
		f.setReasons(f.reasons.note([]pods.Reason{reason("a"), reason("b")}))
		go func() {
			time.Sleep(65 * time.Second)
			f.queue(ended("a", wait.Failed))
			time.Sleep(30 * time.Second)
			f.queue(ended("b", wait.Succeeded))
			close(f.arrived)
		}()
		var reports []string
		seconds := 0
		f.takeAll(t.Context(), func(event Event) bool {
			switch e := event.(type) {
			case Explained:
				if e.Reason == nil || e.Reason.Name != "a" {
					t.Errorf("%+v, want the reason of a", e)
				}
			case Progress:
				if !e.Report {
					seconds++
					break
				}
				names := ""
				for _, r := range f.State().Reasons {
					names += r.Name
				}
				reports = append(reports, names)
			}
			return true
		})
		if !slices.Equal(reports, []string{"ab", "ab", "b"}) || seconds < 93 {
			t.Errorf("reports %q, %d seconds, want ab, ab and b, and at least 93", reports, seconds)
		}
	})
}

// A failed Job or Pod has logs, unless its Pods or their containers were deleted. If an init container has failed, the
// other containers have no logs.
func TestPodsRemain(t *testing.T) {
	const ran, failedInit = `{"metadata":{"uid":"a"}}`, `{"metadata":{"uid":"a"},"spec":{"initContainers":[
		{"name":"sidecar","restartPolicy":"Always"},{"name":"db"}]},"status":{"initContainerStatuses":[
		{"name":"db","state":{"terminated":{"exitCode":1}}},{"name":"sidecar","state":{"terminated":{"exitCode":137}}}]}}`
	for _, test := range []struct {
		job          bool
		reason, pods string
		remain       bool
		container    string
	}{
		{true, "BackoffLimitExceeded", ran, true, ""},
		{true, "BackoffLimitExceeded", failedInit, true, "db"},
		{true, "BackoffLimitExceeded", "", false, ""},
		{true, "DeadlineExceeded", ran, false, ""},
		{false, "", failedInit, true, "db"},
		{false, "DeadlineExceeded", ran, true, ""},
		{false, "Evicted", ran, false, ""},
	} {
		f, err := New(cluster{}, fakeapi.Direct(func(w http.ResponseWriter, _ *http.Request) {
			fakeapi.Respond(w, http.StatusOK, `{"apiVersion":"v1","kind":"PodList","items":[`+test.pods+`]}`)
		}), Config{})
		if err != nil {
			t.Fatal(err)
		}
		f.owned.owners = []pods.Owner{{Namespace: "ci", Name: "a", UID: "a", Job: test.job}}
		end := ended("a", wait.Failed)
		end.Status.State, end.Status.Reason = finished.Failed, test.reason
		if remain, container := f.podsRemain(t.Context(), end); remain != test.remain || container != test.container {
			t.Errorf("%+v: %t, %q", test, remain, container)
		}
	}
}

// After a slow list, the pause is at most a minute. After a slow failure, the pause is as short as usual.
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
			client, err := typedcore.NewForConfig(fakeapi.Direct(func(w http.ResponseWriter, _ *http.Request) {
				if pauses = append(pauses, time.Since(ended)); len(pauses) == 5 {
					cancel()
					return
				}
				time.Sleep(test.took)
				ended = time.Now()
				fakeapi.Respond(w, test.code, `{"apiVersion":"v1","kind":"PodList"}`)
			}))
			if err != nil {
				t.Fatal(err)
			}
			why := newReasons()
			why.sources = pods.Sources([]pods.Owner{{Namespace: "ci", Name: "a", UID: "a"}})
			found := why.list(ctx, client)
			for ctx.Err() == nil {
				select {
				case <-found:
				case <-ctx.Done():
				}
			}
			if got := pauses[len(pauses)-1]; got != test.pause {
				t.Errorf("after %s and %d: the pauses are %s, want %s", test.took, test.code, pauses[1:], test.pause)
			}
		})
	}
}

// With permission to get, Check refuses a wait only for too many copies. Without it, Check refuses each wait.
func TestPermission(t *testing.T) {
	for _, test := range []struct {
		denied []string
		copies []int // of the documents
		want   string
	}{
		{nil, []int{1000}, ""},
		{[]string{"get"}, []int{1000}, ""},
		{[]string{"list"}, []int{wait.MaxPolled}, ""},
		{[]string{"watch"}, []int{wait.MaxPolled, 1}, "it can wait for up to 20 objects"},
		{[]string{"list", "get"}, []int{1}, `--wait needs permission to list and watch jobs.batch in "ci", or to get them`},
	} {
		c := newChecks(cluster{denied: test.denied}, Config{})
		refusal := ""
		for _, copies := range test.copies {
			if refusal != "" {
				t.Errorf("without %q: refused before the last document: %s", test.denied, refusal)
			}
			refusal = c.permission(t.Context(), aJob("a").Mapping.Resource, "ci", copies)
		}
		if !strings.Contains(refusal, test.want) || (test.want == "") != (refusal == "") {
			t.Errorf("without %q, %v copies: %q, want %q", test.denied, test.copies, refusal, test.want)
		}
	}
}
