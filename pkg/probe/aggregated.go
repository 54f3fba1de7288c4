package probe

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// apiServices is what is read of an APIServiceList of apiregistration.k8s.io.
type apiServices struct {
	Items []struct {
		Spec struct {
			Group   string          `json:"group"`
			Version string          `json:"version"`
			Service json.RawMessage `json:"service"`
		} `json:"spec"`
	} `json:"items"`
}

// foreign tells which APIs kube-apiserver passes on to another server, by the
// words for it: those whose APIService names a Service. A user who may not list
// APIServices learns that only of Kubernetes' own groups: of all others it is
// not known who serves them.
func foreign(ctx context.Context, client *rest.RESTClient) func(schema.GroupVersion) string {
	body, err := client.Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").Do(ctx).Raw()
	var list apiServices
	if err != nil || json.Unmarshal(body, &list) != nil {
		return func(api schema.GroupVersion) string {
			if scheme.Scheme.IsGroupRegistered(api.Group) {
				return ""
			}
			return "server retries unknown: an aggregated API or not (needs list on apiservices)"
		}
	}
	aggregated := map[schema.GroupVersion]string{}
	for _, item := range list.Items {
		if len(item.Spec.Service) > 0 && string(item.Spec.Service) != "null" {
			aggregated[schema.GroupVersion{Group: item.Spec.Group, Version: item.Spec.Version}] = "aggregated API: server retries unknown"
		}
	}
	return func(api schema.GroupVersion) string { return aggregated[api] }
}
