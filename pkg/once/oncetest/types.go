package oncetest

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Type is a resource type of a Server. It has the subresource status, so only an update of that changes the status.
type Type struct {
	Group, Version, Kind string
	// Resource is the plural in URLs. The default is the usual plural of Kind.
	Resource string
	// ClusterScoped reports whether its objects have no namespace.
	ClusterScoped bool
}

// builtin are the types of every server.
var builtin = []Type{
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Namespace", ClusterScoped: true},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "batch", Version: "v1", Kind: "Job"},
}

func (t Type) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: t.Group, Version: t.Version}
}

func (t Type) kind() schema.GroupVersionKind { return t.groupVersion().WithKind(t.Kind) }

func (t Type) resource() schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(t.kind())
	return t.groupVersion().WithResource(cmp.Or(t.Resource, plural.Resource))
}

// verbs are the server's verbs.
var verbs = metav1.Verbs{"create", "delete", "get", "list", "update", "watch"}
