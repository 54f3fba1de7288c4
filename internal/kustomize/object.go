package kustomize

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// affixField is a field that an object has during a build if its generateName is its name. The value is the
// generateName between two bars. kustomize adds prefixes and suffixes to this field as it does to the name. Prefixes
// come before the first bar, and suffixes after the second. An annotation wouldn't work, because patches often replace
// all annotations.
const affixField = "kubectl-genname"

const generateNameField = "generateName"

// changeObjects applies change to all objects in the documents, including the items of Lists, and returns the
// documents. If no object changes, it returns the same bytes.
func changeObjects(content []byte, change func(object *yaml.RNode) bool) []byte {
	documents, err := kio.FromBytes(content)
	if err != nil {
		return content // kustomize reports the error
	}
	var texts []string
	changed := false
	for _, document := range documents {
		for _, object := range objectsIn(document) {
			changed = change(object) || changed
		}
		text, err := document.String()
		if err != nil {
			return content
		}
		texts = append(texts, text)
	}
	if !changed {
		return content
	}
	return []byte(strings.Join(texts, "---\n"))
}

func objectsIn(document *yaml.RNode) []*yaml.RNode {
	if document.YNode().Kind != yaml.MappingNode || document.GetKind() == "" {
		return nil
	}
	items := document.Field("items")
	if items == nil || !strings.HasSuffix(document.GetKind(), "List") {
		return []*yaml.RNode{document}
	}
	var objects []*yaml.RNode
	if elements, err := items.Value.Elements(); err == nil {
		for _, element := range elements {
			objects = append(objects, objectsIn(element)...)
		}
	}
	return objects
}

// onlyGenerateName returns the generateName of an object without a name. ok is false if it has a comma, because
// kustomize separates names with commas.
func onlyGenerateName(object *yaml.RNode) (generateName string, ok bool) {
	metadata := object.Field(yaml.MetadataField)
	if metadata == nil || metadata.Value.YNode().Kind != yaml.MappingNode {
		return "", false
	}
	if name := metadata.Value.Field(yaml.NameField); name != nil && !yaml.IsMissingOrNull(name.Value) &&
		(name.Value.YNode().Kind != yaml.ScalarNode || name.Value.YNode().Value != "") {
		return "", false
	}
	field := metadata.Value.Field(generateNameField)
	if field == nil || !field.Value.IsStringValue() {
		return "", false
	}
	generateName = field.Value.YNode().Value
	return generateName, generateName != "" && !strings.ContainsAny(generateName, ",|")
}

func nameObject(object *yaml.RNode) (generateName string, ok bool) {
	generateName, ok = onlyGenerateName(object)
	if !ok || object.SetName(generateName) != nil {
		return "", false
	}
	return generateName, object.PipeE(yaml.SetField(affixField, yaml.NewStringRNode("|"+generateName+"|"))) == nil
}

// namePatch sets the name of a strategic patch to its generateName, so that kustomize finds the patched object.
func namePatch(patch *yaml.RNode) bool {
	generateName, ok := onlyGenerateName(patch)
	return ok && patch.SetName(generateName) == nil &&
		patch.PipeE(yaml.Lookup(yaml.MetadataField), yaml.Clear(generateNameField)) == nil
}

// affixesOf returns the generateName of an object, and the prefix and suffix that kustomize has added. Together, the
// three texts are the object's name, unless a patch has changed the name.
func affixesOf(object *yaml.RNode) (prefix, generateName, suffix string, ok bool) {
	field := object.Field(affixField)
	if field == nil {
		return "", "", "", false
	}
	parts := strings.Split(field.Value.YNode().Value, "|")
	if len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], object.GetName() == strings.Join(parts, "")
}

// restore undoes nameObject after the build. If a patch has set a name, the object keeps that name. If a patch has
// changed generateName, the object gets the new generateName.
func restore(object *yaml.RNode) error {
	prefix, original, suffix, generates := affixesOf(object)
	if err := object.PipeE(yaml.Clear(affixField)); err != nil || !generates {
		return err
	}
	metadata := object.Field(yaml.MetadataField).Value
	field := metadata.Field(generateNameField)
	if field == nil || yaml.IsMissingOrNull(field.Value) || field.Value.YNode().Value == "" {
		return fmt.Errorf("%s with generateName %q: a patch removes generateName, and gives the object no name",
			object.GetKind(), original)
	}
	generateName := yaml.NewStringRNode(affixed(prefix, field.Value.YNode().Value, suffix))
	return metadata.PipeE(yaml.Tee(yaml.Clear(yaml.NameField)), yaml.SetField(generateNameField, generateName))
}

// affixed adds a prefix and a suffix to a generateName. If the generateName ends with a dash, the dash stays last.
func affixed(prefix, generateName, suffix string) string {
	if stem, dashed := strings.CutSuffix(generateName, "-"); dashed && suffix != "" {
		return prefix + stem + suffix + "-"
	}
	return prefix + generateName + suffix
}
