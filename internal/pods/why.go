package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// Terminating is the reason of a Pod that is being deleted, as kubectl shows it.
	Terminating = "Terminating"
	// creating is the kubelet's reason for a container that has not started yet, whatever the cause is.
	creating = "ContainerCreating"
)

// why explains why a Pod that has not ended doesn't run, or doesn't end.
func why(pod *corev1.Pod, now time.Time) (reason, message string) {
	status := &pod.Status
	if pod.DeletionTimestamp != nil {
		return Terminating, terminating(pod, now)
	}
	for _, c := range status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Reason, c.Message
		}
	}
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		switch w := c.State.Waiting; {
		case w == nil, w.Reason == "PodInitializing": // an init container runs, or has the reason of the Pod
		case reason == "", reason == creating:
			reason, message = w.Reason, w.Message
		}
	}
	if reason, message = cmp.Or(reason, status.Reason), cmp.Or(message, status.Message); reason != "" {
		return reason, message
	}
	if reason, message = initRuns(pod); reason != "" {
		return reason, message
	}
	return runsOn(pod)
}

// terminating describes the progress of a Pod's deletion. The deletionTimestamp includes the grace period.
func terminating(pod *corev1.Pod, now time.Time) string {
	due, text := pod.DeletionTimestamp.UTC(), ""
	switch {
	case now.Before(due):
		text = fmt.Sprintf("it can run until %s", due.Format(time.RFC3339))
	case pod.Spec.NodeName == "" && len(pod.Finalizers) > 0:
		text = "held by the finalizer " + strings.Join(pod.Finalizers, ", ")
	case pod.Spec.NodeName == "":
		text = fmt.Sprintf("it should have ended at %s", due.Format(time.RFC3339))
	default:
		text = fmt.Sprintf("it should have ended at %s, but its node %s has not reported the end",
			due.Format(time.RFC3339), pod.Spec.NodeName)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			text += fmt.Sprintf(" (%s: %s)", c.Reason, c.Message)
		}
	}
	return text
}

// initRuns returns the running init container for which the other containers wait.
func initRuns(pod *corev1.Pod) (reason, message string) {
	for _, c := range pod.Status.InitContainerStatuses {
		switch {
		case c.State.Running == nil:
		case !IsSidecar(pod, c.Name):
			return "init container " + c.Name + " runs", "since " + c.State.Running.StartedAt.UTC().Format(time.RFC3339)
		case c.Started == nil || !*c.Started:
			return "sidecar " + c.Name + " runs", "its startup probe has not succeeded"
		}
	}
	return "", ""
}

// IsSidecar reports whether the init container with this name runs until the end of the Pod.
func IsSidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// runsOn returns the containers that still run although other containers have ended.
func runsOn(pod *corev1.Pod) (reason, message string) {
	var run, ended []string
	for _, c := range pod.Status.ContainerStatuses {
		switch t := c.State.Terminated; {
		case t == nil:
			run = append(run, c.Name)
		case pod.Spec.RestartPolicy == corev1.RestartPolicyNever,
			pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && t.ExitCode == 0:
			ended = append(ended, fmt.Sprintf("%s ended with exit code %d", c.Name, t.ExitCode))
		}
	}
	for _, c := range pod.Status.InitContainerStatuses {
		if len(run) == 0 && c.State.Running != nil {
			run = append(run, c.Name)
		}
	}
	if len(run) == 0 || len(ended) == 0 {
		return "", ""
	}
	return strings.Join(run, ", ") + " runs on", strings.Join(ended, ", ")
}
