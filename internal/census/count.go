package census

import (
	"context"
	"errors"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

const (
	// maxRestarts is how often a list is read again from its beginning.
	maxRestarts = 5
	// maxSweeps limits the walks over an unsorted list. The first walk finds the name pools. Each later
	// walk counts poolsAtOnce of them.
	maxSweeps = 9
)

// listCount is the count of a list.
type listCount struct {
	batch        Batch // with its name pools, not committed yet
	inconsistent bool
	at           string // the resourceVersion that was read; empty if it is not unique
	namepools.Count
}

// counter counts the objects of one or several walks.
type counter interface{ Add(*decode.Object) error }

// count counts the name pools of the list, in batches that begin makes. If it must, it reads
// the list again from the beginning.
func (l *list) count(ctx context.Context, begin func() Batch) (listCount, error) {
	for restarts := 0; ; restarts++ {
		batch := begin()
		count, err := l.countInto(ctx, batch)
		if err == nil {
			return listCount{batch, l.inconsistent, l.state(), count}, nil
		}
		if err := l.restart(ctx, restarts, err); err != nil {
			return listCount{}, err
		}
	}
}

// state is the state of the list, or empty.
func (l *list) state() string {
	if l.inconsistent {
		return ""
	}
	return l.at
}

// restart prepares the list to be counted again after err, or returns why it is not.
func (l *list) restart(ctx context.Context, restarts int, err error) error {
	switch {
	case l.pinned:
		return err
	case errors.Is(err, namepools.ErrUnsorted):
		l.at, l.unordered, l.inconsistent = "", true, true
		return nil
	case errors.Is(err, errStartAgain) && restarts < maxRestarts:
		l.at, l.inconsistent = "", l.unordered
		return l.scan.server.wait(ctx, l.scan.server.newRetrier(), err)
	}
	return err
}

// countInto adds the name pools of the list to batch.
func (l *list) countInto(ctx context.Context, batch Batch) (namepools.Count, error) {
	if visits, is := batch.(*visits); is {
		return visits.read(ctx, l)
	}
	emit := func(id namepools.ID, t *namepools.Tally) { batch.Add(tallied(l.resource, id, t)) }
	if l.unordered {
		return l.sweep(ctx, namepools.NewSweep(l.scan.rules, emit))
	}
	stems := namepools.NewStems(l.scan.rules, emit)
	if err := l.walk(ctx, stems); err != nil {
		return namepools.Count{}, err
	}
	if strays := stems.Finish(); !strays {
		return stems.Count(), nil
	}
	return l.sweepStrays(ctx, stems)
}

// sweepStrays walks once more for the objects that stems have left. It must see the same
// state, or a name pool could be counted twice or not at all. If it can't, sweeps count
// everything if they are few. Otherwise strays stay uncounted.
func (l *list) sweepStrays(ctx context.Context, stems *namepools.Stems) (namepools.Count, error) {
	found := stems.Count()
	few := found.Pools <= int64(l.scan.rules.AtOnce)
	if l.at == "" || l.inconsistent {
		if few {
			return namepools.Count{}, namepools.ErrUnsorted
		}
		return found, nil
	}
	sweep := namepools.NewSweepAfter(stems)
	err := l.walk(ctx, sweep)
	switch again := l.inconsistent || errors.Is(err, errStartAgain); {
	case again && few:
		return namepools.Count{}, namepools.ErrUnsorted
	case again:
		l.inconsistent = false // the counts of stems are consistent
		return found, nil
	case err != nil:
		return namepools.Count{}, err
	}
	count, _ := sweep.Finish()
	return count, nil
}

// sweep walks until everything is counted, or maxSweeps is reached.
func (l *list) sweep(ctx context.Context, s *namepools.Sweep) (namepools.Count, error) {
	for walks := 1; ; walks++ {
		if err := l.walk(ctx, s); err != nil {
			return namepools.Count{}, err
		}
		if count, more := s.Finish(); !more || walks == maxSweeps {
			return count, nil
		}
	}
}
