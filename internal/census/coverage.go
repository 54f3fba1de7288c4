package census

import (
	"slices"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Skipped is a scope that could not be read, or that every census leaves out.
type Skipped = v1alpha1.Skipped

// Reason explains why a scope was skipped.
type Reason = v1alpha1.SkipReason

// The reasons.
const (
	Excluded     Reason = "excluded"     // the type has no generated names
	Undiscovered Reason = "undiscovered" // the group could not be discovered
	Unauthorized Reason = "unauthorized"
	Forbidden    Reason = "forbidden"
	NotFound     Reason = "notFound"     // the type no longer exists
	NotListable  Reason = "notListable"  // no list verb, or no metadata
	Crowded      Reason = "crowded"      // too many prefixes to have a row each
	Throttled    Reason = "throttled"    // 429 until RetryTimeout
	Unreachable  Reason = "unreachable"  // no response, or 502, 503, 504, until RetryTimeout
	TimedOut     Reason = "timeout"      // responses took too long
	Malformed    Reason = "malformed"    // the response is not a list
	Expired      Reason = "expired"      // the list expired repeatedly
	Interrupted  Reason = "interrupted"  // the context was done
	Failed       Reason = "failed"       // anything else
	Incomparable Reason = "incomparable" // single objects that the duplicates command can't compare
)

// Coverage describes which part of a scope was read.
type Coverage struct {
	Types         []Resource // types of the scope
	Skipped       []Skipped  // with the reasons
	Namespace     string     // namespace of the scope; empty for all
	Named         bool       // the user named the types
	Gated         bool       // a gate depends on the report, so all types must be read
	AllowUnlisted bool       // the gate doesn't depend on types that the user can't list
}

// Complete reports whether enough was read. Types that the user can't list don't matter, unless the user
// named types or set a gate, or no type was read.
func (c Coverage) Complete() bool {
	if len(c.Types) > 0 && len(c.Read()) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.Skipped, func(s Skipped) bool { return !c.mayMiss(s) })
}

// Read returns the types that were read at least in part.
func (c Coverage) Read() []Resource {
	return slices.DeleteFunc(slices.Clone(c.Types), func(r Resource) bool {
		return slices.ContainsFunc(c.Skipped, func(s Skipped) bool {
			return s.Group == r.Group && s.Resource == r.Resource && !c.isPart(s)
		})
	})
}

// uncounted are API groups of aggregated servers. Users can't create their objects, which are measurements
// (k8s.io/metrics) or are computed for each request. A report without these groups is complete.
var uncounted = map[string]bool{
	"metrics.k8s.io":                true,
	"custom.metrics.k8s.io":         true,
	"external.metrics.k8s.io":       true,
	"packages.operators.coreos.com": true,
	"visibility.kueue.x-k8s.io":     true,
	"subresources.kubevirt.io":      true,
}

// mayMiss reports whether a report is complete although a type was skipped. This is always true for a type without
// generated names. Without a gate, it is also true for a type that the user didn't name, and that the user can't list
// or that was deleted during the scan.
func (c Coverage) mayMiss(s Skipped) bool {
	switch s.Reason {
	case Excluded:
		return true
	case Undiscovered, Unreachable:
		return s.Resource == "" && uncounted[s.Group]
	case Forbidden, NotListable, NotFound:
		return !c.Named && !c.isPart(s) && (!c.Gated || c.AllowUnlisted)
	}
	return false
}

// isPart reports whether only a part of a type was skipped: some objects, or one of several namespaces.
func (c Coverage) isPart(s Skipped) bool {
	return s.Reason == Incomparable || c.Namespace == "" && s.Namespace != ""
}

// Warned returns the skipped types in two lists. Each type in each gets a separate warning. If the user named no type,
// forbidden has the types that the user has no permission to list.
func (c Coverage) Warned() (each, forbidden []Skipped) {
	for _, s := range c.Skipped {
		switch {
		case !c.Named && s.Reason == Forbidden && !c.isPart(s):
			forbidden = append(forbidden, s)
		case c.Named || s.Reason != Excluded:
			each = append(each, s)
		}
	}
	return each, forbidden
}
