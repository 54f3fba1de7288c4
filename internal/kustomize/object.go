package kustomize

import (
	"fmt"
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

// instance is an object, or what remote bases may bring, on its way up through
// the kustomizations. An object that is reached in two ways is two of them.
type instance struct {
	*object             // nil: of a remote base
	affixes    []affix  // of all names that it has had, the oldest first
	namespaces []string // likewise
}

// affix is what kustomizations have put around a name.
type affix struct{ prefix, suffix string }

// around returns the name that a generateName, or a placeholder, becomes.
func (a affix) around(generateName string) string {
	stem, dashed := strings.CutSuffix(generateName, "-")
	if a.suffix != "" && dashed {
		return a.prefix + stem + a.suffix + "-"
	}
	return a.prefix + generateName + a.suffix
}

// rename notes that kustomize renames an instance: first in front, then behind.
func (i *instance) rename(prefix, suffix string) {
	current := i.affixes[len(i.affixes)-1]
	if prefix != "" {
		current.prefix = prefix + current.prefix
		i.affixes = append(i.affixes, current)
	}
	if suffix != "" {
		current.suffix += suffix
		i.affixes = append(i.affixes, current)
	}
}

// is reports whether an instance is, or was, what an id says.
func (i instance) is(id resid.ResId) bool {
	if i.object == nil || !i.id.Gvk.Equals(id.Gvk) || !i.called(id.Name) {
		return false
	}
	for _, namespace := range i.namespaces {
		if resid.NewResIdWithNamespace(id.Gvk, id.Name, namespace).IsNsEquals(id) {
			return true
		}
	}
	return false
}

// called reports whether one of an instance's generateNames is this one.
func (i instance) called(generateName string) bool {
	for _, affix := range i.affixes {
		if i.object != nil && affix.around(i.id.Name) == generateName {
			return true
		}
	}
	return false
}

// generated returns the objects in a document that have generateName and no
// name: the document itself, or the items of a List.
func generated(document *yaml.RNode) []*yaml.RNode {
	if document.YNode().Kind != yaml.MappingNode {
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
	if document.GetKind() == "" || name != "" || generateName == "" || strings.Contains(generateName, ",") {
		return nil // a comma, which no name has, separates names in kustomize's annotations
	}
	return []*yaml.RNode{document}
}

// namesOf returns the names that an object says; a generateName that is no
// string is none.
func namesOf(document *yaml.RNode) (name, generateName string) {
	metadata := document.Field(yaml.MetadataField)
	if metadata == nil || metadata.Value.YNode().Kind != yaml.MappingNode {
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

// Kustomize's annotations for the ids that an object has had. With them
// kustomize itself finds an object by its generateName, whoever looks for it:
// patches, replacements, references.
const (
	previousNames      = "internal.config.kubernetes.io/previousNames"
	previousNamespaces = "internal.config.kubernetes.io/previousNamespaces"
	previousKinds      = "internal.config.kubernetes.io/previousKinds"
)

// place gives an object its placeholder.
func (t *tree) place(o *object) error {
	if err := o.node.SetName(t.mark.text(aName, o.number)); err != nil {
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
