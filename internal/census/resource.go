package census

import "k8s.io/apimachinery/pkg/runtime/schema"

// Resource is a resource type as the server lists it.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// path returns the URL path of a list of the resource type. An empty namespace means all.
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

// Skipped is a scope that could not be read, or that every census leaves out.
type Skipped struct {
	// Group and Resource are the resource type. Resource is empty for a whole group.
	Group, Resource string
	// Namespace is empty for all namespaces and for cluster-scoped types.
	Namespace string
	Reason    Reason
	// Message describes the cause.
	Message string
}

// Reason is the reason why something was skipped. The values are part of the report.
type Reason string

// The reasons.
const (
	Excluded     Reason = "excluded"     // the type has no generated names
	Undiscovered Reason = "undiscovered" // the group could not be discovered
	Unauthorized Reason = "unauthorized"
	Forbidden    Reason = "forbidden"
	NotFound     Reason = "notFound"    // the type no longer exists
	NotListable  Reason = "notListable" // no list verb, or no metadata
	Throttled    Reason = "throttled"   // 429 until RetryTimeout
	Unreachable  Reason = "unreachable" // no response, or 502, 503, 504, until RetryTimeout
	TimedOut     Reason = "timeout"     // responses took too long
	Malformed    Reason = "malformed"   // the response is not a list
	Expired      Reason = "expired"     // the list expired repeatedly
	Interrupted  Reason = "interrupted" // the context was done
	Failed       Reason = "failed"      // anything else
)
