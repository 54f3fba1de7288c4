package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
)

// foldUpTo is up to how many times --min-count names a row is folded.
const foldUpTo = 10

// fold is one line for rows of one namespace, whose names a number of replicas
// bounds.
type fold struct {
	namespace string
	types     map[string]bool
	prefixes  int
	names     int64
}

// cell returns what the line says in a column.
func (f fold) cell(column string) string {
	switch column {
	case namespaceColumn:
		return f.namespace
	case resourceColumn:
		return strings.Join(slices.Sorted(maps.Keys(f.types)), ",")
	case prefixColumn:
		return "(" + humanize.Count(f.prefixes, "prefix") + ")"
	case "NAMES":
		return humanize.Grouped(f.names)
	case notesColumn:
		return "limited by replicas (--show-replicas)"
	}
	return ""
}

// folded takes the rows out of items that replicas bound and that have few names, and
// returns the others and a line for each namespace with several such rows.
func folded(items []v1alpha1.AuditItem, minCount int64) ([]v1alpha1.AuditItem, []fold) {
	few := func(i v1alpha1.AuditItem) bool { return i.ReplicaBounded && i.Names <= foldUpTo*max(minCount, 1) }
	found := map[string]*fold{}
	for _, item := range items {
		if !few(item) {
			continue
		}
		f := found[item.Namespace]
		if f == nil {
			f = &fold{namespace: item.Namespace, types: map[string]bool{}}
			found[item.Namespace] = f
		}
		f.types[resourceText(item)] = true
		f.prefixes++
		f.names += item.Names
	}
	var folds []fold
	for _, f := range found {
		if f.prefixes > 1 {
			folds = append(folds, *f)
		}
	}
	slices.SortFunc(folds, func(a, b fold) int {
		return cmp.Or(cmp.Compare(b.names, a.names), cmp.Compare(a.namespace, b.namespace))
	})
	left := slices.DeleteFunc(slices.Clone(items), func(i v1alpha1.AuditItem) bool {
		return few(i) && found[i.Namespace].prefixes > 1
	})
	return left, folds
}
