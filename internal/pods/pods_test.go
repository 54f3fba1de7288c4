package pods

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// A Pod's reason comes from its scheduling, or from the first waiting container that has a reason.
func TestWhy(t *testing.T) {
	for status, want := range map[string]string{
		`{phase: Running, conditions: [{type: PodScheduled, status: "True"}], containerStatuses: [{name: a, state: {running: {}}}]}`: ": ",

		`{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated, message: gates}]}`: "SchedulingGated: gates",

		`{phase: Pending, initContainerStatuses: [{name: i, state: {waiting: {reason: ImagePullBackOff, message: "Back-off"}}}],` +
			` containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}]}`: "ImagePullBackOff: Back-off",

		`{phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}},` +
			` {name: b, state: {waiting: {reason: CreateContainerConfigError, message: no secret}}}]}`: "CreateContainerConfigError: no secret",

		`{phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}]}`: "ContainerCreating: ",

		`{phase: Running, containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}}]}`: "CrashLoopBackOff: back-off 10s",

		`{phase: Unknown, reason: NodeLost, message: Node n is unresponsive}`: "NodeLost: Node n is unresponsive",

		`{phase: Running, containerStatuses: [{name: main, state: {terminated: {exitCode: 3}}}, {name: proxy, state: {running: {}}}]}`: "proxy runs on: main ended with exit code 3",

		`{phase: Running, containerStatuses: [{name: main, state: {terminated: {exitCode: 0}}}],` +
			` initContainerStatuses: [{name: sidecar, started: true, state: {running: {}}}]}`: "sidecar runs on: main ended with exit code 0",

		`{phase: Pending, initContainerStatuses: [{name: wait-for-db, state: {running: {startedAt: "2026-01-02T03:04:05Z"}}}],` +
			` containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}`: "init container wait-for-db runs: since 2026-01-02T03:04:05Z",

		`{phase: Pending, initContainerStatuses: [{name: sidecar, started: false, state: {running: {}}}],` +
			` containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}`: "sidecar sidecar runs: its startup probe has not succeeded",

		`{phase: Running, initContainerStatuses: [{name: sidecar, started: true, state: {running: {}}}],` +
			` containerStatuses: [{name: main, state: {running: {}}}]}`: ": ",
	} {
		if reason, message := why(podWith(t, status), time.Now()); reason+": "+message != want {
			t.Errorf("%s: %q, want %q", status, reason+": "+message, want)
		}
	}
	restarts := podWith(t, `{containerStatuses: [{name: main, state: {terminated: {exitCode: 3}}}, {name: proxy, state: {running: {}}}]}`)
	restarts.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	if reason, _ := why(restarts, time.Now()); reason != "" {
		t.Errorf("a container that is restarted has the reason %q, want none", reason)
	}
}

// podWith returns a Pod with the given status. Its init container "sidecar" runs until the Pod ends.
func podWith(t *testing.T, status string) *corev1.Pod {
	t.Helper()
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, NodeName: "n",
		InitContainers: []corev1.Container{{Name: "sidecar", RestartPolicy: &always}, {Name: "wait-for-db"}},
	}}
	if err := yaml.Unmarshal([]byte(status), &pod.Status); err != nil {
		t.Fatal(err)
	}
	return pod
}

// A Pod that is being deleted can run until its deletionTimestamp. On a lost node, it never ends.
func TestTerminating(t *testing.T) {
	pod := podWith(t, `{phase: Running, conditions: [{type: DisruptionTarget, status: "True", reason: DeletionByTaintManager, message: taint}]}`)
	due := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod.DeletionTimestamp = &metav1.Time{Time: due}
	for now, want := range map[time.Time]string{
		due.Add(-time.Second): "it can run until 2026-01-02T03:04:05Z (DeletionByTaintManager: taint)",
		due.Add(time.Second):  "it should have ended at 2026-01-02T03:04:05Z, but its node n has not reported the end (DeletionByTaintManager: taint)",
	} {
		if reason, message := why(pod, now); reason != Terminating || message != want {
			t.Errorf("%s: %s, want %s: %s", reason, message, Terminating, want)
		}
	}
	pod.Spec.NodeName, pod.Finalizers, pod.Status.Conditions = "", []string{"a/b", "c/d"}, nil
	if _, message := why(pod, due.Add(time.Second)); message != "held by the finalizer a/b, c/d" {
		t.Errorf("without a node: %s", message)
	}
}

