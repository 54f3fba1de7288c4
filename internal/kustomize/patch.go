package kustomize

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// servePatches makes the patches of a kustomization find objects with
// generateName. The strategic ones of patchesStrategicMerge, which come first,
// become patches where one of them needs a target, which these cannot have.
func (t *tree) servePatches(k *kustomization) {
	merges := k.spec.PatchesStrategicMerge
	if slices.ContainsFunc(merges, func(m types.PatchStrategicMerge) bool {
		return anyNeedsTarget(k, strategic(t.textOfMerge(k, m)))
	}) {
		var patches []types.Patch
		for _, m := range merges {
			if isInline(string(m)) {
				patches = append(patches, types.Patch{Patch: string(m)})
			} else {
				patches = append(patches, types.Patch{Path: string(m)})
			}
		}
		k.spec.Patches = append(patches, k.spec.Patches...)
		k.spec.PatchesStrategicMerge = nil
	}
	for i, m := range k.spec.PatchesStrategicMerge {
		k.spec.PatchesStrategicMerge[i] = t.serveMerge(k, m)
	}
	var patches []types.Patch
	for _, p := range k.spec.Patches {
		patches = append(patches, t.servePatch(k, p)...)
	}
	k.spec.Patches = patches
}

// servePatch returns the patches that kustomize gets for a patch. kustomize demands exactly one
// object for a strategic patch that finds its object by name. Such a patch gets a target if several
// objects have that generateName, or if another kustomization has renamed an object to it.
func (t *tree) servePatch(k *kustomization, p types.Patch) []types.Patch {
	documents := strategic(t.textOfPatch(k, p))
	if p.Target != nil {
		t.serveTarget(&p)
		if len(documents) == 1 {
			p = t.nameTargeted(k, p, documents[0])
		}
		return []types.Patch{p}
	}
	if !anyNeedsTarget(k, documents) {
		if nameAll(documents) {
			p = t.withText(k, p, documents)
		}
		return []types.Patch{p}
	}
	var patches []types.Patch
	for _, document := range documents {
		one := p
		if needsTarget(k, document) {
			one.Target = t.targetOf(k, named(document))
		}
		nameAll([]*yaml.RNode{document})
		patches = append(patches, t.withText(k, one, []*yaml.RNode{document}))
	}
	return patches
}

// targetOf returns a target of exactly the objects in a kustomization that have, or had, an id.
func (t *tree) targetOf(k *kustomization, id resid.ResId) *types.Selector {
	literally := func(text string) string {
		if text == "" {
			return "^$" // an empty one matches everything
		}
		return regexp.QuoteMeta(text)
	}
	names := []string{literally(id.Name)}
	for _, i := range k.scope {
		if i.is(id) {
			names = append(names, regexp.QuoteMeta(t.placeholder(i, i.current().affix)))
		}
	}
	slices.Sort(names[1:])
	return &types.Selector{ResId: resid.ResId{
		Gvk: resid.Gvk{
			Group: literally(id.Group), Version: literally(id.Version), Kind: literally(id.Kind),
		},
		Name:      strings.Join(slices.Compact(names), "|"),
		Namespace: literally(id.EffectiveNamespace()),
	}}
}

// nameTargeted gives a name to a strategic patch with a target and only a generateName. kustomize
// ignores that name unless the patch can change names. In that case the patch changes generateName.
func (t *tree) nameTargeted(k *kustomization, p types.Patch, document *yaml.RNode) types.Patch {
	_, generateName := namesOf(document)
	if !nameAll([]*yaml.RNode{document}) {
		return p
	}
	if p.Options != nil && p.Options.AllowNameChange {
		options := *p.Options
		options.AllowNameChange = false
		p.Options = &options
		field := yaml.SetField(generateNameField, yaml.NewStringRNode(generateName))
		_ = document.PipeE(yaml.Lookup(yaml.MetadataField), field) // it is there
	}
	return t.withText(k, p, []*yaml.RNode{document})
}

// nameAll gives patches that have generateName only a name instead, and
// reports whether there are any.
func nameAll(documents []*yaml.RNode) (changed bool) {
	for _, document := range documents {
		name, generateName := namesOf(document)
		if name != "" || generateName == "" {
			continue
		}
		_ = document.PipeE(yaml.Lookup(yaml.MetadataField), yaml.Clear(generateNameField)) // it is there
		changed = document.SetName(generateName) == nil || changed
	}
	return changed
}

// withText serves a patch with other content.
func (t *tree) withText(k *kustomization, p types.Patch, documents []*yaml.RNode) types.Patch {
	content, err := encode(documents)
	if err != nil {
		return p
	}
	if p.Path == "" {
		p.Patch = string(content)
	} else if path, _, err := t.load(k.dir, p.Path); err == nil {
		p.Path += t.serveFile(path, content)
	}
	return p
}

// serveMerge returns the patch that kustomize gets for an entry of patchesStrategicMerge.
func (t *tree) serveMerge(k *kustomization, m types.PatchStrategicMerge) types.PatchStrategicMerge {
	p := types.Patch{Path: string(m)}
	if isInline(string(m)) {
		p = types.Patch{Patch: string(m)}
	}
	documents := strategic(t.textOfMerge(k, m))
	if !nameAll(documents) {
		return m
	}
	p = t.withText(k, p, documents)
	return types.PatchStrategicMerge(p.Path + p.Patch)
}

// needsTarget reports whether kustomize would not find the objects with
// generateName that a strategic patch names, or not all of them.
func needsTarget(k *kustomization, document *yaml.RNode) bool {
	id := named(document)
	found := 0
	renamed := false
	for _, i := range k.scope {
		if i.is(id) {
			found++
			renamed = renamed || i.id.Name != id.Name
		}
	}
	return found > 1 || renamed
}

func anyNeedsTarget(k *kustomization, documents []*yaml.RNode) bool {
	return slices.ContainsFunc(documents, func(d *yaml.RNode) bool { return needsTarget(k, d) })
}

// named returns the id of the objects that a strategic patch names.
func named(document *yaml.RNode) resid.ResId {
	id := idOf(document)
	if name, generateName := namesOf(document); name == "" {
		id.Name = generateName
	}
	return id
}

// strategic returns the patches in a text if they are strategic ones.
func strategic(text []byte) []*yaml.RNode {
	documents, err := kio.FromBytes(text)
	if err != nil || slices.ContainsFunc(documents, func(d *yaml.RNode) bool { return !isObject(d) }) {
		return nil
	}
	return documents
}

func (t *tree) textOfPatch(k *kustomization, p types.Patch) []byte {
	if p.Path == "" {
		return []byte(p.Patch)
	}
	_, content, err := t.load(k.dir, p.Path)
	if err != nil {
		return nil
	}
	return content
}

func (t *tree) textOfMerge(k *kustomization, m types.PatchStrategicMerge) []byte {
	if isInline(string(m)) {
		return []byte(m)
	}
	return t.textOfPatch(k, types.Patch{Path: string(m)})
}

// isInline reports whether a text, where kustomize takes a document or the
// name of a file, is a document.
func isInline(text string) bool { return len(strategic([]byte(text))) > 0 }

// splitSource splits a generator's source of a file, KEY=NAME or NAME.
func splitSource(source string) (key, name string) {
	if key, name, found := strings.Cut(source, "="); found {
		return key, name
	}
	return source[strings.LastIndex(source, "/")+1:], source
}
