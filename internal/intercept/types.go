package intercept

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// types has the resource types of the server, by discovery. It asks again for a type that it doesn't know, because a
// program can create a CustomResourceDefinition before its objects.
type types struct {
	client  *http.Client
	base    string // the URL of the server
	timeout time.Duration

	mu    sync.Mutex
	known map[schema.GroupVersion]*metav1.APIResourceList
}

const (
	// discoveryTimeout limits one request.
	discoveryTimeout = 30 * time.Second
	// maxDiscovery limits the size of a response.
	maxDiscovery = 16 << 20
)

// get returns the type of a resource, or nil if the server doesn't have it. An error means that the server didn't
// respond.
func (t *types) get(ctx context.Context, resource schema.GroupVersionResource) (*metav1.APIResource, error) {
	version := resource.GroupVersion()
	t.mu.Lock()
	found := find(t.known[version], resource.Resource)
	t.mu.Unlock()
	if found != nil {
		return found, nil
	}
	list, err := t.listUntilResponse(ctx, version)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.known[version] = list
	t.mu.Unlock()
	return find(list, resource.Resource), nil
}

func find(list *metav1.APIResourceList, resource string) *metav1.APIResource {
	if list == nil {
		return nil
	}
	i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource })
	if i < 0 {
		return nil
	}
	return &list.APIResources[i]
}

// listUntilResponse repeats list, because a create must not pass through unprotected only because a response was lost.
func (t *types) listUntilResponse(ctx context.Context, version schema.GroupVersion) (*metav1.APIResourceList, error) {
	retrier := apistatus.NewRetrier(apistatus.FirstPause, apistatus.LongestPause, t.timeout)
	for {
		list, err := t.list(ctx, version)
		if err == nil || apierrors.IsUnauthorized(err) || retrier.Wait(ctx, err) != nil {
			return list, err
		}
	}
}

// list returns nil if the server doesn't serve the version, or doesn't show it to the user.
func (t *types) list(ctx context.Context, version schema.GroupVersion) (*metav1.APIResourceList, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	path := "/apis/" + version.String()
	if version.Group == "" {
		path = "/api/" + version.Version
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusNotFound, http.StatusForbidden:
		return nil, nil
	case http.StatusUnauthorized:
		return nil, apierrors.NewUnauthorized("the server refuses the credentials of the context")
	case http.StatusOK:
	default:
		return nil, fmt.Errorf("discovery of %s: %s", version, response.Status)
	}
	var list metav1.APIResourceList
	if err := json.NewDecoder(io.LimitReader(response.Body, maxDiscovery)).Decode(&list); err != nil {
		return nil, fmt.Errorf("discovery of %s: %w", version, err)
	}
	if list.Kind != "APIResourceList" {
		return nil, fmt.Errorf("discovery of %s: the response is not an APIResourceList", version)
	}
	return &list, nil
}
