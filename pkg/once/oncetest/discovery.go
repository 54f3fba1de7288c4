package oncetest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// discover responds to requests that aren't about objects.
func (s *Server) discover(path string) *http.Response {
	switch path {
	case "/version":
		return respondJSON(http.StatusOK, version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.0+oncetest"})
	case "/api":
		return respondJSON(http.StatusOK, metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
		})
	case "/apis":
		return respondJSON(http.StatusOK, s.groups())
	}
	return s.resourcesAt(path)
}

func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, t := range s.types {
		v := t.groupVersion()
		if v.Group == "" {
			continue
		}
		entry := metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}
		at := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == v.Group })
		if at < 0 {
			at = len(list.Groups)
			list.Groups = append(list.Groups, metav1.APIGroup{Name: v.Group, PreferredVersion: entry})
		}
		if group := &list.Groups[at]; !slices.Contains(group.Versions, entry) {
			group.Versions = append(group.Versions, entry)
		}
	}
	return list
}

// resourcesAt responds for the path of one group and version. For other paths it
// responds as kube-apiserver does.
func (s *Server) resourcesAt(path string) *http.Response {
	known := strings.HasPrefix(path, "/api/")
	for _, t := range s.types {
		v := t.groupVersion()
		if path == prefixOf(v) {
			return respondJSON(http.StatusOK, metav1.APIResourceList{
				TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
				GroupVersion: v.String(), APIResources: s.resourcesOf(v),
			})
		}
		known = known || strings.HasPrefix(path, prefixOf(v)+"/")
	}
	if !known {
		return respond(http.StatusNotFound, "text/plain; charset=utf-8", "404 page not found\n")
	}
	err := statusError(http.StatusNotFound, metav1.StatusReasonNotFound,
		"the server could not find the requested resource")
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return refuse(err)
}

func (s *Server) resourcesOf(v schema.GroupVersion) []metav1.APIResource {
	var resources []metav1.APIResource
	for _, t := range s.types {
		if t.groupVersion() == v {
			_, singular := meta.UnsafeGuessKindToResource(t.kind())
			resources = append(resources, metav1.APIResource{
				Name: t.resource().Resource, SingularName: singular.Resource, Kind: t.Kind,
				Namespaced: !t.ClusterScoped, Verbs: verbs,
			})
		}
	}
	return resources
}

func prefixOf(v schema.GroupVersion) string {
	if v.Group == "" {
		return "/api/" + v.Version
	}
	return "/apis/" + v.String()
}

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
