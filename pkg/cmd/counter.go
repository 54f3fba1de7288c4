package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// counter is a cluster whose names are counted, and what its server does on a
// conflict.
type counter struct {
	factory cmdutil.Factory
	config  *rest.Config
	server  *serverinfo.Server
	flag    *attemptsValue
}

// near is the round trip up to which a server is taken to be on a fast network.
// There compression costs more time than it saves, and it costs kube-apiserver
// more than encoding the list does.
const near = 5 * time.Millisecond

// newCounter asks the server what it is, and for its retries, unless the flag
// says them: in the background, for they are needed last.
func newCounter(ctx context.Context, factory cmdutil.Factory, flag *attemptsValue) (*counter, error) {
	config, err := factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	server, err := serverinfo.Get(ctx, config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.DisableCompression = config.DisableCompression || server.RoundTrip < near
	if !flag.given() {
		go server.Retries()
	}
	return &counter{factory: factory, config: config, server: server, flag: flag}, nil
}

func (c *counter) gitVersion() string { return c.server.Version.GitVersion }

// retries is what the server itself does on a conflict.
func (c *counter) retries() v1alpha1.Retries {
	if c.flag.given() {
		return c.flag.retries()
	}
	return c.server.Retries()
}

// retriesOf is what is done on a conflict in one API.
func (c *counter) retriesOf(api schema.GroupVersion) (retries v1alpha1.Retries, note string) {
	if c.flag.given() {
		return c.flag.retries(), ""
	}
	return c.server.RetriesOf(api)
}

// resources are the types to count: those named, or all that there are, without
// cluster-scoped ones where one namespace is counted.
func (c *counter) resources(named []string, namespace string) ([]census.Resource, []census.Skipped, error) {
	if len(named) > 0 {
		mapper, err := c.factory.ToRESTMapper()
		if err != nil {
			return nil, nil, err
		}
		return census.Resolve(mapper, named)
	}
	c.config.WarningHandler = rest.NoWarnings{}                    // that a type is deprecated does not concern who counts all
	client, err := discovery.NewDiscoveryClientForConfig(c.config) // not from kubectl's cache: a new type must not be missed
	if err != nil {
		return nil, nil, err
	}
	found, skipped, err := census.Discover(client)
	if err != nil {
		return nil, nil, fmt.Errorf("find the types of the server: %w", err)
	}
	skipped = append(skipped, c.unavailable(skipped)...)
	if namespace == "" {
		return found, skipped, nil
	}
	var namespaced []census.Resource
	for _, r := range found {
		if r.Namespaced {
			namespaced = append(namespaced, r)
		}
	}
	return namespaced, skipped, nil
}

// unavailable is the groups of servers that cannot be reached, but for those
// that discovery has already told of.
func (c *counter) unavailable(told []census.Skipped) []census.Skipped {
	var skipped []census.Skipped
	for _, u := range c.server.Unavailable() {
		isGroup := func(s census.Skipped) bool { return s.Group == u.API.Group && s.Resource == "" }
		if !slices.ContainsFunc(told, isGroup) {
			skipped = append(skipped, census.Skipped{
				Group: u.API.Group, Reason: census.Unreachable,
				Message: fmt.Sprintf("discover %s: the server behind this API is unavailable: %s", u.API, u.Message),
			})
		}
	}
	return skipped
}
