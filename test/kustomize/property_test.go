package kustomize

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// TestNamesAndGenerateNames builds random trees of overlays in two forms, with names and with generateNames. A
// generateName is the name and a dash. During the build a suffix follows the dash, and after it the dash is at the
// end again. Both forms give the same result, except for the dash. This includes errors.
func TestNamesAndGenerateNames(t *testing.T) {
	built := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &growth{T: t, named: tree{files: map[string]string{}}, generated: tree{files: map[string]string{}}}
		g.kustomization("root", 2, nil)
		g.named.root, g.generated.root = "root", "root"
		want, got := named(g.named.build(kubectls), ""), named(g.generated.build(ours), "-")
		if strings.HasPrefix(want, "apiVersion: ") {
			built++
		} else {
			got = inWords.ReplaceAllString(got, "$1")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-kubectl with names +ours with generateName)\n%s\n%s", diff, g.generated)
		}
	})
	if built < 50 {
		t.Errorf("only %d trees could be built: this tells nothing", built)
	}
}

// inWords finds the generateNames in an error.
var inWords = regexp.MustCompile(`\b((?:a-|team)*s\d{3})-`)

// growth is a random tree while it grows.
type growth struct {
	*rapid.T
	named, generated tree
	objects          int
	keys             int
}

// grown is an object of a random tree.
type grown struct {
	kind  string
	names []string // the name in its file, and the names that overlays have given it
}

// dash stands for the dash of a generateName. write removes it from the form with names, and writes a dash into the
// other form.
const dash = "-§"

func (g *growth) write(file, content string) {
	g.named.files[file] = strings.ReplaceAll(content, dash, "")
	g.generated.files[file] = strings.ReplaceAll(content, dash, "-")
}

func (g *growth) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(g.T, label)
}

func (g *growth) flip(label string) bool { return rapid.Bool().Draw(g.T, label) }

// kustomization grows a kustomization with up to levels levels below it, and returns its objects.
func (g *growth) kustomization(dir string, levels int, came []grown) []grown {
	spec := map[string]any{}
	objects := came
	resources := []string{"own.yaml"}
	objects = append(objects, g.file(path.Join(dir, "own.yaml"))...)
	if levels > 0 {
		for i := range rapid.IntRange(0, 2).Draw(g.T, "bases") {
			base := fmt.Sprintf("base%d", i)
			objects = append(objects, g.kustomization(path.Join(dir, base), levels-1, nil)...)
			resources = append(resources, base)
		}
		if g.flip("component") {
			objects = g.kustomization(path.Join(dir, "component"), 0, objects)
			spec["components"] = []string{"component"}
		}
	}
	if path.Base(dir) == "component" {
		spec["apiVersion"], spec["kind"] = "kustomize.config.k8s.io/v1alpha1", "Component"
	}
	spec["resources"] = resources
	spec["patches"] = g.patches(dir, objects)
	if g.flip("merge") {
		spec["patchesStrategicMerge"] = []string{g.strategic(objects)}
	}
	prefix, suffix := g.pick("prefix", "", "", "a-", "team"), g.pick("suffix", "", "", "-x", "z")
	spec["namePrefix"], spec["nameSuffix"] = prefix, suffix
	objects = rename(objects, prefix, suffix)
	if g.flip("namespace") {
		spec["namespace"] = g.pick("in", "one", "two")
	}
	if g.flip("labels") {
		spec["commonAnnotations"] = map[string]string{g.key(): "common"}
	}
	if g.flip("replacement") {
		spec["replacements"] = []any{g.replacement(objects)}
	}
	text, err := yaml.Marshal(spec)
	if err != nil {
		g.Fatal(err)
	}
	g.write(path.Join(dir, "kustomization.yaml"), string(text))
	return objects
}

