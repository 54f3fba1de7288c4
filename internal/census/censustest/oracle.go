package censustest

import (
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var generated = regexp.MustCompile(`^(?s:(.{1,58}))[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// Oracle counts by the rules of the census, whose fields of these names it has.
type Oracle struct {
	Selector labels.Selector
	Prefixes []string
	Since    []time.Time
}

// Space is a name space and what exists in it, like census.Space.
type Space struct {
	Namespace, Prefix string
	Names, Generated  int64
	Recent            [5]int64
	RawPrefixes       int
	Oldest, Newest    time.Time
}

type spaceID struct{ namespace, prefix string }

// Count counts in another, plainer way than the census: it keeps everything. The
// spaces are in the order of namespace and prefix.
func (r Oracle) Count(objects []metav1.ObjectMeta) []Space {
	said, chosen := map[spaceID]bool{}, map[spaceID]bool{}
	members := map[spaceID][]metav1.ObjectMeta{}
	for _, o := range objects {
		chooses := r.Selector == nil || r.Selector.Matches(labels.Set(o.Labels))
		if m := generated.FindStringSubmatch(o.Name); m != nil {
			id := spaceID{o.Namespace, m[1]}
			members[id] = append(members[id], o)
			chosen[id] = chosen[id] || chooses
			said[id] = said[id] || slices.Contains(r.Prefixes, m[1])
		}
		if o.GenerateName != "" {
			id := spaceID{o.Namespace, effective(o.GenerateName)}
			said[id] = true
			chosen[id] = chosen[id] || chooses
		}
	}
	var spaces []Space
	for id := range said {
		if said[id] && chosen[id] {
			spaces = append(spaces, r.sum(id, members[id]))
		}
	}
	slices.SortFunc(spaces, func(a, b Space) int {
		return slices.Compare([]string{a.Namespace, a.Prefix}, []string{b.Namespace, b.Prefix})
	})
	return spaces
}

func (r Oracle) sum(id spaceID, members []metav1.ObjectMeta) Space {
	space := Space{Namespace: id.namespace, Prefix: id.prefix}
	raw := map[string]bool{}
	for _, o := range members {
		space.Names++
		if effective(o.GenerateName) == id.prefix {
			space.Generated++
			raw[o.GenerateName] = true
			for i, since := range r.Since {
				if !o.CreationTimestamp.IsZero() && !o.CreationTimestamp.Time.Before(since) {
					space.Recent[i]++
				}
			}
		}
		created := o.CreationTimestamp.UTC()
		if created.IsZero() {
			continue
		}
		if space.Oldest.IsZero() || created.Before(space.Oldest) {
			space.Oldest = created
		}
		if created.After(space.Newest) {
			space.Newest = created
		}
	}
	space.RawPrefixes = len(raw)
	return space
}

func effective(generateName string) string {
	if len(generateName) > 58 {
		return generateName[:58]
	}
	return strings.Clone(generateName)
}
