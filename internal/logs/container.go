package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

const (
	firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second
	// lingering is the time without lines after which the follower closes the stream of an ended container.
	lingering = 5 * time.Second
	// tailLines and tailBytes limit the last lines that a container keeps.
	tailLines, tailBytes = 20, 1024
)

// container follows the logs of one container through its restarts. A run is the time between two starts of the
// container. Each container has a goroutine, and no other goroutine uses the container.
type container struct {
	Container
	follower *Follower
	pod      *pod
	sidecar  bool
	turn     *turn

	run   int // number of restarts before the run that is read
	begun int // last run whose restart was reported
	read  position
	last  time.Time // time of the last line of all runs
	quiet bool      // the last complete response had no further lines
	split bool      // a line was passed on in parts
	tail  []string  // the last lines of all runs

	failure error // of the last request for the rest, or nil
}

// state is the last known state of a container in the cluster.
type state struct {
	corev1.ContainerStatus
	ended       bool // the Pod has ended
	gone        bool
	terminating bool // the Pod is being deleted, and its last lines matter
	late        bool // they did, but there is no time any more
	// lateness is closed drainTimeout after Drain began. From then on it is nil.
	lateness <-chan struct{}
	changed  <-chan struct{}
}

func (c *container) state() state {
	c.follower.mu.Lock()
	defer c.follower.mu.Unlock()
	p := c.pod
	s := state{gone: p.gone, terminating: c.follower.terminating(p.latest), changed: p.changed}
	if !isClosed(c.follower.late) {
		s.lateness = c.follower.late
	} else if s.terminating {
		s.terminating, s.late = false, true
	}
	s.ended = p.gone || p.latest.Status.Phase == corev1.PodSucceeded || p.latest.Status.Phase == corev1.PodFailed
	for _, status := range slices.Concat(p.latest.Status.InitContainerStatuses, p.latest.Status.ContainerStatuses) {
		if status.Name == c.Name {
			s.ContainerStatus = status
		}
	}
	return s
}

// terminated returns how a run ended, or nil if it hasn't ended. If a container waits for its next run, RestartCount is
// still the number of its last run.
func (s state) terminated(run int) *corev1.ContainerStateTerminated {
	switch waits := s.State.Running == nil && s.State.Terminated == nil; {
	case int(s.RestartCount) == run && !waits:
		return s.State.Terminated
	case int(s.RestartCount) == run, int(s.RestartCount) == run+1 && !waits:
		return s.LastTerminationState.Terminated
	}
	return nil
}

// follow reads the logs of all runs.
func (c *container) follow() {
	for s, more := c.next(); more; s, more = c.next() {
		if !c.follower.acquire(c) {
			break
		}
		more = c.readRun(s)
		c.follower.slots.release(c.turn)
		if !more {
			break
		}
	}
	if c.follower.ctx.Err() != nil {
		reason := fmt.Sprintf("no line came for %s", drainTimeout)
		if c.failure != nil {
			reason = apistatus.Brief(c.failure).Error()
		}
		c.gap(time.Time{}, reason)
	}
	c.follower.hear()
	c.follower.mu.Lock()
	defer c.follower.mu.Unlock()
	c.pod.open--
	c.follower.endPod(c.pod)
}

// next waits for the next run to read. It returns false if there is no such run.
func (c *container) next() (state, bool) {
	for ended := c.follower.ended; ; {
		s := c.state()
		switch {
		case int(s.RestartCount) >= c.run && started(s.ContainerStatus):
			return s, true
		case s.ended, ended == nil && !s.terminating:
			return s, false
		}
		select {
		case <-s.changed:
		case <-ended:
			ended = nil
		case <-s.lateness:
		case <-c.follower.ctx.Done():
			return s, false
		}
	}
}

// readRun reads the current run to its end, or the remaining lines of an earlier run. It returns false if the follower
// stops following the container.
func (c *container) readRun(s state) bool {
	later := int(s.RestartCount) - c.run
	if later == 0 {
		return c.readPresent()
	}
	ended := s.terminated(c.run)
	switch {
	case later == 1 && ended != nil: // the kubelet has the lines of one earlier run
		if errors.Is(c.readRest(true), errOtherRun) { // the kubelet no longer has the lines
			c.gap(time.Time{}, "it was restarted again")
		}
	default:
		c.gap(time.Time{}, fmt.Sprintf("it was restarted %d times", later))
	}
	c.endRun(int(s.RestartCount))
	return c.follower.ctx.Err() == nil
}

// endRun sets the run that is read next.
func (c *container) endRun(next int) { c.run, c.read, c.quiet = next, position{}, false }

