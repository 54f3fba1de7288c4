package census

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var generated = regexp.MustCompile(`^(?s:(.{1,58}))[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// naiveCount is the rules of the census in another, plainer way: it keeps
// everything.
func naiveCount(resource Resource, objects []metav1.ObjectMeta, s *Scanner) []Space {
	type id struct{ namespace, prefix string }
	said, chosen := map[id]bool{}, map[id]bool{}
	chooses := func(o metav1.ObjectMeta) bool {
		return s.Selector == nil || s.Selector.Matches(labels.Set(o.Labels))
	}
	members := map[id][]metav1.ObjectMeta{}
	for _, o := range objects {
		if m := generated.FindStringSubmatch(o.Name); m != nil {
			space := id{o.Namespace, m[1]}
			members[space] = append(members[space], o)
			chosen[space] = chosen[space] || chooses(o)
			said[space] = said[space] || slices.Contains(s.Prefixes, m[1])
		}
		if o.GenerateName != "" {
			space := id{o.Namespace, effective(o.GenerateName)}
			said[space] = true
			chosen[space] = chosen[space] || chooses(o)
		}
	}
	var spaces []Space
	for space := range said {
		if !said[space] || !chosen[space] {
			continue
		}
		sum := Space{Resource: resource, Namespace: space.namespace, Prefix: space.prefix}
		raw := map[string]bool{}
		for _, o := range members[space] {
			sum.Names++
			if effective(o.GenerateName) == space.prefix {
				sum.Generated++
				raw[o.GenerateName] = true
			}
			created := o.CreationTimestamp.UTC()
			if created.IsZero() {
				continue
			}
			if !created.Before(s.Since) {
				sum.Recent++
			}
			if sum.Oldest.IsZero() || created.Before(sum.Oldest) {
				sum.Oldest = created
			}
			if created.After(sum.Newest) {
				sum.Newest = created
			}
		}
		sum.RawPrefixes = len(raw)
		spaces = append(spaces, sum)
	}
	slices.SortFunc(spaces, compareSpaces)
	return spaces
}

func effective(generateName string) string {
	if len(generateName) > 58 {
		return generateName[:58]
	}
	return strings.Clone(generateName)
}
