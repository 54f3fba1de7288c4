package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// wantedPrefix is a prefix whose names are to be counted. The namespace is empty for a cluster-scoped type.
type wantedPrefix struct {
	resource          census.Resource
	namespace, prefix string
}

func wantedOf(ctx context.Context, s *scan.Session, word, namespace, prefix string) (wantedPrefix, error) {
	resource, err := typeOf(ctx, s, word)
	if !resource.Namespaced {
		namespace = ""
	}
	return wantedPrefix{resource, namespace, prefix}, err
}

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

// count counts the names under the prefixes, in their order. It counts all prefixes of one type and namespace in one
// scan.
func count(ctx context.Context, s *scan.Session, prefixes []wantedPrefix) (subject, error) {
	version := s.Cluster.GitVersion()
	counted := subject{
		populations: make([]report.Population, len(prefixes)), nearest: make([]pools.Near, len(prefixes)),
		stems: make([]int64, len(prefixes)),
	}
	scans := map[wantedPrefix][]int{} // the indexes of prefixes, by their type and namespace
	for i, p := range prefixes {
		counted.populations[i].PrefixRef = v1alpha1.PrefixRef{
			Group: p.resource.Group, Resource: p.resource.Resource, Namespace: p.namespace,
			Prefix: names.EffectivePrefix(p.prefix),
		}
		p.prefix = ""
		scans[p] = append(scans[p], i)
	}
	var inconsistent []string
	for place, indexes := range scans {
		scanner := s.Scanner()
		for _, i := range indexes {
			scanner.Prefixes = append(scanner.Prefixes, counted.populations[i].Prefix, prefixes[i].prefix)
		}
		found, summary, err := scanner.Count(ctx, []census.Resource{place.resource}, place.namespace)
		if err == nil && len(summary.Skipped) > 0 {
			err = errors.New(summary.Skipped[0].Message)
		}
		if err != nil {
			return subject{}, err
		}
		for pool := range found.All() {
			for _, i := range indexes {
				switch isStem := pool.Naming == object.ByStem; {
				case isStem && pool.Prefix == prefixes[i].prefix: // a stem isn't truncated, and its names aren't random
					counted.stems[i] = pool.Names
				case !isStem && pool.Prefix == counted.populations[i].Prefix:
					counted.populations[i].Existing += pool.Names
				}
				counted.nearest[i].Offer(prefixes[i].prefix, pool.Prefix, pool.Names)
			}
		}
		inconsistent = append(inconsistent, summary.Inconsistent...)
	}
	for i, p := range prefixes {
		counted.populations[i].Server, _ = s.Cluster.RetriesOf(p.resource.GroupVersion())
	}
	counted.server = v1alpha1.CollisionServer{GitVersion: &version, Retries: s.Cluster.Retries()}
	if len(inconsistent) > 0 {
		slices.Sort(inconsistent)
		counted.warnings = []string{inconsistentCounts(slices.Compact(inconsistent))}
	}
	return counted, nil
}
