package audit

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// children has the types of objects whose prefix a controller makes from the name of their owner and a dash, by
// the type of the owner. If the owner has a long generated name, truncation removes its random suffix from this
// prefix. Types with other names are left out: StatefulSets number their Pods, CronJobs put the time into the
// names of Jobs, and Deployments put a hash into the names of ReplicaSets
// (k8s.io/kubernetes/pkg/controller/controller_utils.go, getPodsPrefix; k8s.io/endpointslice/utils.go,
// getEndpointSlicePrefix).
var children = map[schema.GroupResource]string{
	{Group: "batch", Resource: "jobs"}:       "pods",
	{Group: "apps", Resource: "daemonsets"}:  "pods",
	{Group: "apps", Resource: "deployments"}: "pods",
	{Group: "apps", Resource: "replicasets"}: "pods",
	{Resource: "replicationcontrollers"}:     "pods",
	{Resource: "services"}:                   "endpointslices",
	{Resource: "endpoints"}:                  "endpointslices",
}

var (
	nodes          = schema.GroupResource{Resource: "nodes"}
	pods           = schema.GroupResource{Resource: "pods"}
	secrets        = schema.GroupResource{Resource: "secrets"}
	endpointSlices = schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
	resourceClaims = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
)

// indexedPods matches the end of the prefix of an indexed Job's Pods. The Job's name before it is truncated, so
// that the prefix has at most 58 bytes (k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go).
var indexedPods = regexp.MustCompile(`-[0-9]+-$`)

// truncatedClaimsMost is the length to which the resource claim controller truncates the names of a Pod and of its
// claim, in proportion to their lengths. It rounds down twice, and removes a dash at the end. So the result has at
// least the length truncatedClaimsLeast (k8s.io/kubernetes/pkg/controller/resourceclaim/controller.go).
const truncatedClaimsLeast, truncatedClaimsMost = 54, 57

// etcdFirst is a number of names above which lists are slow and etcd fills up long before names run out.
const etcdFirst = 1_000_000

// notes returns the notes on a name pool. The arguments closeness and why are two of the notes, or empty.
// closeness says when a create will probably fail, and why explains the number of the server's retries.
func notes(pool *pools.Pool, closeness, why string) []string {
	notes := []string{}
	add := func(note string) {
		if note != "" {
			notes = append(notes, note)
		}
	}
	add(closeness)
	if pool.Names > etcdFirst {
		add("strains etcd")
	}
	if pool.ClientGenerated {
		add("client-generated")
	}
	add(sharedByPrefixes(pool))
	add(sharedByOwners(pool))
	add(sharedByChildren(pool))
	add(why)
	return notes
}

// closeText returns the note on a prefix that is close to failing, or "".
func closeText(item v1alpha1.AuditItem) string {
	const mostHours = 48
	switch days := item.FailsInDays; {
	case days != nil && *days*day.Hours() < 1:
		return "fails within an hour"
	case days != nil && *days*day.Hours() < mostHours:
		return fmt.Sprintf("fails in %.0fh", *days*day.Hours())
	case days != nil:
		return fmt.Sprintf("fails in %.0fd", *days)
	case NextFails(item) > closeChance:
		return fmt.Sprintf("%.1f%% of creates fail", 100*NextFails(item))
	}
	return ""
}

// sharedByPrefixes returns the note that several generateNames are equal after truncation at 58 bytes, and
// has the ends that were removed.
func sharedByPrefixes(pool *pools.Pool) string {
	if pool.RawPrefixes <= 1 {
		return ""
	}
	var rest []string
	for _, name := range pool.GenerateNames {
		rest = append(rest, "…"+strings.TrimPrefix(name, pool.Prefix))
	}
	if all := len(rest) == pool.RawPrefixes; all {
		return "truncated: shared by " + strings.Join(rest, ", ")
	}
	count := fmt.Sprint(pool.RawPrefixes)
	if pool.RawPrefixes >= pools.MaxRawPrefixes {
		count += " or more"
	}
	note := fmt.Sprintf("truncated: shared by %s prefixes", count)
	if len(rest) == 0 {
		return note
	}
	return note + ": " + strings.Join(append(rest, "…"), ", ")
}

// sharedByOwners returns the note that the objects of a name pool might have several owners. A controller names
// them after their owner, and long names of owners are truncated.
func sharedByOwners(pool *pools.Pool) string {
	long := len(pool.Prefix) == names.MaxPrefixLength
	switch resource := pool.GroupResource; {
	case resource == pods && long && indexedPods.MatchString(pool.Prefix):
		shared := len(pool.Prefix) - len(indexedPods.FindString(pool.Prefix))
		return fmt.Sprintf("truncated: shared by Indexed Jobs with the same first %d bytes", shared)
	case resource == pods && pool.RawPrefixes > 1:
		return fmt.Sprintf("owners have the same first %d bytes", names.MaxPrefixLength)
	case resource == endpointSlices && pool.RawPrefixes > 1:
		return fmt.Sprintf("Services have the same first %d bytes", names.MaxPrefixLength)
	case resource == resourceClaims && !strings.HasSuffix(pool.Prefix, "-") &&
		len(pool.Prefix) >= truncatedClaimsLeast && len(pool.Prefix) <= truncatedClaimsMost:
		return "truncated: shared by Pods with similar names"
	}
	return ""
}

// sharedByChildren returns the note that a controller names other objects after the objects of this name pool.
// Their names are long, so the prefix of the other objects is truncated, too.
func sharedByChildren(pool *pools.Pool) string {
	of := children[pool.GroupResource]
	kept := names.MaxPrefixLength - len(pool.Prefix)
	switch {
	case of == "" || kept >= names.SuffixLength:
		return ""
	case kept <= 0:
		return fmt.Sprintf("%s of these %s share one name pool", of, pool.Resource)
	}
	return fmt.Sprintf("%s of these %s share %d^%d name pools", of, pool.Resource, analyze.AlphabetSize, kept)
}
