package create

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Warning is an event that the user should know about, although nothing failed. A warning can repeat.
type Warning struct {
	Code WarningCode
	// Args are the arguments that the comment of the code lists, in this order.
	Args []any
}

// WarningCode is the subject of a warning.
type WarningCode int

// The subjects of warnings, and their arguments. An argument that names an object is an argument of kubectl.
const (
	// ServerNames: the server picks the names of the type. Arguments: the resource type, a NamingReason.
	ServerNames WarningCode = iota
	// NoGet: the user has no permission to get the objects of a place. Arguments: the place.
	NoGet
	// Probing: the run sends each of the next objects of the place only once. Arguments: the place.
	Probing
	// RefusalUnverified: without permission to get the object, the plugin could not check whether an earlier copy
	// of a refused request was stored. Arguments: the resource type.
	RefusalUnverified
	// ConflictUnverified: without permission to get the object with the first name, the plugin tried another name.
	// Arguments: the resource type.
	ConflictUnverified
	// IDRemoved: stored objects lack labels or annotations, including the creation ID. Arguments: the resource
	// type, the missing keys.
	IDRemoved
	// LabelRemoved: stored objects lack the run's label. Arguments: the resource type, the key of the label.
	LabelRemoved
	// LabelLost: an object of an earlier run has lost the run's label. Arguments: the object, the missing keys.
	LabelLost
	// Unverified and OtherSecret: objects have the run's label, but their IDs are not derived from the key, or not
	// with this secret. Arguments: the number of objects, one of them.
	Unverified
	OtherSecret
	// Expiring: objects of the type are deleted after they finish, so a later run with the key creates them again.
	// Arguments: the resource type.
	Expiring
	// Terminating: an object of an earlier run is being deleted. Arguments: the object.
	Terminating
)

// NamingReason is the reason why the plugin can't pick the names of a resource type, or of one document.
type NamingReason string

// The reasons.
const (
	NamesIgnored NamingReason = "names ignored"  // the server uses the generateName as the name
	NotStored    NamingReason = "not stored"     // the API responds without storing an object
	NotReadable  NamingReason = "no verb to get" // the API doesn't support get
	// Nameless: the object has neither a name nor a generateName, or its labels or annotations are not maps. A webhook
	// might name it, so each run would create it again.
	Nameless NamingReason = "nameless"
)

// NoClientNamingError reports that a document can't be created with a key.
type NoClientNamingError struct {
	Resource schema.GroupResource
	Reason   NamingReason
	Source   string
}

func (e *NoClientNamingError) Error() string {
	return fmt.Sprintf("%s can't be named by the client: %s", e.Resource, e.Reason)
}

// reviewPatience is how long a finished run waits for permission reviews.
const reviewPatience = time.Second

// permission is the state of the permission review at one place.
type permission struct {
	asked      bool
	unreadable bool // the user can't get objects
	taken      bool // a create was not refused, so the permission to get matters
}

// review checks whether the user can get objects, once for each place and in parallel to the first create. Without
// this check, the user would learn of a missing permission only after a lost response. A failed review is not
// reported. Objects that are not sent or never read need no review.
func (s *Session) review(j job) {
	at := j.task.place
	if at.permission.asked || s.config.DryRun != NoDryRun || j.id.String() == "" || j.existing != nil {
		return
	}
	at.permission.asked = true
	s.reviews++
	go func() {
		s.scheduler.reports <- reviewed{at, s.client.May(s.ctx, "get", at.in.Resource, at.Namespace)}
	}()
}

// notRefused records that not all creates at the place are refused.
func (s *Session) notRefused(at *place) {
	at.permission.taken = true
	s.warnOfNoGet(at)
}

// warnOfNoGet warns, once, of a place where the user can create objects but can't get them.
func (s *Session) warnOfNoGet(at *place) {
	if p := &at.permission; p.taken && p.unreadable {
		p.unreadable = false
		s.warn(NoGet, at.Place)
	}
}

// endReviews waits for the reviews in progress, for reviewPatience at most.
func (s *Session) endReviews() {
	over := time.After(reviewPatience)
	for s.reviews > 0 {
		select {
		case t := <-s.scheduler.reports:
			s.take(t)
		case <-over:
			s.stop()
		}
	}
}
