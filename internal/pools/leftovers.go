package pools

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// Leftovers are objects that Kubernetes should have deleted. A set counts them only with Rules.Leftovers.
type Leftovers struct {
	// Jobs has the JobHash of the Job of each Pod without a controller. Such a Pod is orphaned if its Job doesn't
	// exist. Pods that are being deleted are left out.
	Jobs []uint64
	// Deleting is the number of objects whose deletion was requested. Since is the time of the first request, or zero
	// if the time is unknown.
	Deleting int64
	Since    time.Time
	// Finalizers has the number of these objects for each finalizer, for up to 8 finalizers.
	Finalizers []Held
}

// Held is the number of objects whose deletion waits for a finalizer.
type Held struct {
	Finalizer string
	Names     int64
}

// maxFinalizers limits the number of finalizers per pool.
const maxFinalizers = 8

// JobHash returns a hash of a Job. The hash is valid only in this process.
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
