package cmd

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/assess"
	"github.com/kubectl-genname/kubectl-genname/pkg/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
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

// population counts the names under one prefix of one type.
func (c *counter) population(ctx context.Context, resource, namespace, prefix string) (assess.Population, error) {
	resources, skipped, err := c.resources([]string{resource}, namespace)
	if err != nil {
		return assess.Population{}, err
	}
	if len(skipped) > 0 {
		return assess.Population{}, fmt.Errorf("%s: %s", resource, skipped[0].Message)
	}
	if len(resources) != 1 {
		return assess.Population{}, fmt.Errorf("%q is not one type", resource)
	}
	r := resources[0]
	retries, _ := c.retriesOf(r.GroupVersion())
	population := assess.Population{Group: r.Group, Resource: r.Resource, Prefix: names.EffectivePrefix(prefix), Server: retries}
	if r.Namespaced {
		population.Namespace = namespace
	}
	scanner := census.Scanner{Config: c.config, Prefixes: []string{population.Prefix}}
	summary, err := scanner.Scan(ctx, resources, namespace, func() census.Batch { return &onePrefix{population: &population} })
	switch {
	case err != nil:
		return population, err
	case len(summary.Skipped) > 0:
		return population, errors.New(summary.Skipped[0].Message)
	}
	return population, nil
}

// onePrefix takes the names under the prefix of its population.
type onePrefix struct {
	population *assess.Population
	names      int64
}

func (o *onePrefix) Add(space census.Space) {
	if space.Prefix == o.population.Prefix {
		o.names += space.Names
	}
}

func (o *onePrefix) Commit() { o.population.Existing += o.names }
