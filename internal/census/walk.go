package census

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

const (
	// maxEmpty is how many pages without an object may follow each other. kube-apiserver sends none but
	// the last one.
	maxEmpty = 1_000
	// maxReading is the time in which the pages of a list must end.
	maxReading = time.Hour
)

// adder takes the objects of a walk.
type adder interface{ Add(*decode.Object) error }

// walk reads a list once from its beginning to its end.
type walk struct {
	list  *list
	to    adder
	asked decode.Asked
	token string // of the next page; empty for the first one
	seen  apistatus.Tokens
	empty int // pages without an object since the last one with some
	// last is the last object visited. If a page is read again, objects up to last are skipped. again is
	// then the last object read. Otherwise it is nil.
	last    position
	again   *position
	objects int64
	// announced is the number of objects after the previous page, as the server reported it. 0 means
	// unknown.
	announced      int64
	wasUnreachable bool // the server did not respond to an earlier request for this page
}

// position is the position of an object in a list.
type position struct{ namespace, name string }

// compare compares two positions in the order of storage, by the bytes of "namespace/name". This is not
// the order of namespaces: "a-b/" comes before "a/".
func (p position) compare(q position) int {
	if p.namespace == q.namespace {
		return strings.Compare(p.name, q.name)
	}
	n := min(len(p.namespace), len(q.namespace))
	if c := strings.Compare(p.namespace[:n], q.namespace[:n]); c != 0 {
		return c
	}
	if len(p.namespace) < len(q.namespace) {
		return cmp.Compare('/', q.namespace[n])
	}
	return cmp.Compare(p.namespace[n], '/')
}

// walk passes every object of the list to an adder, once.
func (l *list) walk(ctx context.Context, to adder) error {
	w := &walk{list: l, to: to, asked: askedBy(to)}
	l.reading = 0
	for {
		p, err := w.page(ctx)
		if err != nil {
			return err
		}
		if err := w.check(p); err != nil {
			return err
		}
		if l.pageEnd != nil {
			if err := l.pageEnd(ctx); err != nil {
				return err
			}
		}
		if p.Continue == "" {
			return nil
		}
		w.token, w.announced = p.Continue, p.Remaining
	}
}

// request returns the request for the next page.
func (w *walk) request(limit int64) pageRequest {
	l := w.list
	return pageRequest{
		limit: limit, token: w.token, at: l.at,
		name: l.name, selector: l.selector, whole: w.asked.Whole,
	}
}

// check checks the metadata of the page that was read.
func (w *walk) check(p decode.Page) error {
	if err := w.checkEnd(p); err != nil {
		return err
	}
	if w.token != "" {
		return w.checkLater(p)
	}
	l := w.list
	if l.at != "" && p.ResourceVersion != l.at {
		l.inconsistent = true // asked for a state and given another one
	}
	w.record(p)
	if total := w.objects + p.Remaining; l.mayDivide && l.at != "" && total > l.scan.limits.undivided {
		return &tooBig{total, l.at, l.size}
	}
	return nil
}

// checkEnd returns an error for a list whose pages don't end.
func (w *walk) checkEnd(p decode.Page) error {
	if w.empty++; p.Objects > 0 {
		w.empty = 0
	}
	switch {
	case p.Continue == "":
		return nil
	case w.empty > maxEmpty:
		return decode.Malformed(fmt.Sprintf("%d pages without an object", w.empty))
	case w.list.reading > maxReading:
		return decode.Malformed(fmt.Sprintf("a list that has not ended after %s", maxReading))
	case w.seen.Next(p.Continue) != nil:
		return decode.Malformed("a continue token repeats")
	}
	return nil
}

// record keeps the state of a first page.
func (w *walk) record(p decode.Page) {
	if w.list.at == "" && w.token == "" && !w.list.unordered && p.ResourceVersion != "0" {
		w.list.at = p.ResourceVersion
	}
}

// page reads one page, and retries. Objects of a page that broke off are not visited twice. A retry
// reads the same page, by its token or by its state, in the same order.
func (w *walk) page(ctx context.Context) (decode.Page, error) {
	server, size := w.list.scan.server, w.list.size
	var retrier *apistatus.Retrier // from the first failure on
	for {
		limit := size.current()
		p, err := w.list.get(ctx, w.request(limit), w.asked, w.take)
		if err == nil {
			w.wasUnreachable = false
			return p, nil
		}
		smaller := size.shrink(limit) && (timedOut(err) || errors.Is(err, apistatus.ErrTooLarge))
		if err := w.recover(ctx, p, err, smaller); err != nil {
			return p, err
		}
		if smaller { // it may come in time, or be small enough
			retrier = nil
			continue
		}
		if retrier == nil {
			retrier = server.newRetrier()
		}
		if err := server.wait(ctx, retrier, err); err != nil {
			return p, err
		}
	}
}

// recover prepares the walk to read a page again, of which p was read before err, or returns
// why it is not. smaller is true if fewer objects will be requested.
func (w *walk) recover(ctx context.Context, p decode.Page, err error, smaller bool) error {
	w.record(p)
	l, first := w.list, w.token == ""
	token, expired := apistatus.Expired(err)
	switch {
	case expired && token != "":
		w.token, l.inconsistent = token, true
	case expired, first && l.at != "" && apistatus.Code(err) == http.StatusBadRequest:
		return fmt.Errorf("%w: %w", errStartAgain, err)
	case w.wasUnreachable && apistatus.AboutPermissions(err): // a restarted server may not have loaded its rules
	case w.token != "" && apistatus.Code(err) == http.StatusUnauthorized: // a credential that has just expired
	case !transient(ctx, err), errors.Is(err, apistatus.ErrTooLarge) && !smaller:
		return err
	case p.Objects > 0 && (l.unordered || first && l.at == ""):
		return fmt.Errorf("%w: %w", errStartAgain, err)
	}
	w.wasUnreachable = w.wasUnreachable || isUnreachable(err)
	if w.objects > 0 && !l.unordered {
		w.again = &position{}
	}
	return nil
}

// take passes on an object, unless it was visited before.
func (w *walk) take(o *decode.Object) error {
	at := position{o.Namespace, o.Name}
	if w.again != nil {
		if at.compare(*w.again) <= 0 {
			return errUnsorted
		}
		*w.again = at
		if at.compare(w.last) <= 0 {
			return nil
		}
		w.again = nil
	}
	w.last = at
	w.objects++
	return w.to.Add(o)
}
