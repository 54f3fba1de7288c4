package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// wantedPrefix is an effective prefix whose names are to be counted.
type wantedPrefix struct{ resource, namespace, prefix string }

// place is the scope of one scan: one type, in one namespace if the type is namespaced.
type place struct {
	resource  census.Resource
	namespace string
}

// tally is the number of names of a prefix, and the nearest other prefix.
type tally struct {
	names   int64
	nearest pools.Near
}

// count counts the names under the prefixes, in their order. It counts all prefixes of one type and namespace in
// one scan. It also returns the nearest prefixes in the same order, and the sorted types whose counts are
// inconsistent.
func count(
	ctx context.Context, s *scan.Session, prefixes []wantedPrefix,
) (populations []report.Population, nearest []pools.Near, inconsistent []string, err error) {
	counted := map[place]map[string]*tally{} // by prefix
	places := make([]place, 0, len(prefixes))
	for _, p := range prefixes {
		at, err := placeOf(ctx, s, p)
		if err != nil {
			return nil, nil, nil, err
		}
		if counted[at] == nil {
			counted[at] = map[string]*tally{}
		}
		counted[at][p.prefix] = &tally{}
		places = append(places, at)
	}
	for at, tallies := range counted {
		summary, err := at.count(ctx, s.Scanner(), tallies)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, r := range summary.Inconsistent {
			inconsistent = append(inconsistent, r.GroupResource().String())
		}
	}
	slices.Sort(inconsistent)
	populations = make([]report.Population, 0, len(prefixes))
	for i, at := range places {
		prefix := prefixes[i].prefix
		server, _ := s.RetriesOf(at.resource.GroupVersion())
		populations = append(populations, report.Population{
			PrefixRef: v1alpha1.PrefixRef{
				Group: at.resource.Group, Resource: at.resource.Resource, Namespace: at.namespace, Prefix: prefix,
			},
			Existing: counted[at][prefix].names, Server: server,
		})
		nearest = append(nearest, counted[at][prefix].nearest)
	}
	return populations, nearest, slices.Compact(inconsistent), nil
}

// placeOf returns where the names under a prefix are.
func placeOf(ctx context.Context, s *scan.Session, p wantedPrefix) (place, error) {
	resource, err := typeOf(ctx, s, p.resource)
	if err != nil || !resource.Namespaced {
		return place{resource: resource}, err
	}
	return place{resource, p.namespace}, nil
}

// typeOf returns the type that the user's word means.
func typeOf(ctx context.Context, s *scan.Session, word string) (census.Resource, error) {
	resources, skipped, err := s.Resources(ctx, []string{word}, "")
	switch {
	case err != nil:
		return census.Resource{}, err
	case len(skipped) > 0:
		return census.Resource{}, fmt.Errorf("%s: %s", word, skipped[0].Message)
	case len(resources) != 1:
		return census.Resource{}, fmt.Errorf("%q means several resource types. Name one of them", word)
	}
	return resources[0], nil
}

// count counts the names of the prefixes that are the keys of tallies.
func (p place) count(
	ctx context.Context, scanner *census.Scanner, tallies map[string]*tally,
) (census.Summary, error) {
	for prefix := range tallies {
		scanner.Prefixes = append(scanner.Prefixes, prefix)
	}
	counted, summary, err := scanner.Count(ctx, []census.Resource{p.resource}, p.namespace)
	if err != nil {
		return summary, err
	}
	for pool := range counted.All() {
		for prefix, t := range tallies {
			if prefix == pool.Prefix {
				t.names += pool.Names
			}
			t.nearest.Offer(prefix, pool.Prefix, pool.Names)
		}
	}
	if len(summary.Skipped) > 0 {
		err = errors.New(summary.Skipped[0].Message)
	}
	return summary, err
}
