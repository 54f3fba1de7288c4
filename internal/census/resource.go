package census

import "k8s.io/apimachinery/pkg/runtime/schema"

// Resource is a type of objects as a server lists it.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// path is the URL's path of a list of the resource, in one namespace or, if it is
// empty, in all.
func (r Resource) path(namespace string) []string {
	path := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"api", r.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, r.Resource)
}

// Skipped is something that could not be read, or is left out of every census.
type Skipped struct {
	// Group and Resource are the type; Resource is empty for a whole group.
	Group, Resource string
	// Namespace is empty if it was to be read in all namespaces, or has none.
	Namespace string
	Reason    Reason
	// Message is the cause in words.
	Message string
}

// Reason is why something was skipped. The values are part of the report.
type Reason string

// The reasons.
const (
	Excluded     Reason = "excluded"     // names are not generated there
	Undiscovered Reason = "undiscovered" // the group could not be discovered
	Unauthorized Reason = "unauthorized"
	Forbidden    Reason = "forbidden"
	NotFound     Reason = "notFound"    // the type has gone
	NotListable  Reason = "notListable" // no list verb, or no metadata
	Throttled    Reason = "throttled"   // 429 until the time was up
	Unreachable  Reason = "unreachable" // no answer, or 502, 503, 504, until the time was up
	TimedOut     Reason = "timeout"     // answers took too long
	Malformed    Reason = "malformed"   // the answer is not a list
	Expired      Reason = "expired"     // the list expired again and again
	Interrupted  Reason = "interrupted" // the context was done
	Failed       Reason = "failed"      // anything else
)
