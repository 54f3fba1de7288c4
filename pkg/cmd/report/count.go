package report

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
)

// wantedPrefix is an effective prefix whose names are to be counted.
type wantedPrefix struct{ resource, namespace, prefix string }

// count counts the names under the prefixes, in their order. Those of one
// resource and namespace are counted in one walk.
func count(
	ctx context.Context, c *cluster.Cluster, prefixes []wantedPrefix, progress func(census.Progress),
) ([]report.Population, error) {
	walks := map[walk]map[string]int64{} // names by prefix
	populations := make([]report.Population, 0, len(prefixes))
	of := make([]walk, 0, len(prefixes))
	for _, p := range prefixes {
		r, err := typeOf(c, p.resource)
		if err != nil {
			return nil, err
		}
		w := walk{Resource: r}
		if r.Namespaced {
			w.namespace = p.namespace
		}
		if walks[w] == nil {
			walks[w] = map[string]int64{}
		}
		walks[w][p.prefix] = 0
		populations = append(populations, report.Population{Group: r.Group, Resource: r.Resource, Namespace: w.namespace, Prefix: p.prefix})
		of = append(of, w)
	}
	for w, names := range walks {
		if err := w.count(ctx, c, names, progress); err != nil {
			return nil, err
		}
	}
	for i := range populations {
		populations[i].Existing = walks[of[i]][populations[i].Prefix]
		populations[i].Server, _ = c.RetriesOf(of[i].GroupVersion())
	}
	return populations, nil
}

// typeOf is the type that the user's word means.
func typeOf(c *cluster.Cluster, word string) (census.Resource, error) {
	resources, skipped, err := c.Resources([]string{word}, "")
	switch {
	case err != nil:
		return census.Resource{}, err
	case len(skipped) > 0:
		return census.Resource{}, fmt.Errorf("%s: %s", word, skipped[0].Message)
	case len(resources) != 1:
		return census.Resource{}, fmt.Errorf("%q is not one type", word)
	}
	return resources[0], nil
}

// walk is the objects of one type, in one namespace if it is namespaced.
type walk struct {
	census.Resource
	namespace string
}

// count counts the names of the prefixes that are the keys of names.
func (w walk) count(ctx context.Context, c *cluster.Cluster, names map[string]int64, progress func(census.Progress)) error {
	scanner := census.Scanner{Config: c.Config, Progress: progress}
	for prefix := range names {
		scanner.Prefixes = append(scanner.Prefixes, prefix)
	}
	summary, err := scanner.Scan(ctx, []census.Resource{w.Resource}, w.namespace, func() census.Batch { return &tally{of: names} })
	if err == nil && len(summary.Skipped) > 0 {
		err = errors.New(summary.Skipped[0].Message)
	}
	return err
}

// tally takes the names under the prefixes that are the keys of of.
type tally struct {
	of     map[string]int64
	spaces []census.Space
}

func (t *tally) Add(space census.Space) {
	if _, wanted := t.of[space.Prefix]; wanted {
		t.spaces = append(t.spaces, space)
	}
}

func (t *tally) Commit() {
	for _, space := range t.spaces {
		t.of[space.Prefix] += space.Names
	}
}
