package kustomize

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// result is an object as kustomize has built it.
type result struct {
	*resource.Resource
	name   string  // its name, or its generateName
	object *object // nil where it has a name
}

// restore gives the objects that kustomize has built their generateName again,
// in the place that they have by it.
func (t *tree) restore(objects resmap.ResMap) error {
	var results []result
	for _, r := range objects.Resources() {
		one, err := t.resultOf(r)
		if err != nil {
			return err
		}
		results = append(results, one)
	}
	t.sort(results)
	objects.Clear()
	for _, r := range results {
		if err := objects.Append(r.Resource); err != nil {
			return t.readable(err)
		}
	}
	for _, r := range results {
		if r.object == nil {
			continue
		}
		metadata := r.Field(yaml.MetadataField).Value
		if err := metadata.PipeE(yaml.Clear(yaml.NameField)); err != nil {
			return err
		}
		if err := metadata.PipeE(yaml.SetField(generateNameField, yaml.NewStringRNode(r.name))); err != nil {
			return err
		}
	}
	return nil
}

// resultOf finds the enclosed texts of an object: the placeholder in its own name, and names that
// were copied from other objects.
func (t *tree) resultOf(r *resource.Resource) (result, error) {
	one := result{Resource: r, name: r.GetName()}
	prefix, number, suffix := t.marker.find(aName, one.name)
	if number >= 0 {
		one.object = t.objects[number]
		_, generateName := namesOf(&r.RNode)
		if generateName == "" {
			return one, fmt.Errorf("%s with generateName %q: a patch has removed that, and gives it no name",
				one.object.id.Kind, one.object.id.Name)
		}
		one.name = affix{prefix, suffix}.around(generateName)
		if err := t.selectedLate(one, prefix+t.marker.text(aName, number)+suffix); err != nil {
			return one, err
		}
	}
	return one, t.clean(&one, r.YNode(), nil)
}

// clean removes markers from the strings of an object, and refuses references.
func (t *tree) clean(one *result, node *yaml.Node, path []string) error {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			field := append(slices.Clip(path), node.Content[i].Value)
			if one.object != nil && slices.Equal(field, []string{yaml.MetadataField, yaml.NameField}) {
				continue
			}
			if err := t.clean(one, node.Content[i+1], field); err != nil {
				return err
			}
			if err := t.reference(one, field, node.Content[i].Value); err != nil {
				return err
			}
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			if err := t.clean(one, item, append(slices.Clip(path), strconv.Itoa(i))); err != nil {
				return err
			}
		}
	case yaml.ScalarNode:
		if t.marker.in(node.Value) {
			node.Value = t.marker.pattern(aFile).ReplaceAllString(node.Value, "") // where it comes from
		}
		return t.reference(one, path, node.Value)
	}
	return nil
}

// reference refuses a field with the placeholder of another object's name.
func (t *tree) reference(one *result, path []string, value string) error {
	_, number, _ := t.marker.find(aName, value)
	if number < 0 {
		return nil
	}
	generateName, longest := t.objects[number].id.Name, 0
	for placeholder := range t.names {
		if strings.Contains(value, placeholder) && len(placeholder) > longest {
			generateName, longest = t.names[placeholder], len(placeholder)
		}
	}
	return fmt.Errorf("%s %q: %s refers to the %s with generateName %q, whose name is not known before it is created",
		one.GetKind(), one.name, strings.Join(path, "."), t.objects[number].id.Kind, generateName)
}

// selectedLate returns an error if a selector missed an object because its generateName wasn't
// known when the selector was served. Either a patch has changed the generateName, or it comes from
// a remote base and was renamed.
func (t *tree) selectedLate(one result, placeholder string) error {
	late := []string{one.name}
	for _, i := range t.instances {
		if i.object != one.object {
			continue
		}
		for _, own := range i.places {
			for _, above := range t.aboveRemotes(one.object) {
				whole := affix{above.prefix + own.prefix, own.suffix + above.suffix}
				late = append(late, whole.around(one.object.id.Name))
			}
		}
	}
	for _, s := range t.selectors {
		if !s.kind.MatchGvk(one.GetGvk()) || s.name.MatchString(one.object.id.Name) ||
			s.name.MatchString(t.names[placeholder]) {
			continue
		}
		if i := slices.IndexFunc(late, s.name.MatchString); i >= 0 {
			return fmt.Errorf("the target %q has missed the %s with generateName %q, which is %q only on its way: "+
				"select it by the generateName in its file, by its kind or by a label",
				s.text, one.GetKind(), one.object.id.Name, late[i])
		}
	}
	return nil
}

// aboveRemotes returns the prefixes and suffixes that kustomizations add to names from remote
// bases, if the object comes from one.
func (t *tree) aboveRemotes(o *object) (places []place) {
	for _, i := range t.instances {
		if o.remote && i.object == nil {
			places = append(places, i.places...)
		}
	}
	return places
}

// sort orders objects by their generateName. kustomize has sorted them by kind, namespace and name,
// unless the kustomization turns that off.
func (t *tree) sort(results []result) {
	if t.root != nil && t.root.spec.SortOptions != nil && t.root.spec.SortOptions.Order != types.LegacySortOrder {
		return
	}
	for len(results) > 0 {
		first := results[0].CurId()
		same := slices.IndexFunc(results, func(r result) bool {
			id := r.CurId()
			return !id.Gvk.Equals(first.Gvk) || id.Namespace != first.Namespace
		})
		if same < 0 {
			same = len(results)
		}
		slices.SortStableFunc(results[:same], func(a, b result) int {
			if a.object == nil || b.object == nil {
				return strings.Compare(a.name, b.name)
			}
			return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.object.number, b.object.number))
		})
		results = results[same:]
	}
}

// readable removes enclosed text from an error of kustomize.
func (t *tree) readable(err error) error {
	text := err.Error()
	if !t.marker.in(text) {
		return err
	}
	for i, s := range t.selectors {
		marker := regexp.QuoteMeta(t.marker.text(aSelector, i))
		served := regexp.MustCompile(marker + `\|(?s:.*?)\|` + marker)
		text = served.ReplaceAllLiteralString(text, s.text)
	}
	if before, _, found := strings.Cut(text, "\n**** Too many possible referral targets"); found {
		text = strings.ReplaceAll(before, "found multiple possible referrals",
			"it refers to objects with generateName, whose names are not known before they are created")
	}
	text = t.marker.pattern(aFile).ReplaceAllString(text, "")
	return errors.New(t.plainNames(text))
}

// plainNames returns a text with generateNames in the place of placeholders.
func (t *tree) plainNames(text string) string {
	placeholders := make([]string, 0, len(t.names))
	for placeholder := range t.names {
		placeholders = append(placeholders, placeholder)
	}
	slices.SortFunc(placeholders, func(a, b string) int { return len(b) - len(a) })
	for _, placeholder := range placeholders {
		text = strings.ReplaceAll(text, placeholder, t.names[placeholder])
	}
	return t.marker.pattern(aName).ReplaceAllStringFunc(text, func(placeholder string) string {
		_, number, _ := t.marker.find(aName, placeholder)
		return t.objects[number].id.Name
	})
}