// listing returns a client of a server with these lists of Pods and Events. If a list is empty, the server denies it.
// The server also denies all lists in the namespace "denied".
func listing(t *testing.T, pods, events string) typedcore.CoreV1Interface {
	t.Helper()
	client, err := typedcore.NewForConfig(fakeapi.Direct(func(w http.ResponseWriter, r *http.Request) {
		kind, items := "PodList", pods
		if path.Base(r.URL.Path) == "events" {
			kind, items = "EventList", events
		}
		if items == "" || strings.Contains(r.URL.Path, "/denied") {
			fakeapi.Respond(w, http.StatusForbidden, `{"apiVersion":"v1","kind":"Status","reason":"Forbidden","code":403}`)
			return
		}
		fakeapi.Respond(w, http.StatusOK, fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"items":[%s]}`, kind, strings.TrimPrefix(items, none)))
	}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// none stands for a list that the client can read, but that has no objects.
const none = "none"

// The newest Event explains why containers or Pods are not created. The clocks of nodes don't matter. Without
// permission to list Events, Reasons returns the reason in the Pod's status.
func TestEvents(t *testing.T) {
	event := func(version, second int, kind, reason string) string {
		return fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"},"involvedObject":{"uid":"u"},"lastTimestamp":"2026-01-02T03:04:%02dZ","type":%q,"reason":%q,"message":"because"}`,
			version, second, kind, reason)
	}
	const creating = `{"metadata":{"name":"p","uid":"u"},"status":{"phase":"Pending","containerStatuses":[{"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}]}}`
	exceeded := event(9, 1, "Warning", "FailedCreate")
	for _, test := range []struct{ pods, events, want string }{
		{creating, "", "ContainerCreating: "},
		{creating, none, "ContainerCreating: "},
		{creating, event(10, 5, "Warning", "FailedMount") + "," + event(9, 4, "Warning", "FailedCreatePodSandBox"), "FailedMount: because"},
		{creating, event(10, 4, "Warning", "FailedMount") + "," + event(9, 5, "Normal", "Scheduled"), "FailedMount: because"},
		{creating, event(9, 5, "Warning", "FailedMount") + "," + event(10, 6, "Normal", "Pulling"), "ContainerCreating: because"},
		{none, exceeded, "FailedCreate: because"},
		{none, exceeded + "," + event(10, 2, "Normal", "Resumed"), "FailedCreate: because"},
		{none, exceeded + "," + event(10, 2, "Normal", "SuccessfulCreate"), ""},
	} {
		sources := Sources([]Owner{{Namespace: "ns", Name: "p", UID: "u", Job: test.pods == none}})
		reasons, err := Reasons(t.Context(), listing(t, test.pods, test.events), sources)
		got := ""
		for _, r := range reasons {
			got += r.Reason + ": " + r.Message
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.events, got, err, test.want)
		}
	}
}

// If the Pods of one namespace can't be listed, Reasons still returns the reasons of other namespaces.
func TestReasonsOfSeveralNamespaces(t *testing.T) {
	client := listing(t, `{"metadata":{"name":"p","uid":"u"},
		"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`, "")
	for want, namespaces := range map[int][]string{1: {"denied-a", "allowed", "denied-b"}, 0: {"denied-a", "denied-b"}} {
		var owners []Owner
		for _, namespace := range namespaces {
			owners = append(owners, Owner{Namespace: namespace, Name: "p", UID: "u"})
		}
		if got, err := Reasons(t.Context(), client, Sources(owners)); len(got) != want || apierrors.IsForbidden(err) != (want == 0) {
			t.Errorf("%q: %+v, %v, want %d", namespaces, got, err, want)
		}
	}
}

// The selector of a source names its Jobs if there are few. Each Job with manualSelector has a separate source.
func TestSources(t *testing.T) {
	many := make([]Owner, maxNamed+1)
	for i := range many {
		many[i] = Owner{Namespace: "c", Job: true, Name: fmt.Sprint(i)}
	}
	var got []string
	for _, s := range Sources(append([]Owner{
		{Namespace: "a", Name: "y", Job: true},
		{Namespace: "a", Name: "x", Job: true},
		{Namespace: "a", Name: "m", Job: true, Selector: "app=m"},
		{Namespace: "b", Name: "p"},
		{Namespace: "d", Name: "p"},
		{Namespace: "d", Name: "q"},
	}, many...)) {
		got = append(got, fmt.Sprintf("%s: %d, %s%s", s.Namespace, len(s.Owners), s.Options.LabelSelector, s.Options.FieldSelector))
	}
	want := []string{
		"a: 2, job-name in (x,y)", "a: 1, app=m", "b: 1, metadata.name=p", "d: 2, ", fmt.Sprintf("c: %d, job-name", maxNamed+1),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of returns the controller of a Pod, or the Pod itself if it is an owner. It ignores Pods of other Jobs.
func TestOf(t *testing.T) {
	source := Sources([]Owner{{UID: "job", Job: true}, {UID: "other", Job: true}})[0]
	alone := Sources([]Owner{{UID: "pod"}})[0]
	pod := func(controller types.UID) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "pod"}}
		if controller != "" {
			p.OwnerReferences = []metav1.OwnerReference{{UID: controller, Controller: new(true)}}
		}
		return p
	}
	for name, test := range map[string]struct {
		source Source
		pod    *corev1.Pod
		want   bool
	}{
		"of a Job":       {source, pod("job"), true},
		"of another Job": {source, pod("foreign"), false},
		"of no Job":      {source, pod(""), false},
		"itself":         {alone, pod(""), true},
		"itself, owned":  {alone, pod("foreign"), true},
	} {
		if got := test.source.Of(test.pod) != nil; got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
