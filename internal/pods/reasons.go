package pods

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// pageSize bounds the objects in memory while a list is read.
const pageSize = 500

// Reason is why a Pod doesn't run, or why a Job has none.
type Reason struct {
	Owner           *Owner
	Kind, Name      string // kind and name of the Pod, or of the Job
	Reason, Message string // from the cluster. The message can be empty
}

// Reasons returns the reasons why Pods don't run, in the order of the names.
func Reasons(ctx context.Context, client typedcore.CoreV1Interface, sources []Source) (all []Reason, err error) {
	for _, s := range sources {
		active, err := s.pods(ctx, client, &all)
		if err != nil {
			return nil, err
		}
		idle := slices.DeleteFunc(slices.Clone(s.Owners), func(o Owner) bool { return !o.Job || active[o.UID] })
		if len(idle) > 0 {
			// Pods are worth reporting without permission to list Events.
			_ = s.denials(ctx, client, idle, &all)
		}
	}
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Owner.Namespace, b.Owner.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// pods adds the reasons of Pods that have not ended. pods returns the owners of such Pods.
func (s Source) pods(
	ctx context.Context, client typedcore.CoreV1Interface, all *[]Reason,
) (active map[types.UID]bool, err error) {
	options := s.Options
	notEnded := "status.phase!=Succeeded,status.phase!=Failed"
	if options.FieldSelector != "" {
		notEnded = options.FieldSelector + "," + notEnded
	}
	options.FieldSelector, active = notEnded, map[types.UID]bool{}
	return active, apistatus.Pages(ctx, pageSize, func(ctx context.Context, limit int64, token string) (string, error) {
		options.Limit, options.Continue = limit, token
		page, err := client.Pods(s.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			pod := &page.Items[i]
			owner := s.Of(pod)
			if owner == nil || pod.DeletionTimestamp != nil {
				continue
			}
			active[owner.UID] = true
			if reason, message := why(&pod.Status); reason != "" {
				*all = append(*all, Reason{owner, "Pod", pod.Name, reason, message})
			}
		}
		return page.Continue, nil
	})
}

// why returns why a Pod doesn't run, or why one of its containers doesn't.
func why(status *corev1.PodStatus) (reason, message string) {
	for _, c := range status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Reason, c.Message
		}
	}
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		switch w := c.State.Waiting; {
		case w == nil, w.Reason == "PodInitializing": // an init container runs, or has the reason
		case reason == "", reason == "ContainerCreating":
			reason, message = w.Reason, w.Message
		}
	}
	return cmp.Or(reason, status.Reason), cmp.Or(message, status.Message)
}

// denials adds why the Job controller can't create Pods. The Job controller reports such reasons in Events only.
func (s Source) denials(
	ctx context.Context, client typedcore.CoreV1Interface, idle []Owner, all *[]Reason,
) error {
	selector := fields.Set{"involvedObject.kind": "Job", "reason": "FailedCreate"}
	if len(idle) == 1 {
		selector["involvedObject.uid"] = string(idle[0].UID)
	}
	latest := map[types.UID]corev1.Event{}
	options := metav1.ListOptions{FieldSelector: selector.String()}
	err := apistatus.Pages(ctx, pageSize, func(ctx context.Context, limit int64, token string) (string, error) {
		options.Limit, options.Continue = limit, token
		page, err := client.Events(s.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for _, e := range page.Items {
			if before, has := latest[e.InvolvedObject.UID]; !has || before.LastTimestamp.Before(&e.LastTimestamp) {
				latest[e.InvolvedObject.UID] = e
			}
		}
		return page.Continue, nil
	})
	for i, o := range idle {
		if e, has := latest[o.UID]; has {
			*all = append(*all, Reason{&idle[i], "Job", o.Name, e.Reason, e.Message})
		}
	}
	return err
}

// Remain reports whether a Job has Pods that aren't being deleted.
func Remain(ctx context.Context, client typedcore.CoreV1Interface, job Owner) (bool, error) {
	source := Sources([]Owner{job})[0]
	list, err := client.Pods(job.Namespace).List(ctx, source.Options)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && source.Of(&pod) != nil
	}), nil
}
