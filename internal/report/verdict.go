package report

import (
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Safe is the room from which a prefix is no problem, because so many creates are unlikely to fail.
const Safe = 1000

// verdict returns the state of the prefix with the least room, and the number of prefixes in each
// state. The items of one prefix differ only in their numbers of creates.
func (q Question) verdict(items []v1alpha1.CollisionItem) v1alpha1.CollisionVerdict {
	verdict := v1alpha1.CollisionVerdict{State: v1alpha1.CollisionOK}
	for at := 0; at < len(items); at += len(q.Creates) {
		item := items[at]
		room := RoomOf(item.InForce())
		switch StateOf(room) {
		case v1alpha1.CollisionRisk:
			verdict.Risk++
		case v1alpha1.CollisionFailing:
			verdict.Failing++
		}
		if item.Policy(v1alpha1.PolicyServer).Attempts == nil {
			verdict.AttemptsUnknown++
		}
		if at == 0 || room < verdict.Closest.Room {
			verdict.State = StateOf(room)
			verdict.Closest = v1alpha1.CollisionClosest{
				Group: item.Group, Resource: item.Resource, Namespace: item.Namespace, Prefix: item.Prefix, Room: room,
			}
		}
	}
	return verdict
}

// RoomOf returns the room of a policy whose attempts are known.
func RoomOf(p *v1alpha1.Policy) int64 {
	if p.Room.Creates == nil {
		return math.MaxInt64
	}
	return *p.Room.Creates
}

// StateOf returns the state of a prefix with so much room.
func StateOf(room int64) v1alpha1.CollisionState {
	switch {
	case room == 0:
		return v1alpha1.CollisionFailing
	case room < Safe:
		return v1alpha1.CollisionRisk
	}
	return v1alpha1.CollisionOK
}
