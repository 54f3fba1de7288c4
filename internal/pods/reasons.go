package pods

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// pageSize limits the number of objects in memory while a list is read.
const pageSize = 500

// Reason explains why a Pod doesn't run, why it doesn't end, or why a Job has no Pod.
type Reason struct {
	Owner           *Owner
	Kind, Name      string // kind and name of the Pod, or of the Job
	Reason, Message string // from the cluster. The message can be empty
}

// Reasons returns the reasons sorted by name. It leaves out namespaces without permission to list Pods. If no namespace
// remains, the error is Forbidden.
func Reasons(ctx context.Context, client typedcore.CoreV1Interface, sources []Source) (all []Reason, err error) {
	denied := 0
	for _, s := range sources {
		found, active, err := s.pods(ctx, client)
		if apierrors.IsForbidden(err) {
			if denied++; denied < len(sources) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		for i := range s.Owners {
			if o := &s.Owners[i]; o.Job && !active[o.UID] {
				found = append(found, reason{Reason{o, "Job", o.Name, "", ""}, o.UID, true})
			}
		}
		// Without permission to list Events, the reasons of Pods are still useful.
		_ = s.explain(ctx, client, "Job", "Create", found)
		_ = s.explain(ctx, client, "Pod", "", found)
		for _, r := range found {
			if r.Reason.Reason != "" {
				all = append(all, r.Reason)
			}
		}
	}
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Owner.Namespace, b.Owner.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// reason is a Reason with the data to find a better explanation in Events.
type reason struct {
	Reason
	uid   types.UID
	vague bool
}

// pods returns the reasons of Pods that have not ended. active has the owners of Pods that also aren't being deleted.
func (s Source) pods(
	ctx context.Context, client typedcore.CoreV1Interface,
) (all []reason, active map[types.UID]bool, err error) {
	options := s.Options
	notEnded := "status.phase!=Succeeded,status.phase!=Failed"
	if options.FieldSelector != "" {
		notEnded = options.FieldSelector + "," + notEnded
	}
	options.FieldSelector, active = notEnded, map[types.UID]bool{}
	err = apistatus.Pages(ctx, pageSize, func(ctx context.Context, limit int64, token string) (string, error) {
		options.Limit, options.Continue = limit, token
		page, err := client.Pods(s.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			pod := &page.Items[i]
			owner := s.Of(pod)
			if owner == nil {
				continue
			}
			active[owner.UID] = active[owner.UID] || pod.DeletionTimestamp == nil
			why, message := why(pod, time.Now())
			vague := pod.Status.Phase == corev1.PodPending && (why == "" || why == creating)
			if why != "" || vague {
				all = append(all, reason{Reason{owner, "Pod", pod.Name, why, message}, pod.UID, vague})
			}
		}
		return page.Continue, nil
	})
	return all, active, err
}

// explain completes the vague reasons of one kind of object. For each object, it uses the newest Event whose reason
// ends with about. Only Events show that the Job controller can't create Pods (FailedCreate), or can again
// (SuccessfulCreate), and that the kubelet can't mount volumes.
func (s Source) explain(
	ctx context.Context, client typedcore.CoreV1Interface, kind, about string, all []reason,
) error {
	newest := map[types.UID]*corev1.Event{}
	for _, r := range all {
		if r.vague && r.Kind == kind {
			newest[r.uid] = nil
		}
	}
	if len(newest) == 0 {
		return nil
	}
	selector := fields.Set{"involvedObject.kind": kind}
	for uid := range newest {
		if len(newest) == 1 {
			selector["involvedObject.uid"] = string(uid)
		}
	}
	options := metav1.ListOptions{FieldSelector: selector.String()}
	err := apistatus.Pages(ctx, pageSize, func(ctx context.Context, limit int64, token string) (string, error) {
		options.Limit, options.Continue = limit, token
		page, err := client.Events(s.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			e := &page.Items[i]
			last, wanted := newest[e.InvolvedObject.UID]
			if wanted && strings.HasSuffix(e.Reason, about) && (last == nil || later(e, last)) {
				newest[e.InvolvedObject.UID] = e
			}
		}
		return page.Continue, nil
	})
	for i := range all {
		r := &all[i]
		switch e := newest[r.uid]; {
		case e == nil || !r.vague || r.Kind != kind:
		case e.Type == corev1.EventTypeWarning:
			r.Reason.Reason, r.Message = e.Reason, e.Message
		case r.Reason.Reason != "" && r.Message == "":
			r.Message = e.Message
		}
	}
	return err
}

// later reports whether Event a was written after Event b. The times of Events don't show this, because they come from
// the clocks of different nodes.
func later(a, b *corev1.Event) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order > 0
}

// Remain reports whether an owner has Pods that aren't being deleted. init is an init container that failed in such a
// Pod, or empty.
func Remain(ctx context.Context, client typedcore.CoreV1Interface, owner Owner) (remain bool, init string, err error) {
	source := Sources([]Owner{owner})[0]
	list, err := client.Pods(owner.Namespace).List(ctx, source.Options)
	if err != nil {
		return false, "", err
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.DeletionTimestamp != nil || source.Of(pod) == nil {
			continue
		}
		remain = true
		for _, c := range pod.Status.InitContainerStatuses {
			if t := c.State.Terminated; t != nil && t.ExitCode != 0 && !IsSidecar(pod, c.Name) {
				init = c.Name
			}
		}
	}
	return remain, init, nil
}
