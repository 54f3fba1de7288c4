package intercept

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A target is the collection that a create is sent to.
type target struct {
	resource  schema.GroupVersionResource
	namespace string // empty for a cluster-scoped resource
}

// targetOf returns the collection of a create. It returns false for every other request, such as a create of a
// subresource or a dry run. base is the path of the server's URL.
func targetOf(r *http.Request, base string) (target, bool) {
	path, ok := strings.CutPrefix(r.URL.Path, strings.TrimRight(base, "/")+"/")
	if !ok || r.Method != http.MethodPost || r.URL.Query().Has("dryRun") {
		return target{}, false
	}
	return collectionOf(strings.Split(strings.TrimSuffix(path, "/"), "/"))
}

// collectionOf returns the collection of a path, without the path of the server's URL.
func collectionOf(parts []string) (to target, ok bool) {
	switch {
	case len(parts) > 2 && parts[0] == "api":
		to.resource.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		to.resource.Group, to.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return target{}, false
	}
	if len(parts) == 3 && parts[0] == "namespaces" && parts[1] != "" {
		to.namespace, parts = parts[1], parts[2:]
	}
	to.resource.Resource = parts[0]
	return to, len(parts) == 1 && parts[0] != "" && to.resource.Version != ""
}
