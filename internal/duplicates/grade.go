package duplicates

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// grade sets the grade of every group, and drops groups that no longer exist.
func (f *Finder) grade(ctx context.Context, result *Result, i *inspector) {
	owned := map[kin]int{} // groups of each set of owners
	for _, g := range result.Groups {
		if g.kin()&hasOwner != 0 {
			owned[g.kin()]++
		}
	}
	var group errgroup.Group
	group.SetLimit(getsAtOnce)
	for _, g := range result.Groups {
		if g.Reason = g.notHigh(owned); g.Reason == "" {
			group.Go(func() error { i.inspect(ctx, g); return nil })
		} else {
			g.ReferencesRead = i.complete
		}
	}
	_ = group.Wait()
	kept := result.Groups[:0]
	for _, g := range result.Groups {
		if !g.dissolved {
			kept = append(kept, g)
		}
	}
	result.Groups = kept
	result.Skipped = append(result.Skipped, i.skipped...)
	sortGroups(result.Groups)
}

// notHigh returns the reason why a group can't have a high grade, whatever its references are, or "".
func (g *Group) notHigh(owned map[kin]int) Reason {
	kin := g.kin()
	switch {
	case kin&hasID != 0: // the names decide
		return ""
	case g.Len() > 2:
		return MoreThanTwo
	case kin&ownerReplaces != 0:
		return Replicas
	case owned[kin] > 1:
		return OtherGroups
	case g.members.details[0].manager == 0 || g.members.details[1].manager == 0:
		return NoFieldManager
	}
	return ""
}

// setGrade sets the grade and the proposal of a pair that was inspected.
func (g *Group) setGrade(f *Finder) {
	a, b := &g.objects[0], &g.objects[1]
	referred, other := a, b
	if len(b.ReferredBy) > 0 {
		referred, other = b, a
	}
	one := len(referred.ReferredBy) > 0 && len(other.ReferredBy) == 0
	owned := g.kin()&hasOwner != 0
	switch {
	case g.Grade == Confirmed, one && g.ReferencesRead, !owned && a.Creator == b.Creator:
		if g.Grade != Confirmed {
			g.Grade = Likely
		}
		other.Proposed = one && g.ReferencesRead && g.proves(f, referred, owned)
	case !g.ReferencesRead:
		g.Reason = Unread
	case !owned:
		g.Reason = Creators
	default:
		g.Reason = Unreferenced
	}
}

// proves reports whether missing references prove that the other object is superfluous. If both objects
// have an owner, one may get its dependents a little earlier. Then only a reference by the owner
// counts. Without an owner, both objects must have had time to get references.
func (g *Group) proves(f *Finder, referred *Object, owned bool) bool {
	if !owned {
		return f.Now.Sub(g.objects[1].Created) > f.Within
	}
	for _, r := range referred.ReferredBy {
		if r.Owner != "" {
			return true
		}
	}
	return false
}
