package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
)

// observation contains the results for the longest name that fits, and for a longer one.
type observation struct{ within, beyond string }

// observer creates owners and reads the objects that controllers create for them.
type observer struct{ client dynamic.Interface }

const namespace = "default"

func newObserver(ctx context.Context, config *rest.Config) (*observer, error) {
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(node) // DaemonSets need one
	if err != nil {
		return nil, err
	}
	_, err = client.Resource(corev1.SchemeGroupVersion.WithResource("nodes")).
		Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	template := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": map[string]any{"name": claim},
		"spec": map[string]any{"spec": map[string]any{}},
	}}
	templates := schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaimtemplates"}
	_, err = client.Resource(templates).Namespace(namespace).Create(ctx, template, metav1.CreateOptions{})
	return &observer{client}, err
}

// claim is the name of a claim, and of its template.
const claim = "gpu"

// all observes every row that must be tested on real controllers. It creates all owners first, because a CronJob
// creates its Jobs only at the next minute.
func (o *observer) all(ctx context.Context) (seen map[int]observation, failure error) {
	seen = map[int]observation{}
	type owner struct {
		uid  types.UID
		name string
		err  error
	}
	owners := map[int][2]owner{}
	for i, row := range derived.Table {
		if row.ReadOnly {
			continue
		}
		var pair [2]owner
		for j, length := range []int{within(row), beyond(row)} {
			name := nameOf(i, j, length)
			uid, err := o.create(ctx, row, name)
			pair[j] = owner{uid, name, err}
		}
		owners[i] = pair
	}
	for i, row := range derived.Table {
		if row.ReadOnly {
			continue
		}
		pair := owners[i]
		if pair[0].err != nil {
			failure = errors.Join(failure, fmt.Errorf("%s: %w", row.Makes, pair[0].err))
			continue
		}
		made, err := o.made(ctx, row, pair[0].uid)
		if err == nil {
			err = fits(row, pair[0].name, made)
		}
		further := ""
		if err == nil {
			further, err = o.further(ctx, row, pair[1].name, pair[1].uid, pair[1].err)
		}
		failure = errors.Join(failure, err)
		fmt.Printf("%s %s: %s; %s\n", row.Owner.Kind, row.Makes, made, further)
		seen[i] = observation{shown(made), further}
	}
	return seen, failure
}

// within returns the length of the longest name that fits and that the owner's resource type allows.
func within(row derived.Child) int { return min(row.MaxOwner(adds(row)), longest(row)) }

// beyond returns the length of a name that does not fit.
func beyond(row derived.Child) int {
	if row.Over == derived.Broken { // because a hash is sometimes shorter
		return longest(row)
	}
	return min(within(row)+1, longest(row))
}

// longest returns the length of the longest name that the owner's resource type allows.
func longest(row derived.Child) int {
	if row.Owner.Kind == "StatefulSet" || row.Owner.Kind == "Service" {
		return 63
	}
	return 253
}

// adds returns the number of bytes that the objects here add, for the index 0.
func adds(row derived.Child) int {
	switch {
	case row.Variant == derived.Indexed:
		return len("0")
	case row.Limit == derived.MaxClaim:
		return len(claim)
	}
	return 0
}

// end is the end of every owner's name. Its last letter is in no random part, so a truncated name never has it by chance.
const end = "-one"

// nameOf returns a unique name of a length.
func nameOf(row, which, length int) string {
	name := fmt.Sprintf("n%d%c-", row, 'a'+which)
	return name + strings.Repeat("x", length-len(name)-len(end)) + end
}

// create creates an owner.
func (o *observer) create(ctx context.Context, row derived.Child, name string) (types.UID, error) {
	object := ownerOf(row, name)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", err
	}
	created, err := o.client.Resource(resourceOf(row.Owner)).Namespace(namespace).
		Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return created.GetUID(), nil
}

func resourceOf(kind schema.GroupKind) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: kind.Group, Version: "v1", Resource: strings.ToLower(kind.Kind) + "s"}
}

// ownerOf returns an owner of the row's kind.
func ownerOf(row derived.Child, name string) runtime.Object {
	meta := metav1.ObjectMeta{Name: name}
	labels := map[string]string{"app": strings.Trim(name[:4], "-")} // which distinguishes owners
	selector := &metav1.LabelSelector{MatchLabels: labels}
	of := metav1.TypeMeta{APIVersion: schema.GroupVersion{Group: row.Owner.Group, Version: "v1"}.String(), Kind: row.Owner.Kind}
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}},
	}
	job := batchv1.JobSpec{Template: *pod.DeepCopy()}
	job.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if row.Variant == derived.Indexed {
		job.CompletionMode, job.Completions = new(batchv1.IndexedCompletion), new(int32(1))
	}
	switch row.Owner.Kind {
	case "CronJob":
		return &batchv1.CronJob{TypeMeta: of, ObjectMeta: meta, Spec: batchv1.CronJobSpec{
			Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: job},
		}}
	case "Pod":
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: claim, ResourceClaimTemplateName: new(claim)}}
		return &corev1.Pod{TypeMeta: of, ObjectMeta: meta, Spec: pod.Spec}
	case "Job":
		return &batchv1.Job{TypeMeta: of, ObjectMeta: meta, Spec: job}
	case "ReplicaSet":
		return &appsv1.ReplicaSet{TypeMeta: of, ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: pod}}
	case "ReplicationController":
		return &corev1.ReplicationController{TypeMeta: of, ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &pod}}
	case "DaemonSet":
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} // not ready
		return &appsv1.DaemonSet{TypeMeta: of, ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: pod}}
	case "Deployment":
		return &appsv1.Deployment{TypeMeta: of, ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: pod}}
	case "StatefulSet":
		return &appsv1.StatefulSet{TypeMeta: of, ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Selector: selector, Template: pod, ServiceName: "s",
		}}
	case "Service":
		return &corev1.Service{TypeMeta: of, ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: labels, Ports: []corev1.ServicePort{{Port: 80}},
		}}
	}
	panic("no owner of kind " + row.Owner.Kind)
}

// wait repeats find until it returns a result or an error, or the time is up.
func wait(ctx context.Context, find func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for {
		found, err := find()
		if found != "" || err != nil {
			return found, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
