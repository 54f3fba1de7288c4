package audit

import (
	"fmt"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// leftoverNotes returns the notes on objects that Kubernetes should have deleted.
func leftoverNotes(r *row) (notes []string) {
	if o := r.Orphaned; o != nil && o.Unknown {
		notes = append(notes, fmt.Sprintf("it is unknown whether the Jobs of %s exist, because you can't list Jobs",
			humanize.Count(o.Names, "Pod")))
	} else if o != nil {
		notes = append(notes, fmt.Sprintf("%s orphaned, because the Jobs don't exist", humanize.Count(o.Names, "Pod")))
	}
	d := r.Deleting
	if d == nil {
		return notes
	}
	note := fmt.Sprintf("%s being deleted", humanize.Grouped(d.Names))
	if d.Since != nil {
		note += fmt.Sprintf(", the first since %s ago", ageText(d.Since, r.at))
	}
	if d.Finalizer != "" {
		note += fmt.Sprintf(", and the finalizer %s holds %s", d.Finalizer, humanize.Grouped(d.Held))
	}
	return append(notes, note)
}

// orphanLines returns the number of orphaned Pods in the rows, and the command that plans their deletion.
func orphanLines(rows []row) []string {
	var names int64
	var namespaces []string
	age := ""
	for i := range rows {
		r := &rows[i]
		if !isOrphaned(r.AuditItem) {
			continue
		}
		names += r.Orphaned.Names
		age = max(age, prunableAge(r.AuditItem)) // 24h is after 1h
		if !slices.Contains(namespaces, r.Namespace) {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	if len(namespaces) == 0 {
		return nil
	}
	return []string{
		humanize.Count(names, "orphaned Pod") + ". To plan the deletion:",
		terminal.Hint(pruneOrphaned(age, namespaces...)...),
	}
}

func pruneOrphaned(age string, namespaces ...string) []string {
	words := []string{"kubectl", "genname", "prune", "pods", "--orphaned", "--older-than", age}
	if len(namespaces) > 1 {
		return append(words, "-A")
	}
	return append(words, "-n", namespaces[0])
}

// isOrphaned reports whether the item has orphaned Pods that prune would delete.
func isOrphaned(item v1alpha1.AuditItem) bool {
	return item.Orphaned != nil && !item.Orphaned.Unknown && !isBeingDeleted(item)
}

// isBeingDeleted reports whether most of the objects are being deleted, so that prune would leave them.
func isBeingDeleted(item v1alpha1.AuditItem) bool {
	return item.Deleting != nil && 2*item.Deleting.Names >= item.Names
}

// prunableAge returns a value of --older-than: 24h if some of the objects are older than that, and otherwise 1h.
func prunableAge(item v1alpha1.AuditItem) string {
	if item.Last24h != nil && *item.Last24h < item.Names {
		return "24h"
	}
	return "1h"
}

// isPrunable reports whether prune would accept the prefix, and delete most of its objects. Objects of types that don't
// run are useless only if there are many. A few, such as the keys of sealed-secrets, can all be in use.
func isPrunable(item v1alpha1.AuditItem) bool {
	of, isStem := item.GroupResource(), item.Naming == v1alpha1.NamingStem
	accepts := isStem || !item.ClientGenerated && item.RawPrefixes <= 1 && item.Generated > 0
	isOf := finished.ClassOfResource(of) == finished.Finishes || isStem && prune.ShowsActive(of) ||
		item.Names >= audit.ManyRetained && finished.Outlives(of)
	return accepts && isOf && prune.RefusedByStem(of) == "" && !isBeingDeleted(item)
}
