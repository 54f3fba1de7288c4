package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/probe"
)

// counter is a cluster whose names are counted, and what its server does on a
// conflict.
type counter struct {
	factory cmdutil.Factory
	config  *rest.Config
	server  *probe.Server
	retries v1alpha1.Retries
	flag    *attemptsValue
}

// near is the round trip up to which a server is taken to be on a fast network.
// There compression costs more time than it saves, and it costs kube-apiserver
// more than encoding the list does.
const near = 5 * time.Millisecond

// newCounter asks the server for its retries, unless the flag says them.
func newCounter(ctx context.Context, factory cmdutil.Factory, flag *attemptsValue) (*counter, error) {
	config, err := factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	server, err := probe.Probe(ctx, config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.DisableCompression = config.DisableCompression || server.RoundTrip < near
	config.WarningHandler = rest.NoWarnings{} // that a type is deprecated does not concern who counts all
	return &counter{factory: factory, config: config, server: server, retries: flag.or(server.Retries), flag: flag}, nil
}

func (c *counter) gitVersion() string { return c.server.Version.GitVersion }

// retriesOf is what is done on a conflict in one API.
func (c *counter) retriesOf(api schema.GroupVersion) (retries v1alpha1.Retries, note string) {
	retries, note = c.server.RetriesOf(api)
	if c.flag.attempts != 0 {
		note = ""
	}
	return c.flag.or(retries), note
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
	client, err := c.factory.ToDiscoveryClient()
	if err != nil {
		return nil, nil, err
	}
	client.Invalidate() // a new type must not be missed
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