// readPresent follows the current run until it has ended or another run begins.
func (c *container) readPresent() bool {
	if c.run > c.begun {
		c.begun = c.run
		c.follower.config.Event(Restart{c.Container, c.state().LastTerminationState.Terminated})
	}
	var pauses *apistatus.Retrier
	for c.follower.ctx.Err() == nil {
		s := c.state()
		switch {
		case int(s.RestartCount) > c.run, isClosed(c.turn.yields): // another container needs the stream
			return true
		case s.terminated(c.run) != nil || s.ended && !s.gone:
			if !errors.Is(c.readRest(false), errOtherRun) {
				c.endRun(c.run + 1)
			}
			return true
		case s.gone:
			if !c.quiet {
				c.gap(time.Time{}, "the Pod was deleted")
			}
			return false
		case isClosed(c.follower.ended) && !s.terminating: // the container runs on after the wait for it has ended
			if s.late {
				c.gap(time.Time{}, fmt.Sprintf("the Pod was still being deleted %s after the wait", drainTimeout))
			}
			return false
		}
		before := c.read
		err := c.stream()
		if pauses == nil || c.read != before {
			pauses = apistatus.NewRetrier(firstPause, longestPause, apistatus.NoEnd)
		}
		_ = pauses.Wait(c.follower.ctx, err)
	}
	return false
}

// readRest reads the remaining lines of an ended run. It can't distinguish a broken response from a complete one. So it
// repeats the request until a response has no new lines.
func (c *container) readRest(previous bool) error {
	retrier := apistatus.NewRetrier(firstPause, longestPause, c.follower.config.RetryTimeout)
	c.quiet = false // an earlier response shows nothing about later lines
	for missing, late := 0, 0; ; {
		before := c.read
		err := c.request(c.follower.ctx, corev1.PodLogOptions{Previous: previous}, nil)
		if c.follower.ctx.Err() == nil {
			c.failure = err
		}
		if errors.Is(err, errNotThere) {
			missing++
		}
		if c.read != before {
			retrier = apistatus.NewRetrier(firstPause, longestPause, c.follower.config.RetryTimeout)
		}
		if err == nil && isClosed(c.follower.late) {
			late++
		}
		final := apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) || missing == 3
		switch {
		case err == nil && c.quiet:
			c.passRest()
			c.checkEnd(previous)
			return nil
		case err == nil && late > 1:
			c.gap(time.Time{}, "lines come although it has ended")
			return nil
		case err == nil:
		case errors.Is(err, errOtherRun):
			return err
		case final && c.quiet:
			return nil
		case final || retrier.Wait(c.follower.ctx, err) != nil:
			if c.follower.ctx.Err() == nil { // otherwise follow reports the gap
				c.gap(time.Time{}, apistatus.Brief(err).Error())
			}
			return err
		}
	}
}

// stream follows the current run until the connection ends.
func (c *container) stream() error {
	ctx, cancel := context.WithCancel(c.follower.ctx)
	defer cancel()
	var lines atomic.Int64
	go c.supervise(ctx, cancel, c.run, c.turn.yields, &lines)
	return c.request(ctx, corev1.PodLogOptions{Follow: true}, &lines)
}

// supervise cancels a stream if no lines arrive after the end of its run, because the connection can be dead. It also
// cancels the stream if Drain is called while the container runs, or if another container needs the stream.
func (c *container) supervise(
	ctx context.Context, cancel context.CancelFunc, run int, yields <-chan struct{}, lines *atomic.Int64,
) {
	ended := c.follower.ended
	for ctx.Err() == nil {
		s, before := c.state(), lines.Load()
		var silence <-chan time.Time
		if s.gone || int(s.RestartCount) > run || s.terminated(run) != nil {
			silence = time.After(lingering)
		} else if ended == nil && !s.terminating {
			cancel()
		}
		if s.lateness == nil { // then the rest is requested, which has an end
			cancel()
		}
		select {
		case <-silence:
			if lines.Load() == before {
				cancel()
			}
		case <-s.changed:
		case <-ended:
			ended = nil
		case <-s.lateness:
		case <-yields:
			cancel()
		case <-ctx.Done():
		}
	}
}

// gap reports that lines after the last delivered line might be missing.
func (c *container) gap(to time.Time, reason string) {
	if c.follower.caller.Err() == nil {
		c.follower.config.Event(Gap{c.Container, c.last, to, reason})
	}
}

// recheck reads the Pod again. It returns errOtherRun if the last request has read the log of the wrong run. It sends a
// list instead of a GET, because the program checked only the permission to list.
func (c *container) recheck(ctx context.Context, previous bool) error {
	c.follower.mu.Lock()
	uid := c.pod.latest.UID
	c.follower.mu.Unlock()
	byName := metav1.ListOptions{FieldSelector: "metadata.name=" + c.Pod}
	pods, err := c.follower.config.Client.Pods(c.Namespace).List(ctx, byName)
	switch {
	case err != nil:
		return err
	case len(pods.Items) != 1 || pods.Items[0].UID != uid:
		return apierrors.NewNotFound(corev1.Resource("pods"), c.Pod)
	}
	trim(&pods.Items[0])
	c.follower.update(&pods.Items[0], false)
	return c.checkRun(previous)
}

// checkRun returns errOtherRun if the log is now that of another run of the container, according to the last known
// state of the Pod. While a container waits for its next run, the kubelet returns the log of its last run as the
// previous log.
func (c *container) checkRun(previous bool) error {
	if s := c.state(); int(s.RestartCount) > c.run && (!previous || s.terminated(c.run) == nil) {
		return errOtherRun
	}
	return nil
}
