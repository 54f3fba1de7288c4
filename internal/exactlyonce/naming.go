package exactlyonce

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ipAddresses is the type for which the server generates no name, and uses the generateName unchanged.
var ipAddresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}

// OnlyServerNames returns the reason why Create can't pick the names of a resource type, as a part of a sentence. The
// reason is empty if Create can pick them, or if verbs is empty, because then the first GET shows the problem. verbs
// are the verbs of the type. Send objects of a type with a reason as Untracked.
func OnlyServerNames(resource schema.GroupResource, verbs []string) string {
	switch {
	case resource == ipAddresses:
		return "the server uses generateName itself as the name"
	case len(verbs) == 0 || slices.Contains(verbs, "get"):
		return ""
	case len(verbs) == 1:
		return "the server does not store them"
	}
	return "their API has no verb get"
}
