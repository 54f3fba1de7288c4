package census

import (
	"context"
	"errors"
)

// counted is a list that has been counted.
type counted struct {
	batch        Batch
	objects      int64
	inconsistent bool
}

// count counts the spaces of the list, from the beginning again where it must.
// The batch is not committed.
func (l *list) count(ctx context.Context) (counted, error) {
	for restarts := 0; ; restarts++ {
		batch := l.newBatch()
		objects, err := l.countInto(ctx, batch)
		if err == nil {
			return counted{batch, objects, l.inconsistent}, nil
		}
		if err := l.restart(ctx, restarts, err); err != nil {
			return counted{}, err
		}
	}
}

// restart makes the list ready to be counted anew after err, or returns why
// that is not to be.
func (l *list) restart(ctx context.Context, restarts int, err error) error {
	switch {
	case l.pinned:
		return err
	case errors.Is(err, errUnsorted):
		l.at, l.unordered, l.inconsistent = "", true, true
		return nil
	case errors.Is(err, errStartAgain) && restarts < maxRestarts:
		l.at, l.inconsistent = "", l.unordered
		pause := l.newPatience()
		return pause.wait(ctx, err)
	}
	return err
}

// countInto adds the spaces of the list to batch, and returns the number of
// objects.
func (l *list) countInto(ctx context.Context, batch Batch) (objects int64, err error) {
	emit := func(id spaceID, t *tally) { batch.Add(t.space(l.resource, id)) }
	s := sweep{rules: &l.rules, next: shortlist{limit: l.targetsAtOnce}}
	if !l.unordered {
		stems := stems{rules: &l.rules, emit: emit, strays: shortlist{limit: l.targetsAtOnce}}
		if objects, err = l.walk(ctx, stems.add); err != nil {
			return 0, err
		}
		stems.finish()
		if !s.aim(stems.strays.first()) {
			return objects, nil
		}
		s.afterStems = true
	}
	return l.sweep(ctx, &s, emit)
}

// sweep walks until nothing is left to be counted. After stems it must see the
// very state that they saw: else a space could be counted by both or by none,
// and all is left to sweeps.
func (l *list) sweep(ctx context.Context, s *sweep, emit func(spaceID, *tally)) (int64, error) {
	if s.afterStems && (l.at == "" || l.inconsistent) {
		return 0, errUnsorted
	}
	for {
		objects, err := l.walk(ctx, s.add)
		if s.afterStems && (l.inconsistent || errors.Is(err, errStartAgain)) {
			return 0, errUnsorted
		}
		if err != nil {
			return 0, err
		}
		s.finish(emit)
		if !s.aim(s.next.first()) {
			return objects, nil
		}
	}
}
