package follow

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apitypes "k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
)

const (
	// firstPending is the first pause between lists of Pods. The pauses grow up to longestPending.
	firstPending, longestPending = 2 * time.Second, 10 * time.Second
	// restOfTime is the length of a pause, as a multiple of the time that the last list took. It is large because lists
	// of many Pods are a load on the server.
	restOfTime = 20
	// longestRest limits a pause of restOfTime.
	longestRest = time.Minute
	// reportEvery is the interval of progress events for output without a terminal.
	reportEvery = 30 * time.Second
	// lastPending limits the time for listing Pods and Events at the end of the wait.
	lastPending = 5 * time.Second
)

// reasons has the reasons why Pods don't run or don't end. Only Run's goroutine calls its methods, except for the
// method list, which other goroutines call.
type reasons struct {
	sources []pods.Source
	now     []pods.Reason                // of objects that have not ended
	last    map[apitypes.UID]pods.Reason // of objects that have ended
	ended   map[apitypes.UID]bool
}

func newReasons() reasons {
	return reasons{last: map[apitypes.UID]pods.Reason{}, ended: map[apitypes.UID]bool{}}
}

// list finds the reasons repeatedly. It ends early if the user can't list Pods.
func (r *reasons) list(ctx context.Context, client typedcore.CoreV1Interface) <-chan []pods.Reason {
	sources, found := r.sources, make(chan []pods.Reason)
	if len(sources) == 0 {
		return nil
	}
	go func() {
		for pause := firstPending; apistatus.Sleep(ctx, pause) == nil; {
			began := time.Now()
			all, err := pods.Reasons(ctx, client, sources)
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
			case found <- all:
			case <-ctx.Done():
			}
		}
	}()
	return found
}

// note records the reasons from a list, and returns those of unfinished objects. When a Job ends, it deletes its Pods.
// Then note keeps the reason from before the deletion, because it explains more.
func (r *reasons) note(all []pods.Reason) []pods.Reason {
	deleted := map[apitypes.UID]bool{}
	for _, reason := range all {
		deleted[reason.Owner.UID] = deleted[reason.Owner.UID] || reason.Reason == pods.Terminating
	}
	for _, before := range r.now {
		if deleted[before.Owner.UID] && before.Reason != pods.Terminating {
			r.last[before.Owner.UID] = before
		}
	}
	r.now = slices.DeleteFunc(slices.Clone(all), func(reason pods.Reason) bool { return r.ended[reason.Owner.UID] })
	return r.now
}

// end keeps the last reason of an object whose wait has ended.
func (r *reasons) end(uid apitypes.UID) []pods.Reason {
	for _, reason := range r.now {
		if reason.Owner.UID == uid && reason.Reason != pods.Terminating {
			r.last[uid] = reason
		}
	}
	r.ended[uid] = true
	if len(r.now) == 0 {
		return nil
	}
	return r.note(r.now)
}

// recheck finds the reasons for the last time.
func (r *reasons) recheck(ctx context.Context, client typedcore.CoreV1Interface) []pods.Reason {
	ctx, cancel := context.WithTimeout(ctx, lastPending)
	defer cancel()
	if all, err := pods.Reasons(ctx, client, r.sources); err == nil {
		r.note(all)
	}
	return r.now
}
