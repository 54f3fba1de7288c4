package create

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// maxFields is the number of fields that a comparison names.
const maxFields = 3

// differences returns the paths of at most maxFields fields of the document that a stored object lacks, or
// has with another value. differences ignores fields that only the stored object has, because a server adds
// defaults. So differences can't detect that a field was removed from the document.
func (d *Document) differences(stored *unstructured.Unstructured) []string {
	return d.firstDifferences(given("", d.contentOf(d.Object)), d.contentOf(stored))
}

// changes returns the paths as differences does, for an object that an earlier run created. changes also
// compares the defaults of Jobs and Pods if they decide whether the object does its work. changes ignores the
// status, metadata.finalizers, and the field suspend of kinds that finish, because controllers set them.
func (d *Document) changes(stored *unstructured.Unstructured) []string {
	wanted, _ := given("", d.contentOf(d.Object)).(map[string]any)
	delete(wanted, "status")
	delete(mapOf(wanted, "metadata"), "finalizers")
	kind := d.Mapping.GroupVersionKind.GroupKind()
	if spec := mapOf(wanted, "spec"); finished.Knows(kind) && spec != nil {
		delete(spec, "suspend")
		delete(mapOf(spec, "runPolicy"), "suspend") // of an MPIJob
		addDefaults(kind, spec)
	}
	return d.firstDifferences(wanted, d.contentOf(stored))
}

func (d *Document) firstDifferences(wanted, stored any) []string {
	c := comparison{most: maxFields, grows: d.grows}
	c.compare("", wanted, stored)
	return c.paths
}

var (
	idPath = fieldpath.MakePathOrDie("metadata", "annotations", derive.IDAnnotation)
	// elements matches the elements of a path: ["a.b"], [0] and a.
	elements = regexp.MustCompile(`\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.\[\]]+`)
)

// changedBy returns the field managers that have written all of the paths since the creation, or nil. The managers
// help to find the cause of a difference. They prove nothing, because any client can claim a manager, and can write
// managedFields itself.
func (d *Document) changedBy(stored *unstructured.Unstructured, paths []string) (managers []string) {
	if len(paths) == 0 {
		return nil
	}
	written, managed := map[string]bool{}, map[string]fieldpath.Path{}
	for _, path := range paths {
		managed[path] = d.managedPath(path)
	}
	for _, entry := range stored.GetManagedFields() {
		owned := &fieldpath.Set{}
		if entry.FieldsV1 == nil || owned.FromJSON(entry.FieldsV1.GetRawReader()) != nil || owned.Has(idPath) {
			continue // the last manager created the object
		}
		for path, is := range managed {
			if owns(owned, is) {
				written[path] = true
				managers = append(managers, entry.Manager)
			}
		}
	}
	if len(written) < len(paths) {
		return nil
	}
	slices.Sort(managers)
	return slices.Compact(managers)
}

// managedPath returns a path in the notation of managedFields, where a name identifies an item of most
// lists. managedPath returns nil if an item has no name.
func (d *Document) managedPath(path string) (managed fieldpath.Path) {
	var value any = d.Object.Object
	for _, element := range elements.FindAllString(path, -1) {
		if list, is := value.([]any); is {
			i, err := strconv.Atoi(strings.Trim(element, "[]"))
			if err != nil || i >= len(list) || nameOf(list[i]) == "" {
				return nil
			}
			value = list[i]
			managed = append(managed, fieldpath.PathElement{Key: fieldpath.KeyByFields("name", nameOf(value))})
			continue
		}
		if quoted, err := strconv.Unquote(strings.Trim(element, "[]")); err == nil {
			element = quoted
		}
		managed = append(managed, fieldpath.FieldNameElement(element))
		fields, _ := value.(map[string]any)
		value = fields[element]
	}
	return managed
}

// owns reports whether a set has the path or fields below it. owns reads nothing else, because other users
// can write sets of any size and depth.
func owns(set *fieldpath.Set, path fieldpath.Path) bool {
	for len(path) > 1 {
		below, has := set.Children.Get(path[0])
		if !has {
			return false
		}
		set, path = below, path[1:]
	}
	if len(path) == 0 {
		return false
	}
	_, has := set.Children.Get(path[0])
	return has || set.Members.Has(path[0])
}

func (d *Document) contentOf(object *unstructured.Unstructured) map[string]any {
	kind := d.Mapping.GroupVersionKind
	content := derive.Content(derive.Object{Group: kind.Group, Kind: kind.Kind}, object.Object)
	if content["metadata"] == nil {
		content["metadata"] = map[string]any{}
	}
	return content
}

func mapOf(content any, field string) map[string]any {
	fields, _ := content.(map[string]any)
	value, _ := fields[field].(map[string]any)
	return value
}

// These fields of API types are maps, which a server drops if they are empty.
const (
	textMaps = "annotations|labels|matchLabels|nodeSelector|selector|data|binaryData|stringData|options|parameters|" +
		"volumeAttributes|attributes"
	quantityMaps = "limits|requests|overhead|capacity|hard|min|max|default|defaultRequest|maxLimitRequestRatio"
)

var (
	mapPath = regexp.MustCompile(`(^|\.)(` + textMaps + `|` + quantityMaps + `)$`)
	// textPath is the path of a value that a server stores as it is: in a map of text, in a list, or a value of a
	// parameter or of an environment variable.
	textPath = regexp.MustCompile(`(^|\.)((` + textMaps + `)(\.[\w-]+|\["[^]]*"\])|value)$|\[\d+\]$`)
)

// given returns a copy of a manifest's value without nulls and empty strings. A server replaces them by
// defaults.
func given(path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, each := range v {
			if at := join(path, key); each != nil && (each != "" || textPath.MatchString(at)) {
				kept[key] = given(at, each)
			}
		}
		return kept
	case []any:
		kept := slices.Clone(v)
		for i, each := range v {
			kept[i] = given(path+"[0]", each)
		}
		return kept
	}
	return value
}

