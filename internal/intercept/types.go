package intercept

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// types has the server's resource types from discovery. A program can create or replace a CustomResourceDefinition
// before its objects. So types repeats discovery for an unknown type and for a type that had another scope.
type types struct {
	client  *discovery.DiscoveryClient
	timeout time.Duration

	mu    sync.Mutex
	known map[schema.GroupVersion][]metav1.APIResource
}

// discoveryTimeout limits one request of discovery.
const discoveryTimeout = 30 * time.Second

// get returns the resource type of a target, or nil if the server doesn't have the type. An error means that the server
// didn't respond.
func (t *types) get(ctx context.Context, to target) (*metav1.APIResource, error) {
	version, resource := to.resource.GroupVersion(), to.resource.Resource
	t.mu.Lock()
	found := find(t.known[version], resource)
	t.mu.Unlock()
	if found != nil && found.Namespaced == (to.namespace != "") {
		return found, nil
	}
	types, err := t.listUntilResponse(ctx, version)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.known[version] = types
	t.mu.Unlock()
	return find(types, resource), nil
}

func find(types []metav1.APIResource, resource string) *metav1.APIResource {
	i := slices.IndexFunc(types, func(r metav1.APIResource) bool { return r.Name == resource })
	if i < 0 {
		return nil
	}
	return &types[i]
}

// listUntilResponse repeats list after a lost response, so that a create request doesn't pass through unprotected. It
// doesn't repeat list if a repetition would have the same result.
func (t *types) listUntilResponse(ctx context.Context, version schema.GroupVersion) ([]metav1.APIResource, error) {
	retrier := apistatus.NewRetrier(apistatus.FirstPause, apistatus.LongestPause, t.timeout)
	for {
		types, err := t.list(ctx, version)
		if err == nil || apistatus.Final(err) || apistatus.Code(err)/100 == 3 || // a redirect to a login
			errors.As(err, new(*tls.CertificateVerificationError)) ||
			strings.Contains(err.Error(), ": getting credentials: ") || retrier.Wait(ctx, err) != nil {
			return types, err
		}
	}
}

// list returns nothing if the server doesn't serve the version, or doesn't show it to the user. Any other response,
// such as a login page, is an error.
func (t *types) list(ctx context.Context, version schema.GroupVersion) ([]metav1.APIResource, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	list, err := t.client.ServerResourcesForGroupVersionWithContext(ctx, version.String())
	switch found := findings.OfGet(err, true); {
	case found == protocol.Absent, found == protocol.NoPermission:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("discovery of %s: %w", version, err)
	case list.Kind != "APIResourceList": // client-go accepts each JSON object
		return nil, fmt.Errorf("discovery of %s: the response is not an APIResourceList", version)
	}
	return list.APIResources, nil
}
