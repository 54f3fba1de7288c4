package oncetest

import (
	"net/http"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// aggregated is the media type of discovery in one response. client-go asks for it
// first.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// discover responds to requests that aren't about objects.
func (s *Server) discover(path, accept string) *http.Response {
	core := path == "/api"
	switch {
	case path == "/version":
		return respondJSON(http.StatusOK, version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.0+oncetest"})
	case (core || path == "/apis") && strings.Contains(accept, aggregated):
		resp := respondJSON(http.StatusOK, s.discoveryOf(core))
		resp.Header.Set("Content-Type", aggregated)
		return resp
	case core:
		return respondJSON(http.StatusOK, metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
		})
	case path == "/apis":
		return respondJSON(http.StatusOK, s.groups())
	}
	return s.resourcesAt(path)
}

// versions returns the group-versions in the order of their types.
func (s *Server) versions(core bool) []schema.GroupVersion {
	var versions []schema.GroupVersion
	for _, t := range s.types {
		if v := t.groupVersion(); (v.Group == "") == core && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return versions
}

func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, v := range s.versions(false) {
		entry := metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}
		at := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == v.Group })
		if at < 0 {
			at = len(list.Groups)
			list.Groups = append(list.Groups, metav1.APIGroup{Name: v.Group, PreferredVersion: entry})
		}
		list.Groups[at].Versions = append(list.Groups[at].Versions, entry)
	}
	return list
}

func (s *Server) discoveryOf(core bool) apidiscovery.APIGroupDiscoveryList {
	list := apidiscovery.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
	}
	for _, v := range s.versions(core) {
		at := slices.IndexFunc(list.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == v.Group })
		if at < 0 {
			at = len(list.Items)
			named := metav1.ObjectMeta{Name: v.Group}
			list.Items = append(list.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: named})
		}
		list.Items[at].Versions = append(list.Items[at].Versions, s.discoveryOfVersion(v))
	}
	return list
}

func (s *Server) discoveryOfVersion(v schema.GroupVersion) apidiscovery.APIVersionDiscovery {
	found := apidiscovery.APIVersionDiscovery{Version: v.Version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
	for _, r := range s.resourcesOf(v) {
		scope := apidiscovery.ScopeNamespace
		if !r.Namespaced {
			scope = apidiscovery.ScopeCluster
		}
		found.Resources = append(found.Resources, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, SingularResource: r.SingularName, Scope: scope, Verbs: r.Verbs,
			ResponseKind: &metav1.GroupVersionKind{Group: v.Group, Version: v.Version, Kind: r.Kind},
		})
	}
	return found
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