// addDefaults adds the server's defaults of fields that are absent in the spec of a Job or a Pod. The value nil stands
// for a field that the server leaves absent.
func addDefaults(kind schema.GroupKind, spec map[string]any) {
	add := func(field string, value any) {
		if spec[field] == nil {
			spec[field] = value
		}
	}
	switch kind {
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		if spec["parallelism"] == nil {
			add("completions", int64(1))
		}
		add("parallelism", int64(1))
		add("completions", nil)
		add("activeDeadlineSeconds", nil)
	case schema.GroupKind{Kind: "Pod"}:
		add("activeDeadlineSeconds", nil)
	}
}

// extended is the path of a list of a built-in type that webhooks, servers and controllers extend.
var extended = regexp.MustCompile(`(^|\.)(containers|initContainers|ephemeralContainers|volumes|env|volumeMounts|` +
	`tolerations|imagePullSecrets|readinessGates|schedulingGates|finalizers|ownerReferences)$`)

// grows reports whether more items in the stored list than in the manifest's are no difference. This is so
// for all lists of a custom type.
func (d *Document) grows(path string) bool {
	switch kind := d.Mapping.GroupVersionKind; {
	case !scheme.Scheme.IsGroupRegistered(kind.Group):
		return true
	case path == "rules" && kind.Kind == "ClusterRole":
		return d.Object.Object["aggregationRule"] != nil
	case path == "secrets":
		return kind.Kind == "ServiceAccount"
	}
	return extended.MatchString(path)
}

// comparison collects paths.
type comparison struct {
	paths []string
	most  int
	grows func(path string) bool // see Document.grows
}

func (c *comparison) compare(path string, wanted, stored any) {
	if len(c.paths) == c.most || isEmpty(wanted) && isEmpty(stored) {
		return
	}
	switch w := wanted.(type) {
	case map[string]any:
		if s, ok := stored.(map[string]any); ok {
			c.compareMaps(path, w, s)
			return
		}
	case []any:
		if s, ok := stored.([]any); ok && (len(s) == len(w) || c.grows(path)) {
			c.compareLists(path, w, s)
			return
		}
	default:
		if isSame(path, wanted, stored) {
			return
		}
	}
	c.add(path)
}

func (c *comparison) add(path string) {
	if len(c.paths) < c.most {
		c.paths = append(c.paths, path)
	}
}

// compareMaps compares the fields of the manifest's map. A missing map is a difference even if it is empty, because
// emptyDir: {} is not the same as hostPath.
func (c *comparison) compareMaps(path string, wanted, stored map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		at := join(path, key)
		if _, is := wanted[key].(map[string]any); is && stored[key] == nil && !mapPath.MatchString(at) {
			c.add(at)
			continue
		}
		c.compare(at, wanted[key], stored[key])
	}
}

// compareLists compares the items of the manifest's list. If grows is true for the list, the stored list can have
// more items, such as injected containers. Items with a name are compared with the stored items of this name.
func (c *comparison) compareLists(path string, wanted, stored []any) {
	next := 0 // first stored item that an item without a name can match
	for i, item := range wanted {
		if len(c.paths) == c.most { // without this limit, a long list takes minutes
			return
		}
		at := path + "[" + strconv.Itoa(i) + "]"
		candidates, name := stored[min(next, len(stored)):], nameOf(item)
		if name != "" {
			candidates = stored
		}
		is := slices.IndexFunc(candidates, func(s any) bool { return nameOf(s) == name && c.isContained(at, item, s) })
		other := slices.IndexFunc(candidates, func(s any) bool { return name != "" && nameOf(s) == name })
		switch {
		case is >= 0 && name != "":
		case is >= 0:
			next += is + 1
		case other >= 0:
			c.compare(at, item, candidates[other])
		case len(wanted) == len(stored):
			c.compare(at, item, stored[i])
		default:
			c.add(at)
		}
	}
}

func (c *comparison) isContained(path string, wanted, stored any) bool {
	item := comparison{most: 1, grows: c.grows}
	item.compare(path, wanted, stored)
	return len(item.paths) == 0
}

func nameOf(item any) string {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}

// simple is a key that needs no brackets in a path.
var simple = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func join(path, key string) string {
	switch {
	case !simple.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// isEmpty reports whether a server drops a value.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, each := range v {
			if !isEmpty(each) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return reflect.ValueOf(value).IsZero()
}

// quantity matches quantities with small exponents. Package resource would compare 1 with 1e999999999 digit by digit,
// and another user can write such a text.
var quantity = regexp.MustCompile(`^[-+]?[0-9.]{1,40}([eE][-+]?[0-9]{1,2}|[a-zA-Z]{0,2})$`)

// isSame reports whether two values mean the same. Servers rewrite quantities and durations to one notation: 1000m is
// 1, and 60m is 1h0m0s. Servers don't rewrite text: the text 1.10 is not the text 1.1.
func isSame(path string, wanted, stored any) bool {
	w, s := fmt.Sprint(wanted), fmt.Sprint(stored)
	switch {
	case reflect.DeepEqual(wanted, stored):
		return true
	case wanted == nil || stored == nil:
		return false
	case w == s || textPath.MatchString(path):
		return w == s
	}
	if quantity.MatchString(w) && quantity.MatchString(s) {
		a, err := resource.ParseQuantity(w)
		if b, other := resource.ParseQuantity(s); err == nil && other == nil {
			_, isText := stored.(string)
			return a.Cmp(b) == 0 && (!isText || b.String() == s)
		}
	}
	a, err := time.ParseDuration(w)
	return err == nil && a.String() == s
}
