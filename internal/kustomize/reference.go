package kustomize

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// use is a part of a kustomization that can't work without the name of an object.
type use struct {
	what   string
	object resid.ResId
}

// recordUses records the parts of a kustomization that need the name of an object. Replacements and variables copy a
// name, and generators change an object that they find by its name.
func (f *servedFiles) recordUses(dir string, k *types.Kustomization) {
	for _, field := range k.Replacements {
		for _, r := range f.replacements(dir, field) {
			if r.Source != nil && (r.Source.FieldPath == "" || r.Source.FieldPath == "metadata.name") {
				f.uses = append(f.uses, use{"a replacement copies the name of", r.Source.ResId})
			}
		}
	}
	for _, v := range k.Vars {
		if v.FieldRef.FieldPath == "" || v.FieldRef.FieldPath == "metadata.name" {
			id := resid.NewResId(resid.NewGvk(v.ObjRef.Group, v.ObjRef.Version, v.ObjRef.Kind), v.ObjRef.Name)
			f.uses = append(f.uses, use{"the variable " + v.Name + " copies the name of", id})
		}
	}
	for _, g := range generatorsOf(k) {
		if g.Behavior == "merge" || g.Behavior == "replace" {
			gvk := resid.Gvk{Version: "v1", Kind: g.kind}
			f.uses = append(f.uses, use{"a generator can't " + g.Behavior, resid.NewResId(gvk, g.Name)})
		}
	}
}

func (f *servedFiles) replacements(dir string, field types.ReplacementField) (list []types.Replacement) {
	if field.Path == "" {
		return []types.Replacement{field.Replacement}
	}
	path, ok := f.resolve(dir, field.Path)
	if !ok {
		return nil // kustomize reports the error
	}
	content, err := f.FileSystem.ReadFile(path)
	if err != nil {
		return nil // kustomize reports the error
	}
	var one types.Replacement
	if yaml.Unmarshal(content, &list) != nil && yaml.Unmarshal(content, &one) == nil {
		list = append(list, one)
	}
	return list
}

// checkUses returns an error if a kustomization uses the name of an object with generateName.
func (f *servedFiles) checkUses() error {
	for _, u := range f.uses {
		for _, g := range f.generated {
			// kustomize might have added a prefix, or a suffix and a dash, to the generateName.
			named := u.object.Name == "" || strings.HasSuffix(u.object.Name, g.Name) ||
				strings.Contains(u.object.Name, g.Name+"-")
			if named && g.IsSelected(&u.object.Gvk) {
				return fmt.Errorf("%s the %s with generateName %q: give it a fixed name", u.what, g.Kind, g.Name)
			}
		}
	}
	return nil
}

// In these annotations, kustomize keeps the earlier ids of an object. kustomize replaces references to an earlier id by
// the object's name.
const (
	previousNames      = "internal.config.kubernetes.io/previousNames"
	previousNamespaces = "internal.config.kubernetes.io/previousNamespaces"
	previousKinds      = "internal.config.kubernetes.io/previousKinds"
)

// checkReferences returns an error if an object refers to an object with generateName. To find references, it gives
// these objects other names, and builds again. Each field that then changes is a reference.
func checkReferences(objects resmap.ResMap) error {
	built := objects.DeepCopy()
	generated := map[string]*kyaml.RNode{} // by the other name
	for _, object := range built.Resources() {
		if _, _, _, generates := affixesOf(&object.RNode); !generates {
			continue
		}
		id := object.CurId()
		for _, annotation := range []struct{ key, value string }{
			{previousNames, id.Name}, {previousNamespaces, id.EffectiveNamespace()}, {previousKinds, id.Kind},
		} {
			if err := object.PipeE(kyaml.SetAnnotation(annotation.key, annotation.value)); err != nil {
				return err
			}
		}
		other := fmt.Sprintf("%s::%d", affixField, len(generated)) // no name and no image has two colons
		if err := object.SetName(other); err != nil {
			return err
		}
		generated[other] = &object.RNode
	}
	content, err := built.AsYaml()
	if err != nil {
		return err
	}
	files := filesys.MakeFsInMemory()
	if err := files.WriteFile("/kustomization.yaml", []byte("resources: [objects.yaml]\n")); err != nil {
		return err
	}
	if err := files.WriteFile("/objects.yaml", content); err != nil {
		return err
	}
	rebuilt, err := run(files, "/")
	if err != nil {
		return fmt.Errorf("references: %w", err)
	}
	for _, object := range rebuilt.Resources() {
		if err := checkFields(&object.RNode, generated, object.YNode(), ""); err != nil {
			return err
		}
	}
	return nil
}

// checkFields returns an error if a field of an object contains the temporary other name of a generated object.
func checkFields(object *kyaml.RNode, generated map[string]*kyaml.RNode, node *kyaml.Node, path string) error {
	for i, child := range node.Content {
		field := strconv.Itoa(i)
		if node.Kind == kyaml.MappingNode {
			if i%2 == 0 {
				continue // a key
			}
			field = node.Content[i-1].Value
		}
		if err := checkFields(object, generated, child, path+"."+field); err != nil {
			return err
		}
	}
	named := generated[node.Value]
	if node.Kind != kyaml.ScalarNode || named == nil || path == ".metadata.name" {
		return nil
	}
	_, generateName, _, _ := affixesOf(named)
	_, own, _, _ := affixesOf(object)
	own = cmp.Or(own, object.GetName())
	return fmt.Errorf("%s %q: %s refers to the %s with generateName %q, whose name is not known before it is created: "+
		"give it a fixed name", object.GetKind(), own, path[1:], named.GetKind(), generateName)
}
