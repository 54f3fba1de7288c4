package live

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Windows are the times over which rates are reported, the shortest first.
var Windows = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Rate is the number of creates and deletes in a day of 24 hours.
type Rate struct{ CreatesPerDay, DeletesPerDay float64 }

// Row is a name pool and its events.
type Row struct {
	Pool census.NamePool
	// Followed is whether events are counted; without, there is nothing else.
	Followed bool
	Since    time.Time // from when on
	At       time.Time // that of the Snapshot
	// Creates and Deletes are lower bounds if Gaps, the number of times that the type was counted again
	// since, is above 0.
	Creates, Deletes int64
	Gaps             int
	// Failures is how many creates have failed beside those seen, on average: the
	// sum of the chances of the creates seen.
	Failures float64
	// Rates are over Windows.
	Rates [len(Windows)]Rate
	// Reused is how many creates took the name of an object that was deleted, nil if
	// that is not counted.
	Reused *int64
}

// row returns a name pool and its events.
func (s *store) row(number uint32, p *pools.Pool, now time.Time) Row {
	row := Row{Pool: poolOf(s.resource, p), At: now}
	if row.Followed = s.standing.state == watched; !row.Followed {
		return row
	}
	a := s.pools[number]
	if a == nil {
		row.Since, row.Gaps = s.began, s.totals.gaps-s.gapsBefore
		return row
	}
	row.Since, row.Gaps, row.Rates = a.since, s.totals.gaps-a.gaps, a.rates.at(now, a.since)
	row.Creates, row.Deletes, row.Failures = a.creates, a.deletes, a.failures
	if a.reuse != nil {
		row.Reused = new(a.reuse.count)
	}
	return row
}

// poolOf returns a name pool as the audit and the exporter take it.
func poolOf(of census.Resource, p *pools.Pool) census.NamePool {
	return census.NamePool{
		Resource: of, Namespace: p.Namespace, Prefix: p.Prefix, SuffixLength: names.SuffixLength,
		Names: p.Names, Generated: p.Generated, RawPrefixes: p.RawPrefixes, GenerateNames: p.GenerateNames,
		Oldest: p.Oldest, Newest: p.Newest,
		Creator: census.Creator{
			Kind: p.Creator.Kind, Name: p.Creator.Name, Manager: p.Creator.Manager,
			Certain: p.Creator.Certain, HasCreationID: p.Creator.HasCreationID,
		},
		Creators: p.Creators, ClientGenerated: p.ClientGenerated, ReplicaBounded: p.ReplicaBounded,
		OwnerKind: p.OwnerKind, Owners: p.Owners,
	}
}
