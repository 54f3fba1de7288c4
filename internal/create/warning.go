package create

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Warning is an event that the user should know about, although nothing failed. A warning can repeat.
type Warning struct {
	Code WarningCode
	// Args are the values that the comment of the code lists, in this order.
	Args []any
}

// WarningCode is the subject of a warning.
type WarningCode int

// The subjects of warnings, and their values. A name of an object is an argument of kubectl.
const (
	// ServerNames has a resource type and a NamingReason. The server picks the names of the type.
	ServerNames WarningCode = iota
	// NoGet has a place. The user has no permission to get its objects.
	NoGet
	// Probing has a place. The run sends the next objects of the place once each.
	Probing
	// RefusalUnverified has a resource type. The plugin could not check whether an earlier copy of a
	// refused request was carried out. The user has no permission to get the object.
	RefusalUnverified
	// ConflictUnverified has a resource type. The plugin tried another name without checking which object
	// has the first name. The user has no permission to get that object.
	ConflictUnverified
	// IDRemoved has a resource type, and keys of annotations and labels. Stored objects lack these keys,
	// and the creation ID is one of them.
	IDRemoved
	// LabelRemoved has a resource type and a key. Stored objects lack the run's label.
	LabelRemoved
	// LabelLost has an object and keys. The object of an earlier run has lost the run's label.
	LabelLost
	// Unverified and OtherSecret have a number of objects and one of them. They have the run's label, and
	// don't follow from the key, or from the key and the secret.
	Unverified
	OtherSecret
	// Expiring has a resource type. Its objects are deleted after they finish, so that a later run with
	// the key creates them again.
	Expiring
	// Terminating has an object of an earlier run that is being deleted.
	Terminating
)

// NamingReason is the reason why the plugin can't pick the names of a resource type.
type NamingReason string

// The reasons.
const (
	NamesIgnored NamingReason = "names ignored"  // the server uses generateName as the name
	NotStored    NamingReason = "not stored"     // the API responds and stores nothing
	NotReadable  NamingReason = "no verb to get" // the API has no get verb
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
	taken      bool // not all creates are refused, so the permission to get objects matters
}

// review checks, once for each place, whether the user has permission to get objects there. It runs in
// parallel to the first create. Otherwise a lost response would be the first sign of a missing
// permission. A failed review is not reported. An object that is not sent or is never read back needs
// no review.
func (s *Session) review(j job) {
	at := j.document.place
	if at.permission.asked || s.config.DryRun != NoDryRun || j.id.String() == "" || j.existing != nil {
		return
	}
	at.permission.asked = true
	s.reviews++
	go func() {
		s.scheduler.reports <- reviewed{at, s.config.client.May(s.ctx, "get", at.resource, at.Namespace)}
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