func rename(objects []grown, prefix, suffix string) []grown {
	var renamed []grown
	for _, o := range objects {
		name := o.names[len(o.names)-1]
		names := append([]string{}, o.names...)
		if prefix != "" {
			name = prefix + name
			names = append(names, name)
		}
		if suffix != "" {
			names = append(names, name+suffix)
		}
		renamed = append(renamed, grown{o.kind, names})
	}
	return renamed
}

// file grows a file with objects, whose names are all different.
func (g *growth) file(name string) (objects []grown) {
	var texts []string
	for range rapid.IntRange(1, 2).Draw(g.T, "objects") {
		g.objects++
		o := grown{g.pick("kind", "ConfigMap", "Secret"), []string{fmt.Sprintf("s%03d", g.objects) + dash}}
		field := "name"
		metadata := fmt.Sprintf("{%s: %s, labels: {l: a}, annotations: {n: b}}", field, o.names[0])
		texts = append(texts, fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: %s\ndata: {k%d: dg==}\n", o.kind, metadata, g.objects))
		objects = append(objects, o)
	}
	g.write(name, strings.Join(texts, "---\n"))
	g.generated.files[name] = strings.ReplaceAll(g.generated.files[name], "{name: ", "{generateName: ")
	return objects
}

// key returns a unique key.
func (g *growth) key() string {
	g.keys++
	return fmt.Sprintf("key%d", g.keys)
}

func (g *growth) patches(dir string, objects []grown) (patches []any) {
	for range rapid.IntRange(0, 3).Draw(g.T, "patches") {
		operation := fmt.Sprintf(`[{"op": "add", "path": "/metadata/labels/%s", "value": "patched"}]`, g.key())
		merge := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: any, labels: {%s: merged}}\n", g.key())
		switch g.pick("patch", "operation", "merge", "by itself", "file") {
		case "operation":
			patches = append(patches, map[string]any{"patch": operation, "target": g.selector(objects)})
		case "merge":
			target := g.selector(objects)
			target["kind"] = "ConfigMap"
			patches = append(patches, map[string]any{"patch": merge, "target": target})
		case "by itself":
			patches = append(patches, map[string]any{"patch": g.strategic(objects)})
		case "file":
			name := g.key() + ".yaml"
			g.write(path.Join(dir, name), g.strategic(objects))
			patches = append(patches, map[string]any{"path": name})
		}
	}
	return patches
}

// strategic grows a strategic patch of one of the objects, by one of its names.
func (g *growth) strategic(objects []grown) string {
	o := rapid.SampledFrom(objects).Draw(g.T, "object")
	name := rapid.SampledFrom(o.names).Draw(g.T, "name")
	return fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: %s, labels: {%s: strategic}}\n", o.kind, name, g.key())
}

// selector grows a selector of one of the objects, by a name in some form.
func (g *growth) selector(objects []grown) map[string]any {
	o := rapid.SampledFrom(objects).Draw(g.T, "object")
	name := rapid.SampledFrom(o.names).Draw(g.T, "name")
	bare, dashed := strings.CutSuffix(name, dash)
	end := bare[len(bare)-1:]
	if dashed {
		end += dash
	}
	return map[string]any{"name": g.pick("form", name, "^"+name+"$", bare+".*", ".*"+end,
		"[a-z-]+[0-9]+"+dash, "(?:"+name+"|nothing)", ".*[0-9].*", "a-.*", "[^a].*", ".*x", "")}
}

func (g *growth) replacement(objects []grown) map[string]any {
	o := rapid.SampledFrom(objects).Draw(g.T, "source")
	source := map[string]any{"kind": o.kind, "fieldPath": "metadata.labels.l"}
	source["name"] = rapid.SampledFrom(o.names).Draw(g.T, "name")
	target := map[string]any{
		"select": g.selector(objects), "fieldPaths": []string{"metadata.annotations." + g.key()},
		"options": map[string]any{"create": true},
	}
	if g.flip("reject") {
		target["reject"] = []any{g.selector(objects)}
	}
	return map[string]any{"source": source, "targets": []any{target}}
}
