package kustomize

import (
	"reflect"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// transformers returns the configurations of a kustomization's transformers. They are inline, in
// files, or in the resources of another kustomization.
func (t *tree) transformers(k *kustomization, above []filesys.ConfirmedDir) (configs []*kyaml.RNode) {
	for _, entry := range k.spec.Transformers {
		if documents, err := kio.FromBytes([]byte(entry)); err == nil && isInline(entry) {
			configs = append(configs, documents...)
		} else if m := t.config(k, entry); m != nil {
			configs = append(configs, m.documents...)
		} else if dir, err := filesys.ConfirmDir(t.files, k.dir.Join(entry)); err == nil {
			t.visit(dir, above, nil, true)
			for _, m := range t.configsOf(dir) {
				configs = append(configs, m.documents...)
			}
		}
	}
	return configs
}

// config reads a file with configurations.
func (t *tree) config(k *kustomization, name string) *manifest {
	return t.manifest(&kustomization{dir: k.dir, config: true}, name)
}

// configsOf returns the files with configurations in a directory and below it.
func (t *tree) configsOf(dir filesys.ConfirmedDir) (manifests []*manifest) {
	k := t.kustomizations[dir.String()]
	if k == nil {
		return nil
	}
	for _, resource := range k.spec.Resources {
		if m := t.config(k, resource); m != nil {
			manifests = append(manifests, m)
		} else if base, err := filesys.ConfirmDir(t.files, dir.Join(resource)); err == nil && base != dir {
			manifests = append(manifests, t.configsOf(base)...)
		}
	}
	return manifests
}

// serveTransformers changes the configurations of a kustomization's transformers.
func (t *tree) serveTransformers(k *kustomization) {
	for i, entry := range k.spec.Transformers {
		if documents := strategic([]byte(entry)); len(documents) > 0 {
			if content, changed := t.serveConfigs(k, documents); changed {
				k.spec.Transformers[i] = string(content)
			}
		} else if m := t.config(k, entry); m != nil {
			t.serveConfigFile(k, m)
			k.spec.Transformers[i] += m.marker
		} else if dir, err := filesys.ConfirmDir(t.files, k.dir.Join(entry)); err == nil {
			for _, m := range t.configsOf(dir) {
				t.serveConfigFile(k, m)
			}
		}
	}
}

func (t *tree) serveConfigFile(k *kustomization, m *manifest) {
	if content, changed := t.serveConfigs(k, m.documents); changed && m.marker == "" {
		m.marker = t.serveFile(m.path, content)
	}
}

func (t *tree) serveConfigs(k *kustomization, documents []*kyaml.RNode) (content []byte, changed bool) {
	for _, document := range documents {
		changed = isObject(document) && t.serveConfig(k, document) || changed
	}
	content, err := encode(documents)
	return content, changed && err == nil
}

// serveConfig changes the configuration of one transformer, and reports
// whether it has.
func (t *tree) serveConfig(k *kustomization, document *kyaml.RNode) bool {
	switch document.GetKind() {
	case "PatchTransformer":
		return change(document, func(p *types.Patch) {
			if served := t.servePatch(k, *p); len(served) == 1 {
				*p = served[0]
			}
		})
	case "PatchJson6902Transformer":
		return change(document, func(p *targeted) { t.serveSelector(p.Target) })
	case "PatchStrategicMergeTransformer":
		return change(document, func(p *merges) {
			for i := range p.Paths {
				p.Paths[i] = t.serveMerge(k, p.Paths[i])
			}
			if p.Patches != "" {
				p.Patches = string(t.serveMerge(k, types.PatchStrategicMerge(p.Patches)))
			}
		})
	case "ReplacementTransformer":
		return change(document, func(r *replacements) { t.serveReplacements(k, r.Replacements) })
	case "ReplicaCountTransformer":
		return change(document, func(r *replicas) { t.serveName(k, &r.Replica.Name) })
	}
	return false
}

// The fields with names in transformers' configurations.
type (
	targeted struct {
		Target *types.Selector `json:"target,omitempty"`
	}
	merges struct {
		Paths   []types.PatchStrategicMerge `json:"paths,omitempty"`
		Patches string                      `json:"patches,omitempty"`
	}
	replacements struct {
		Replacements []types.ReplacementField `json:"replacements,omitempty"`
	}
	replicas struct {
		Replica types.Replica `json:"replica,omitempty"`
	}
)

// change changes some fields of a document, and reports whether it has.
func change[Fields any](document *kyaml.RNode, by func(*Fields)) bool {
	var fields Fields
	text, err := document.String()
	if err != nil || yaml.Unmarshal([]byte(text), &fields) != nil {
		return false
	}
	before, after := map[string]any{}, map[string]any{}
	if asMap(fields, before) != nil {
		return false
	}
	by(&fields)
	if asMap(fields, after) != nil || reflect.DeepEqual(before, after) {
		return false
	}
	for field := range before {
		if _, kept := after[field]; !kept {
			_ = document.PipeE(kyaml.Clear(field)) // it is there
		}
	}
	for field, value := range after {
		text, err := yaml.Marshal(value)
		if err != nil {
			return false
		}
		node, err := kyaml.Parse(string(text))
		if err != nil || document.PipeE(kyaml.SetField(field, node)) != nil {
			return false
		}
	}
	return true
}

func asMap(fields any, into map[string]any) error {
	text, err := yaml.Marshal(fields)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, &into)
}

// serveReplacements makes replacements, inline or in files, find objects with
// generateName.
func (t *tree) serveReplacements(k *kustomization, list []types.ReplacementField) {
	for i := range list {
		if list[i].Path == "" {
			t.serveReplacement(k, &list[i].Replacement)
			continue
		}
		path, content, err := t.load(k.dir, list[i].Path)
		if err != nil {
			continue
		}
		if content, changed := t.serveReplacementFile(k, content); changed {
			list[i].Path += t.serveFile(path, content)
		}
	}
}

// serveReplacementFile returns the served content of a file with one or several replacements.
func (t *tree) serveReplacementFile(k *kustomization, content []byte) (served []byte, changed bool) {
	var several []types.Replacement
	if yaml.Unmarshal(content, &several) != nil {
		several = make([]types.Replacement, 1)
		if yaml.Unmarshal(content, &several[0]) != nil {
			return nil, false // for kustomize to refuse
		}
	}
	for i := range several {
		t.serveReplacement(k, &several[i])
	}
	served, err := yaml.Marshal(several)
	return served, err == nil
}

func (t *tree) serveReplacement(k *kustomization, r *types.Replacement) {
	if r.Source != nil {
		t.serveName(k, &r.Source.Name)
	}
	for _, target := range r.Targets {
		if target == nil {
			continue
		}
		t.serveSelector(target.Select)
		for _, reject := range target.Reject {
			t.serveSelector(reject)
		}
	}
}
