package census

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

const (
	// maxEmpty is the largest number of pages in a row without an object. kube-apiserver sends an empty page only
	// at the end.
	maxEmpty = 1_000
	// maxReading is the time limit for all pages of a list.
	maxReading = time.Hour
)

// walk reads a list once from its beginning to its end.
type walk struct {
	list    *list
	options decode.Options
	visit   func(*object.Object) error
	token   string // token of the next page; empty for the first one
	seen    apistatus.Tokens
	empty   int   // pages in a row without an object
	objects int64 // number of objects visited
	// ahead is the number of objects of the next page that were visited before that page broke off. last is the last
	// object visited. read is the number of objects read of the current page.
	ahead, read int64
	last        struct{ namespace, name string }
	// announced is the number of objects after the previous page, as the server reported it. 0 means
	// unknown.
	announced      int64
	wasUnreachable bool // the server did not respond to an earlier request for this page
}

// walk visits each object of the list once, and returns their number.
func (l *list) walk(ctx context.Context, options decode.Options, visit func(*object.Object) error) (int64, error) {
	w := &walk{list: l, options: options, visit: visit}
	l.reading = 0
	for {
		p, err := w.page(ctx)
		if err == nil {
			err = w.check(p)
		}
		if err != nil || p.Continue == "" {
			return w.objects, err
		}
		w.token, w.announced = p.Continue, p.Remaining
	}
}

// request returns the request for the next page.
func (w *walk) request(limit int64) pageRequest {
	l := w.list
	return pageRequest{
		limit: limit, token: w.token, at: l.at,
		name: l.name, selector: l.selector, raw: w.options.Raw,
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
		l.inconsistent = true // the server ignored the requested state
	}
	w.record(p)
	if total := w.objects + p.Remaining; l.mayDivide && l.at != "" && total > l.scan.limits.undivided {
		return &tooBig{total, l.at, l.size}
	}
	return nil
}

// checkEnd returns an error if the pages of the list don't end.
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

// record records the resourceVersion of the first page.
func (w *walk) record(p decode.Page) {
	if w.list.at == "" && w.token == "" && p.ResourceVersion != "0" {
		w.list.at = p.ResourceVersion
	}
}

// page reads one page, with retries. If a page breaks off, page visits no object twice, because a retry has the same
// token or resourceVersion. So it reads the same objects in the same order.
func (w *walk) page(ctx context.Context) (decode.Page, error) {
	server, size := w.list.scan.server, w.list.size
	var retrier *apistatus.Retrier // from the first failure on
	for {
		limit := size.current()
		w.read = 0
		p, err := w.list.get(ctx, w.request(limit), w.options, w.take)
		if err == nil {
			w.wasUnreachable = false
			w.ahead -= min(w.ahead, w.read)
			return p, nil
		}
		smaller := size.shrink(limit) && (timedOut(err) || errors.Is(err, apistatus.ErrTooLarge))
		if err := w.recover(ctx, p, err, smaller); err != nil {
			return p, err
		}
		if smaller { // a smaller page might come in time
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

// recover prepares the walk to read a page again after err. p is the part of the page that was read. recover
// returns an error if the page must not be read again. smaller reports that the next request is for fewer objects.
func (w *walk) recover(ctx context.Context, p decode.Page, err error, smaller bool) error {
	w.record(p)
	l, first := w.list, w.token == ""
	token, expired := apistatus.Expired(err)
	switch {
	case expired && token != "" && w.ahead == 0:
		w.token, l.inconsistent = token, true
	case expired, first && l.at != "" && apistatus.Code(err) == http.StatusBadRequest:
		return fmt.Errorf("%w: %w", errStartAgain, err)
	case w.wasUnreachable && apistatus.AboutPermissions(err): // it might lack its RBAC rules
	case w.token != "" && apistatus.Code(err) == http.StatusUnauthorized: // a credential that has just expired
	case !transient(ctx, err), errors.Is(err, apistatus.ErrTooLarge) && !smaller:
		return err
	case p.Objects > 0 && first && l.at == "":
		return fmt.Errorf("%w: %w", errStartAgain, err)
	}
	w.wasUnreachable = w.wasUnreachable || isUnreachable(err)
	return nil
}

// take visits an object, unless it was already visited before the page broke off.
func (w *walk) take(o *object.Object) error {
	w.read++
	if w.read == w.ahead && (o.Namespace != w.last.namespace || o.Name != w.last.name) {
		return fmt.Errorf("%w: a page has other objects than before", errStartAgain)
	}
	if w.read <= w.ahead {
		return nil
	}
	w.ahead, w.last.namespace, w.last.name = w.read, o.Namespace, o.Name
	w.objects++
	return w.visit(o)
}

// A proxy or a cache can deliver the response to another request. To detect this, the checks below compare the kind,
// the resourceVersion, the namespaces, and the number of objects of each page with the expected values.

// checkKind returns an error for a page that is no list of the resource type. It checks the kind only if metadata was
// requested, because lists of custom resources can have any kind.
func (l *list) checkKind(p decode.Page, raw bool) error {
	switch p.Kind {
	case decode.MetadataList, "List":
		return nil
	case "":
		return decode.Malformed("a list without a kind")
	}
	if want := l.resource.Kind + "List"; !raw && l.resource.Kind != "" && p.Kind != want {
		return decode.Malformed(fmt.Sprintf("a %.64q instead of a %s", p.Kind, want))
	}
	return nil
}

// checkObject returns an error for an object in a namespace outside the list.
func (l *list) checkObject(o *object.Object) error {
	var list string
	switch {
	case l.namespace != "" && o.Namespace != l.namespace:
		list = fmt.Sprintf("of namespace %q", l.namespace)
	case l.resource.Namespaced && o.Namespace == "":
		list = "of a namespaced type"
	case !l.resource.Namespaced && o.Namespace != "":
		list = "of a cluster-scoped type"
	default:
		return nil
	}
	return decode.Malformed(fmt.Sprintf("an object of namespace %.64q in a list %s", o.Namespace, list))
}

// checkLater checks a page after the first one. All pages of a list have one resourceVersion. The API permits that
// remainingItemCount is an estimate. So a wrong count only makes the list inconsistent, as does a missing
// resourceVersion.
func (w *walk) checkLater(p decode.Page) error {
	l := w.list
	if l.inconsistent = l.inconsistent || l.at == ""; l.inconsistent {
		return nil
	}
	if p.ResourceVersion != l.at {
		return fmt.Errorf("%w: %w", errStartAgain,
			decode.Malformed(fmt.Sprintf("a page of resourceVersion %.64q in a list of %q", p.ResourceVersion, l.at)))
	}
	known := p.Continue == "" || p.Remaining > 0
	if w.announced > 0 && known && p.Objects+p.Remaining != w.announced {
		l.inconsistent = true
	}
	return nil
}
