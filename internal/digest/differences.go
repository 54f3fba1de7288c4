package digest

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Differences returns the paths of the fields of a manifest that a stored object lacks or has with
// another value. The paths are in order, at most as many as most. It ignores the fields that Of
// leaves out and the name. It also ignores fields that only the stored object has, because a server
// adds defaults. So it can't detect that a field was removed from the manifest.
func Differences(manifest, stored *unstructured.Unstructured, most int) []string {
	wanted, has := manifest.DeepCopy().Object, stored.DeepCopy().Object
	for _, content := range []map[string]any{wanted, has} {
		delete(content, "status")
		if metadata, ok := content["metadata"].(map[string]any); ok {
			for _, field := range []string{"name", "resourceVersion", "uid", "creationTimestamp"} {
				delete(metadata, field)
			}
			withoutTools(metadata, "labels")
			withoutTools(metadata, "annotations")
		}
	}
	withStringData(wanted)
	d := differences{most: most}
	d.compare("", wanted, has)
	return d.paths
}

// withStringData replaces stringData by data, as the server does.
func withStringData(content map[string]any) {
	texts, ok := content["stringData"].(map[string]any)
	if !ok || content["kind"] != "Secret" {
		return
	}
	data, ok := content["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for key, value := range texts {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	delete(content, "stringData")
	content["data"] = data
}

// differences collects paths.
type differences struct {
	paths []string
	most  int
}

// compare compares a value of the manifest with the stored one.
func (d *differences) compare(path string, wanted, stored any) {
	if len(d.paths) == d.most || isEmpty(wanted) && isEmpty(stored) {
		return
	}
	switch w := wanted.(type) {
	case map[string]any:
		if s, ok := stored.(map[string]any); ok {
			d.compareMaps(path, w, s)
			return
		}
	case []any:
		if s, ok := stored.([]any); ok && len(s) == len(w) {
			for i := range w {
				d.compare(path+"["+strconv.Itoa(i)+"]", w[i], s[i])
			}
			return
		}
	default:
		if isSame(wanted, stored) {
			return
		}
	}
	d.paths = append(d.paths, path)
}

// compareMaps compares the fields of the manifest's map.
func (d *differences) compareMaps(path string, wanted, stored map[string]any) {
	var keys []string
	for key := range wanted {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		d.compare(join(path, key), wanted[key], stored[key])
	}
}

// simple is a key that needs no brackets in a path.
var simple = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// join returns the path of a field.
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

// isSame reports whether two values mean the same. Servers rewrite quantities and
// durations: 1000m is 1, and 60m is 1h0m0s.
func isSame(wanted, stored any) bool {
	if reflect.DeepEqual(wanted, stored) {
		return true
	}
	if wanted == nil || stored == nil {
		return false
	}
	w, s := fmt.Sprint(wanted), fmt.Sprint(stored)
	if w == s {
		return true
	}
	if a, err := resource.ParseQuantity(w); err == nil {
		if b, err := resource.ParseQuantity(s); err == nil {
			return a.Cmp(b) == 0
		}
	}
	a, err1 := time.ParseDuration(w)
	b, err2 := time.ParseDuration(s)
	return err1 == nil && err2 == nil && a == b
}
