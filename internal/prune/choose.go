package prune

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// rules decides whether to delete a single object of a target. Prune applies rules while it lists the objects. It
// applies them again to an object that changed later.
type rules struct {
	resource census.Resource
	criteria Criteria
	selector labels.Selector
	finishes bool              // the type has a known status for finished objects
	prefixes map[string]string // effective prefix → the first generateName that has it
	named    map[string]bool   // whole generateNames
}

func newRules(target Target, criteria Criteria) (*rules, error) {
	selector, err := labels.Parse(criteria.Selector)
	if err != nil {
		return nil, err
	}
	r := &rules{
		resource: target.Resource, criteria: criteria, selector: selector,
		finishes: finished.ClassOfResource(target.Resource.GroupResource()) == finished.Finishes,
		prefixes: map[string]string{}, named: map[string]bool{},
	}
	for _, prefix := range target.Prefixes {
		effective := names.EffectivePrefix(prefix)
		r.prefixes[effective], r.named[prefix] = cmp.Or(r.prefixes[effective], prefix), true
	}
	return r, nil
}

// prefixOf returns the named prefix to which an object belongs, by its generateName or its stem. If no generateName
// matches, prefixOf compares the beginning of the object's name. The prefix of orphaned Pods is "". ok is false if the
// object belongs to no named prefix.
func (r *rules) prefixOf(o *object.Object) (prefix string, ok bool) {
	switch {
	case r.criteria.Orphaned:
		return "", r.has(o)
	case r.criteria.Stem:
		prefix = r.stemOf(o)
	case r.named[o.GenerateName]:
		prefix = o.GenerateName
	case o.GenerateName != "":
		prefix = r.prefixes[names.EffectivePrefix(o.GenerateName)]
	}
	if prefix == "" && !r.criteria.Stem {
		in, _, _ := names.Split(o.Name)
		prefix = r.prefixes[in]
	}
	return prefix, prefix != ""
}

// has reports whether the user's prefixes or options name the object.
func (r *rules) has(o *object.Object) bool {
	switch {
	case r.criteria.Orphaned:
		_, ok := o.FormerJob()
		return ok
	case r.criteria.Stem:
		return r.stemOf(o) != ""
	}
	return r.named[o.GenerateName] && derive.GeneratedFrom(o.Name, o.GenerateName)
}

// leftReason returns the reason to leave an object alone, or "". The reason doesn't depend on other objects. The status
// is empty if the type has no known status for finished objects.
func (r *rules) leftReason(o *object.Object) (reason v1alpha1.PruneReason, status finished.Status) {
	if r.finishes {
		status = statusOf(r.resource, o.Raw)
	}
	switch {
	case r.criteria.Orphaned && !r.has(o):
		return v1alpha1.PruneNotOrphaned, status
	case o.UID == "" || !r.has(o):
		return v1alpha1.PruneNotGenerated, status
	case o.Deleting:
		return v1alpha1.PruneBeingDeleted, status
	case !r.criteria.Owned && o.HasController():
		return v1alpha1.PruneControlled, status
	case r.criteria.Stem && r.isActive(o):
		return v1alpha1.PruneActive, status
	case o.Created == 0:
		return v1alpha1.PruneUnknownAge, status
	case !r.criteria.Running && status.State == finished.Running:
		return v1alpha1.PruneNotFinished, status
	case !r.criteria.EndedBefore.IsZero() && status.Ended.IsZero():
		return v1alpha1.PruneUnknownEnd, status
	case !r.selector.Matches(labels.Set(o.Labels)):
		return v1alpha1.PruneNotSelected, status
	}
	return "", status
}

// statusOf returns the status of an object. It sets the object's kind from the resource type, because some lists omit
// the kind of their items.
func statusOf(resource census.Resource, raw []byte) finished.Status {
	var read struct {
		Metadata struct {
			Created string `json:"creationTimestamp"`
		} `json:"metadata"`
		Status map[string]any `json:"status"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return finished.Status{State: finished.Running}
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"creationTimestamp": read.Metadata.Created}, "status": read.Status,
	}}
	object.SetGroupVersionKind(resource.GroupVersion().WithKind(resource.Kind))
	status, _ := finished.Of(object)
	return status
}

// parse reads one object from a response. It uses the decoder for lists, as if the object were the only item of a list.
func parse(raw []byte) (found object.Object, err error) {
	list := bytes.Join([][]byte{[]byte(`{"kind":"List","metadata":{},"items":[`), raw, []byte(`]}`)}, nil)
	_, err = decode.List(bytes.NewReader(list), decode.Options{Raw: true, Job: true}, func(o *object.Object) error {
		found = *o
		found.Raw = raw // o.Raw is valid until this function returns
		return nil
	})
	return found, err
}

// decision is the decision about one object. If Reason is empty, prune deletes the object.
type decision struct {
	Object Object
	Reason v1alpha1.PruneReason
	// Tied reports whether an object to delete has the same creation time as an object that Criteria.Keep keeps.
	Tied bool
}

// decide decides about the objects of one namespace and prefix that no other rule keeps. It sorts these objects, the
// newest first. If a list contains an object twice, decide counts it once.
func decide(objects []Object, criteria Criteria) iter.Seq[decision] {
	slices.SortFunc(objects, func(a, b Object) int {
		return cmp.Or(criteria.byAge(b, a), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
	objects = slices.CompactFunc(objects, func(a, b Object) bool { return a.UID == b.UID })
	return func(yield func(decision) bool) {
		all, failed := &newest{keep: criteria.Keep}, &newest{keep: criteria.KeepFailed}
		for _, o := range objects {
			among := all
			if o.failed && failed.keep != nil {
				among = failed
			}
			d := decision{Object: o}
			switch {
			case among.has(o):
				d.Reason = v1alpha1.PruneNewest
			default:
				d.Reason = criteria.tooYoung(o.Created, o.ended)
			}
			d.Tied = d.Reason == "" && among.ties(o)
			if !yield(d) {
				return
			}
		}
	}
}

// byAge is negative if a is older than b. With Stem, it compares objects with equal times by the ends of their names.
func (c *Criteria) byAge(a, b Object) int {
	if c.Stem && a.Created == b.Created {
		return compareStems(b, a)
	}
	return cmp.Compare(a.Created, b.Created)
}

// tooYoung returns the reason to leave an object because of its age, or "".
func (c *Criteria) tooYoung(created, ended int64) v1alpha1.PruneReason {
	switch {
	case !c.Before.IsZero() && created >= c.Before.Unix():
		return v1alpha1.PruneTooYoung
	case !c.EndedBefore.IsZero() && ended >= c.EndedBefore.Unix():
		return v1alpha1.PruneJustFinished
	}
	return ""
}

// newest counts the objects to keep. Its caller passes the newest objects first.
type newest struct {
	keep  *int
	count int
	last  int64 // creation time of the last object that is kept
}

// has reports whether an object is one of the newest objects, which are kept.
func (n *newest) has(o Object) bool {
	if n.keep == nil || n.count >= *n.keep {
		return false
	}
	n.count++
	n.last = o.Created
	return true
}

func (n *newest) ties(o Object) bool { return n.count > 0 && o.Created == n.last }
