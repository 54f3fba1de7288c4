package census

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// A proxy or a cache can deliver the response to another request. The functions of this file detect
// this by a page's kind, resourceVersion, namespaces, and number of objects, which the previous page
// announced.

// checkKind returns an error for a page that is no list of the resource type. Lists of custom
// resources can have any kind. It is checked only if metadata was requested.
func (l *list) checkKind(p decode.Page, whole bool) error {
	switch p.Kind {
	case decode.MetadataList, "List":
		return nil
	case "":
		return decode.Malformed("a list without a kind")
	}
	if want := l.resource.Kind + "List"; !whole && l.resource.Kind != "" && p.Kind != want {
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
// remainingItemCount is an estimate. So a wrong count, or a missing resourceVersion, only makes the list
// inconsistent.
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
