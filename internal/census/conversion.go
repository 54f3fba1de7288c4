package census

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// conversionTimeout limits the retries of a request that fails in a conversion webhook. Such webhooks are down for
// hours more often than for minutes.
const conversionTimeout = 15 * time.Second

// failsToConvert reports whether kube-apiserver could not convert objects to the requested version, because the
// webhook of their CustomResourceDefinition failed (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion). There is
// no other sign of it than the message.
func failsToConvert(err error) bool {
	return apistatus.Code(err) == http.StatusInternalServerError &&
		strings.Contains(err.Error(), "conversion webhook for ")
}

// readOther reads a type in its other versions, until one of them needs no conversion. cause is the error of the
// preferred version, which readOther returns if all versions fail.
func (s *scan) readOther(
	ctx context.Context, r Resource, namespace string, cause error,
) (read listRead, version string, err error) {
	versions, err := s.server.versions(ctx, r.Group)
	if err != nil {
		return listRead{}, r.Version, cause
	}
	for _, version := range versions {
		if version == r.Version {
			continue
		}
		other := r
		other.Version = version
		if read, err := s.newList(other, namespace).read(ctx, s.options, s.newVisitor); err == nil {
			return read, version, nil
		}
	}
	return listRead{}, r.Version, cause
}

// versions returns the versions of an API group that the server serves.
func (s *server) versions(ctx context.Context, group string) (versions []string, err error) {
	s.requests.Add(1)
	raw, err := s.client.Get().MaxRetries(0).AbsPath("apis", group).SetHeader("Accept", acceptWhole).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var served metav1.APIGroup
	if err := json.Unmarshal(raw, &served); err != nil {
		return nil, fmt.Errorf("read the versions of %s: %w", group, err)
	}
	for _, v := range served.Versions {
		versions = append(versions, v.Version)
	}
	return versions, nil
}
