package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
)

// synthetic is an API server that has only the ConfigMaps of a population, in the order of their keys in etcd. Its lists
// are the protobuf of a real server. Its watches deliver nothing.
type synthetic struct {
	population
	objects []int // numbers of the objects in order
}

func newSynthetic(p population) *synthetic {
	s := &synthetic{p, make([]int, p.objects)}
	keys := make([]string, p.objects)
	for i := range keys {
		_, name := p.names(i)
		keys[i], s.objects[i] = p.namespace(i)+"/"+name, i
	}
	slices.SortFunc(s.objects, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return s
}

func (s *synthetic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const group = "v1"
	send := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch r.URL.Path {
	case "/version":
		send(http.StatusOK, version.Info{GitVersion: "v1.36.0", Major: "1", Minor: "36"})
	case "/api":
		send(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{group}})
	case "/apis":
		send(http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: group}})
	case "/api/v1":
		send(http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: group}, GroupVersion: group,
			APIResources: []metav1.APIResource{{Name: s.resource, Kind: s.kind, Namespaced: true, Verbs: metav1.Verbs{"list", "watch", "create"}}},
		})
	case "/api/v1/" + s.resource:
		s.list(w, r)
	default:
		send(http.StatusNotFound, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: group}, Status: metav1.StatusFailure,
			Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound,
		})
	}
}

// list sends a page. A continue token is the index of the first object.
func (s *synthetic) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("watch") == "true" {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	to := min(from+limit, len(s.objects))
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1000"}}
	if to < len(s.objects) {
		list.Continue, list.RemainingItemCount = strconv.Itoa(to), new(int64(len(s.objects)-to))
	}
	for _, i := range s.objects[from:to] {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: s.meta(i)})
	}
	raw, _ := list.Marshal()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}, Raw: raw}
	body, _ := unknown.Marshal()
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	_, _ = w.Write(append([]byte("k8s\x00"), body...))
}
