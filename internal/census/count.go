package census

import (
	"context"
	"errors"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// maxRestarts is how often a list is begun anew.
const maxRestarts = 5

// listCount is what a list has come to.
type listCount struct {
	batch        Batch // with its spaces, not committed yet
	objects      int64
	inconsistent bool
}

// count counts the spaces of the list, from the beginning again where it must.
func (l *list) count(ctx context.Context) (listCount, error) {
	for restarts := 0; ; restarts++ {
		batch := l.scan.ledger.newBatch()
		objects, err := l.countInto(ctx, batch)
		if err == nil {
			return listCount{batch, objects, l.inconsistent}, nil
		}
		if err := l.restart(ctx, restarts, err); err != nil {
			return listCount{}, err
		}
	}
}

// restart makes the list ready to be counted anew after err, or returns why
// that is not to be.
func (l *list) restart(ctx context.Context, restarts int, err error) error {
	switch {
	case l.pinned:
		return err
	case errors.Is(err, spaces.ErrUnsorted):
		l.at, l.unordered, l.inconsistent = "", true, true
		return nil
	case errors.Is(err, errStartAgain) && restarts < maxRestarts:
		l.at, l.inconsistent = "", l.unordered
		return l.scan.server.wait(ctx, l.scan.server.newRetrier(), err)
	}
	return err
}

// countInto adds the spaces of the list to batch, and returns the number of
// objects.
func (l *list) countInto(ctx context.Context, batch Batch) (objects int64, err error) {
	emit := func(id spaces.ID, t *spaces.Tally) { batch.Add(spaceOf(l.resource, id, t)) }
	if l.unordered {
		return l.sweep(ctx, spaces.NewSweep(l.scan.rules, emit))
	}
	stems := spaces.NewStems(l.scan.rules, emit)
	if objects, err = l.walk(ctx, stems.Add); err != nil {
		return 0, err
	}
	if strays := stems.Finish(); !strays {
		return objects, nil
	}
	return l.sweep(ctx, spaces.NewSweepAfter(stems))
}

// sweep walks until nothing is left to be counted. After stems it must see the
// very state that they saw: else a space could be counted by both or by none,
// and all is left to sweeps.
func (l *list) sweep(ctx context.Context, s *spaces.Sweep) (int64, error) {
	if s.AfterStems() && (l.at == "" || l.inconsistent) {
		return 0, spaces.ErrUnsorted
	}
	for {
		objects, err := l.walk(ctx, s.Add)
		if s.AfterStems() && (l.inconsistent || errors.Is(err, errStartAgain)) {
			return 0, spaces.ErrUnsorted
		}
		if err != nil {
			return 0, err
		}
		if more := s.Finish(); !more {
			return objects, nil
		}
	}
}
