package serverinfo

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// apiServices has those fields of an apiregistration.k8s.io APIServiceList that the package needs.
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

// Unavailable is an aggregated API whose server kube-apiserver can't reach. Discovery doesn't report this.
type Unavailable struct {
	API     schema.GroupVersion
	Message string // kube-apiserver's explanation
}

// apiServer identifies the server that serves an API.
type apiServer int

const (
	unknownServer apiServer = iota // the user has no permission
	kubeAPIServer                  // kube-apiserver itself
	otherServer                    // an aggregated server, to which kube-apiserver passes requests on
)

// aggregation has the APIs that aggregated servers serve. Without permission to list APIServices, it is the zero value,
// which knows no APIs. If the list failed for another reason, err is that reason.
type aggregation struct {
	known       bool
	err         error
	aggregated  map[schema.GroupVersion]bool
	unavailable []Unavailable
}

// readAggregation lists the APIServices. A missing permission isn't an error, and neither is a server without
// APIServices. A request without a response is an error.
func readAggregation(ctx context.Context, client *rest.RESTClient) aggregation {
	body, err := client.Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").Do(ctx).Raw()
	if apistatus.Final(err) {
		return aggregation{}
	}
	var list apiServices
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil {
		return aggregation{err: fmt.Errorf("list apiservices: %w", err)}
	}
	return aggregationOf(list)
}

// aggregationOf returns the aggregated APIs in a list of APIServices. An API is aggregated if its APIService names a
// Service.
func aggregationOf(list apiServices) aggregation {
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

// servedBy returns the server that serves an API. Without a list of the APIServices, it knows this only for Kubernetes'
// own API groups.
func (a *aggregation) servedBy(api schema.GroupVersion) apiServer {
	switch {
	case a.aggregated[api]:
		return otherServer
	case a.known || scheme.Scheme.IsGroupRegistered(api.Group):
		return kubeAPIServer
	}
	return unknownServer
}
