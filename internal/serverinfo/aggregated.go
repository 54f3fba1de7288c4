package serverinfo

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// apiServices is what is read of an APIServiceList of apiregistration.k8s.io.
type apiServices struct {
	Items []apiService `json:"items"`
}

type apiService struct {
	Spec struct {
		Group   string          `json:"group"`
		Version string          `json:"version"`
		Service json.RawMessage `json:"service"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`
}

// Unavailable is an API that kube-apiserver would pass on to another server,
// and cannot. Discovery says nothing of it.
type Unavailable struct {
	API     schema.GroupVersion
	Message string // why, in kube-apiserver's words
}

// aggregation is which APIs other servers serve.
type aggregation struct {
	known       bool // APIServices may be listed
	aggregated  map[schema.GroupVersion]bool
	unavailable []Unavailable
}

func readAggregation(ctx context.Context, client *rest.RESTClient) aggregation {
	body, err := client.Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").Do(ctx).Raw()
	var list apiServices
	if err != nil || json.Unmarshal(body, &list) != nil {
		return aggregation{}
	}
	a := aggregation{known: true, aggregated: map[schema.GroupVersion]bool{}}
	for _, item := range list.Items {
		if len(item.Spec.Service) == 0 || string(item.Spec.Service) == "null" {
			continue
		}
		api := schema.GroupVersion{Group: item.Spec.Group, Version: item.Spec.Version}
		a.aggregated[api] = true
		for _, c := range item.Status.Conditions {
			if c.Type == "Available" && c.Status == "False" {
				a.unavailable = append(a.unavailable, Unavailable{API: api, Message: c.Message})
			}
		}
	}
	return a
}

// foreign is empty for an API of kube-apiserver itself, and else says in words
// that it is passed on to another server: that its APIService names a Service.
// A user who may not list APIServices learns that only of Kubernetes' own
// groups: of all others it is not known who serves them.
func (a *aggregation) foreign(api schema.GroupVersion) string {
	switch {
	case a.aggregated[api]:
		return "aggregated API: server retries unknown"
	case !a.known && !scheme.Scheme.IsGroupRegistered(api.Group):
		return "server retries unknown: an aggregated API or not (needs list on apiservices)"
	}
	return ""
}
