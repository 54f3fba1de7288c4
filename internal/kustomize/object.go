package kustomize

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// object is one with generateName and no name, as a file has it.
type object struct {
	number int
	id     resid.ResId // with generateName as its name
	node   *yaml.RNode
	remote bool // it comes of a remote base
}

// instance is an object on its way up through the kustomizations, or the unknown objects of a
// remote base. An object that two paths reach has two instances.
type instance struct {
	*object         // nil: of a remote base
	places  []place // that it has had, the oldest first
}

// place is where kustomize finds an object.
type place struct {
	affix
	namespace string
}

// affix is the prefix and suffix that kustomizations have added to a name.
type affix struct{ prefix, suffix string }

// around returns the name that a generateName, or a placeholder, becomes.
func (a affix) around(generateName string) string {
	stem, dashed := strings.CutSuffix(generateName, "-")
	if a.suffix != "" && dashed {
		return a.prefix + stem + a.suffix + "-"
	}
	return a.prefix + generateName + a.suffix
}

// current returns where kustomize finds an instance now.
func (i instance) current() place { return i.places[len(i.places)-1] }

// move records that kustomize gives an instance a namespace, a prefix and a suffix, in this order.
// Empty ones change nothing.
func (i *instance) move(namespace, prefix, suffix string) {
	now := i.current()
	if namespace != "" {
		now.namespace = namespace
		i.places = append(i.places, now)
	}
	if prefix != "" {
		now.prefix = prefix + now.prefix
		i.places = append(i.places, now)
	}
	if suffix != "" {
		now.suffix += suffix
		i.places = append(i.places, now)
	}
}

// is reports whether an instance has, or had, an id.
func (i instance) is(id resid.ResId) bool {
	return i.object != nil && i.id.Gvk.Equals(id.Gvk) && slices.ContainsFunc(i.places, func(p place) bool {
		return p.around(i.id.Name) == id.Name &&
			resid.NewResIdWithNamespace(id.Gvk, id.Name, p.namespace).IsNsEquals(id)
	})
}

// called reports whether one of an instance's generateNames is, or was, this one.
func (i instance) called(generateName string) bool {
	return i.object != nil && slices.ContainsFunc(i.places, func(p place) bool {
		return p.around(i.id.Name) == generateName
	})
}

// generated returns the objects in a document that have generateName and no name. A List has them
// in its items.
func generated(document *yaml.RNode) []*yaml.RNode {
	if !isObject(document) {
		return nil
	}
	if items := document.Field("items"); strings.HasSuffix(document.GetKind(), "List") && items != nil {
		var found []*yaml.RNode
		if elements, err := items.Value.Elements(); err == nil {
			for _, item := range elements {
				found = append(found, generated(item)...)
			}
		}
		return found
	}
	name, generateName := namesOf(document)
	if name != "" || generateName == "" || strings.Contains(generateName, ",") {
		return nil // a comma, which no name has, separates names in kustomize's annotations
	}
	return []*yaml.RNode{document}
}

// isObject reports whether a document has the form of an object. That of
// others, kustomize's own functions cannot read.
func isObject(document *yaml.RNode) bool {
	if document.YNode().Kind != yaml.MappingNode || document.GetKind() == "" {
		return false
	}
	metadata := document.Field(yaml.MetadataField)
	return metadata == nil || yaml.IsMissingOrNull(metadata.Value) || metadata.Value.YNode().Kind == yaml.MappingNode
}

// idOf returns the id of an object, as kustomize makes it.
func idOf(document *yaml.RNode) resid.ResId {
	return resid.NewResIdWithNamespace(resid.GvkFromNode(document), document.GetName(), document.GetNamespace())
}

// namesOf returns the names in an object. A generateName that isn't a string is empty.
func namesOf(document *yaml.RNode) (name, generateName string) {
	metadata := document.Field(yaml.MetadataField)
	if metadata == nil || yaml.IsMissingOrNull(metadata.Value) {
		return "", ""
	}
	if field := metadata.Value.Field(yaml.NameField); field != nil && !yaml.IsMissingOrNull(field.Value) {
		name = field.Value.YNode().Value
		if field.Value.YNode().Kind != yaml.ScalarNode {
			name = field.Value.MustString() // for kustomize to refuse
		}
	}
	if field := metadata.Value.Field(generateNameField); field != nil && field.Value.IsStringValue() {
		generateName = field.Value.YNode().Value
	}
	return name, generateName
}

const generateNameField = "generateName"

// Kustomize's annotations for the earlier ids of an object. With them, patches, replacements and
// references find an object by its generateName.
const (
	previousNames      = "internal.config.kubernetes.io/previousNames"
	previousNamespaces = "internal.config.kubernetes.io/previousNamespaces"
	previousKinds      = "internal.config.kubernetes.io/previousKinds"
)

// placeholder returns the text that replaces one of an instance's names.
func (t *tree) placeholder(i instance, a affix) string {
	return a.prefix + t.marker.text(aName, i.number) + a.suffix
}

// give gives an object its placeholder.
func (t *tree) give(o *object) error {
	if err := o.node.SetName(t.marker.text(aName, o.number)); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	for _, annotation := range []struct{ key, value string }{
		{previousNames, o.id.Name}, {previousNamespaces, o.id.EffectiveNamespace()}, {previousKinds, o.id.Kind},
	} {
		if err := o.node.PipeE(yaml.SetAnnotation(annotation.key, annotation.value)); err != nil {
			return fmt.Errorf("annotations: %w", err)
		}
	}
	return nil
}
