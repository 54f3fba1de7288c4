package census

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// maxRestarts is how often a list is begun anew.
const maxRestarts = 5

// errStartAgain says that a list cannot be gone on with.
var errStartAgain = errors.New("the list must be started again")

// tooBig says that a list had better be read namespace by namespace.
type tooBig struct {
	objects int64
	at      string // resourceVersion of the first page
	pace    *pace
}

func (b *tooBig) Error() string { return fmt.Sprintf("%d objects in one list", b.objects) }

// list is one scope: a resource in all namespaces or in one.
type list struct {
	*scan
	resource  Resource
	namespace string
	pace      *pace
	// at is the resourceVersion to read at; empty for the latest. It is learned
	// from a first page, so that what is read again is the same.
	at string
	// pinned says that it must be read there and nowhere else.
	pinned bool
	// mayDivide lets a big list end with tooBig.
	mayDivide bool

	unordered    bool // the server does not sort, or at is not to be had
	inconsistent bool // what has been read is not of one instant
}

// walk is one reading of a list from its beginning to its end.
type walk struct {
	*list
	visit func(*object) error
	token string // of the page to be read; empty for the first one
	// last is the last object visited. A page that is read again is taken up
	// after it; again is then how far the reading has come, and nil otherwise.
	last    spaceID
	again   *spaceID
	objects int64
}

// walk calls visit for every object of the list once, and returns their
// number.
func (l *list) walk(ctx context.Context, visit func(*object) error) (int64, error) {
	w := &walk{list: l, visit: visit}
	for {
		p, err := w.page(ctx)
		if err != nil {
			return 0, err
		}
		if err := w.check(p); err != nil {
			return 0, err
		}
		if p.next == "" {
			return w.objects, nil
		}
		w.token = p.next
	}
}

// check looks at what the server said about the page that has been read.
func (w *walk) check(p page) error {
	if p.next != "" && p.next == w.token {
		return malformed("the continue token of a page is its own")
	}
	if w.token != "" {
		return nil
	}
	if w.at != "" && p.resourceVersion != w.at {
		w.inconsistent = true // asked for a state and given another one
	}
	w.learn(p)
	if total := w.objects + p.remaining; w.mayDivide && w.at != "" && total > divideAbove {
		return &tooBig{total, w.at, w.pace}
	}
	return nil
}

// learn remembers the state that a first page is of.
func (w *walk) learn(p page) {
	if w.at == "" && w.token == "" && !w.unordered && p.resourceVersion != "0" {
		w.at = p.resourceVersion
	}
}

// page reads one page, again and again if need be. Objects of a page that
// broke off are not visited twice: a page that is read again is the same one,
// by its token or by the state it is of, and in order.
func (w *walk) page(ctx context.Context) (page, error) {
	patience := w.newPatience()
	for {
		limit := w.pace.next()
		p, err := w.get(ctx, pageRequest{limit, w.token, w.at}, w.take)
		if err == nil {
			return p, nil
		}
		if err := w.recover(ctx, p, err); err != nil {
			return p, err
		}
		if w.pace.fail(limit) && timedOut(err) { // a smaller page may come in time
			patience = w.newPatience()
			continue
		}
		if err := patience.wait(ctx, err); err != nil {
			return p, err
		}
	}
}

// recover makes the walk ready to read the page again of which p was read
// before err, or returns why that is not to be.
func (w *walk) recover(ctx context.Context, p page, err error) error {
	w.learn(p)
	first := w.token == ""
	token, expired := expiry(err)
	switch {
	case expired && token != "":
		w.token, w.inconsistent = token, true
	case expired, first && w.at != "" && statusOf(err) == http.StatusBadRequest:
		return fmt.Errorf("%w: %w", errStartAgain, err)
	case !transient(ctx, err):
		return err
	case p.objects > 0 && (w.unordered || first && w.at == ""):
		return fmt.Errorf("%w: %w", errStartAgain, err)
	}
	if w.objects > 0 && !w.unordered {
		w.again = &spaceID{}
	}
	return nil
}

// take hands an object to visit, if it has not been before.
func (w *walk) take(o *object) error {
	id := spaceID{o.namespace, o.name}
	if w.again != nil {
		if id.compare(*w.again) <= 0 {
			return errUnsorted
		}
		*w.again = id
		if id.compare(w.last) <= 0 {
			return nil
		}
		w.again = nil
	}
	w.last = id
	w.objects++
	return w.visit(o)
}
