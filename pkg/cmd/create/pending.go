package create

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apitypes "k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	// Pods are listed after pauses from the first to the longest.
	firstPending, longestPending = 2 * time.Second, 10 * time.Second
	// restOfTime is the length of a pause as a multiple of the duration of the list before it. restOfTime is large,
	// because lists of many Pods are a load on the server.
	restOfTime = 20
	// longestRest bounds such a pause.
	longestRest = time.Minute
	// reportEvery is the interval of lines about the reasons why no Pod runs. On a terminal, the progress line has
	// the reasons.
	reportEvery = 30 * time.Second
	// lastPending bounds the lists at the end of the wait.
	lastPending = 5 * time.Second
)

// podReasons are the reasons why the Pods of a wait don't run.
type podReasons struct {
	client  typedcore.CoreV1Interface
	sources []pods.Source
	now     []pods.Reason                // reasons of objects that have not ended
	last    map[apitypes.UID]pods.Reason // reasons of objects that have ended
	ended   map[apitypes.UID]bool
}

// list lists the reasons repeatedly. list ends early if listing Pods is not allowed.
func (p *podReasons) list(ctx context.Context) <-chan []pods.Reason {
	reasons := make(chan []pods.Reason)
	if len(p.sources) == 0 {
		return nil
	}
	go func() {
		for pause := firstPending; apistatus.Sleep(ctx, pause) == nil; {
			began := time.Now()
			all, err := pods.Reasons(ctx, p.client, p.sources)
			took := time.Since(began)
			pause = min(2*pause, longestPending)
			switch {
			case apierrors.IsForbidden(err):
				return
			case err != nil:
				continue
			}
			pause = max(pause, min(restOfTime*took, longestRest))
			select {
			case reasons <- all:
			case <-ctx.Done():
			}
		}
	}()
	return reasons
}

// note records the reasons of a list.
func (p *podReasons) note(all []pods.Reason) {
	p.now = slices.DeleteFunc(all, func(r pods.Reason) bool { return p.ended[r.Owner.UID] })
}

// end keeps the reason of an object that has ended.
func (p *podReasons) end(uid apitypes.UID) {
	for _, r := range p.now {
		if r.Owner.UID == uid {
			p.last[uid] = r
		}
	}
	p.ended[uid] = true
	p.note(p.now)
}

// recheck lists the reasons a last time.
func (p *podReasons) recheck(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastPending)
	defer cancel()
	if all, err := pods.Reasons(ctx, p.client, p.sources); err == nil {
		p.note(all)
	}
}

// progress is the text of the line on a terminal. progress ends with a reason, because a long reason is cut.
func (w *waiting) progress() string {
	elapsed := w.elapsed()
	switch {
	case len(w.why.now) == 0:
		return fmt.Sprintf("waiting for %s: %s", elapsed, w.counts())
	case len(w.objects) == 1:
		return fmt.Sprintf("waiting for %s: %s", elapsed, sentence(w.why.now[0]))
	}
	return fmt.Sprintf("waiting for %s: %d running. %s", elapsed, w.left(), sentence(w.why.now[0]))
}

// report returns a line with the reason why no Pod runs, for output without a terminal. The line is empty if there is
// no such reason.
func (w *waiting) report() string {
	if len(w.why.now) == 0 {
		return ""
	}
	more := ""
	if n := len(w.why.now) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("Waiting for %s: %s. %s%s", w.elapsed(), w.counts(), sentence(w.why.now[0]), more)
}

func (w *waiting) elapsed() time.Duration { return time.Since(w.began).Truncate(time.Second) }

// sentence returns a reason as one line.
func sentence(r pods.Reason) string {
	text := terminal.Sprintf("%s %s: %s", r.Kind, r.Name, r.Reason)
	if r.Message != "" {
		text += terminal.Sprintf(": %s", r.Message)
	}
	return text
}

// reasonLines are the reasons at the end of the wait, each with the command that shows more.
func reasonLines(reasons []pods.Reason) (lines []string) {
	for _, r := range reasons[:min(len(reasons), maxShown)] {
		lines = append(lines, sentence(r), "  kubectl describe "+
			reference.In(strings.ToLower(r.Kind)+"/"+r.Name, r.Owner.Namespace))
	}
	if more := len(reasons) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("(and %d more)", more))
	}
	return lines
}

// afterFailure returns the lines after the failure of an object: why it never ran, and the next command.
func (r *results) afterFailure(e wait.Ended) string {
	switch kind := e.Object.Mapping.GroupVersionKind.GroupKind(); {
	case kind == podKind:
		return "\n  kubectl logs " + reference.In("pod/"+e.Object.Name, e.Object.Namespace)
	case kind != jobKind:
		return "\n  kubectl describe " + argumentOf(e.Object)
	case r.podsRemain(e):
		return "\n  kubectl logs " + reference.In("job/"+e.Object.Name, e.Object.Namespace)
	}
	text := "\nKubernetes has deleted the unfinished Pods of this Job, and their logs."
	if r.flags.logs {
		text = "\nKubernetes has deleted the unfinished Pods of this Job. " +
			"The lines above are all that is left of their logs."
	}
	if last, has := r.waiting.why.last[e.Object.UID]; has {
		text = "\n" + sentence(last) + text
	}
	return text + "\n  kubectl describe " + reference.In("job/"+e.Object.Name, e.Object.Namespace)
}

// podsRemain reports whether a failed Job has Pods whose logs can be read. A Job deletes Pods that run at its end.
func (r *results) podsRemain(e wait.Ended) bool {
	if e.Status.Reason == "DeadlineExceeded" {
		return false
	}
	ctx, cancel := context.WithTimeout(r.ctx, lastPending)
	defer cancel()
	remain, err := pods.Remain(ctx, r.waiting.why.client, r.waiting.owner(e.Object.UID))
	return remain || err != nil
}

// owner returns the owner of Pods with a UID.
func (w *waiting) owner(uid apitypes.UID) (owner pods.Owner) {
	for _, o := range w.pods.owners {
		if o.UID == uid {
			return o
		}
	}
	return owner
}
