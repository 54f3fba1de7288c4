package pools

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// Leftovers are objects that Kubernetes should have deleted. They are counted only with Rules.Leftovers.
type Leftovers struct {
	// Jobs has the Job of each Pod without a controller, as JobHash. Such a Pod is orphaned if its Job doesn't exist.
	// Pods that are being deleted are left out.
	Jobs []uint64
	// Deleting is the number of objects whose deletion was requested. The first request was at the time Since, which is
	// zero if it is unknown.
	Deleting int64
	Since    time.Time
	// Finalizers has the numbers of these objects by finalizer, of at most 8 finalizers.
	Finalizers []Held
}

// Held is the number of objects that a finalizer holds.
type Held struct {
	Finalizer string
	Names     int64
}

// maxFinalizers limits the finalizers that are counted per pool.
const maxFinalizers = 8

// JobHash returns a hash of a Job, which is valid in this process only.
func JobHash(namespace string, job object.JobRef) uint64 {
	return maphash.Comparable(seed, [3]string{namespace, job.Name, job.UID})
}

func (l *Leftovers) add(o *object.Object) {
	if job, ok := o.FormerJob(); ok && !o.Deleting {
		l.Jobs = append(l.Jobs, JobHash(o.Namespace, job))
	}
	if !o.Deleting {
		return
	}
	l.Deleting++
	if o.Deleted > 0 {
		l.since(time.Unix(o.Deleted, 0).UTC())
	}
	for _, finalizer := range o.Finalizers {
		l.hold(finalizer, 1)
	}
}

func (l *Leftovers) merge(other *Leftovers) {
	l.Jobs = append(l.Jobs, other.Jobs...)
	l.Deleting += other.Deleting
	l.since(other.Since)
	for _, held := range other.Finalizers {
		l.hold(held.Finalizer, held.Names)
	}
}

func (l *Leftovers) since(at time.Time) {
	if !at.IsZero() && (l.Since.IsZero() || at.Before(l.Since)) {
		l.Since = at
	}
}

func (l *Leftovers) hold(finalizer string, names int64) {
	at := slices.IndexFunc(l.Finalizers, func(h Held) bool { return h.Finalizer == finalizer })
	switch {
	case at >= 0:
		l.Finalizers[at].Names += names
	case len(l.Finalizers) < maxFinalizers:
		l.Finalizers = append(l.Finalizers, Held{finalizer, names})
	}
}

func hasLeftovers(o *object.Object) bool {
	_, mayBeOrphan := o.FormerJob()
	return mayBeOrphan || o.Deleting
}
