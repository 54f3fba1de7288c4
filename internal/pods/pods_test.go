package pods

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// The reason of a Pod is that of its scheduling, or of the first container that waits with one.
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
	} {
		var s corev1.PodStatus
		if err := yaml.Unmarshal([]byte(status), &s); err != nil {
			t.Fatal(err)
		}
		reason, message := why(&s)
		if got := reason + ": " + message; got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
}

// A source names its Jobs, as long as they are few. Jobs with manualSelector have sources of their own.
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

// A Pod belongs to its controller, or is awaited itself. A Pod of another Job doesn't count.
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
			t.Errorf("%s: %v", name, got)
		}
	}
}
