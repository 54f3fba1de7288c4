package create

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// Warning is an event that the user should know about, although nothing failed. A warning can repeat.
type Warning interface {
	Event
	warning()
}

// ServerNames warns that the server picks the names of a resource type.
type ServerNames struct {
	Resource schema.GroupResource
	Reason   NamingReason
}

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

// MissingIDs warns of objects that have the run's label but no creation ID.
type MissingIDs struct {
	Objects int
	Example string // an object as arguments of kubectl
}

// Expiring warns that objects are deleted after they finish, so that a later run
// with the key creates them again.
type Expiring struct{ Resource schema.GroupResource }

// Probing warns that the run sends the next objects of the place once each.
type Probing struct{ Place idempotency.Place }

// NoGet warns that the user has no permission to get objects of the place.
type NoGet struct{ Place idempotency.Place }

// Copied warns that two objects have one creation ID, and that only the name of the first follows from
// it. Both are arguments of kubectl.
type Copied struct{ Object, Copy string }

// NotRechecked warns that the run could not check whether another run with the key created the same
// objects at the same time.
type NotRechecked struct{ Err error }

// AnnotationsLost warns that stored objects lack annotations or labels that were sent.
type AnnotationsLost struct {
	Resource schema.GroupResource
	Keys     string // separated by commas
	// Unrecognizable reports that the creation ID is one of them.
	Unrecognizable bool
}

// LabelLost warns that an object of an earlier run has lost the run's label.
type LabelLost struct {
	Object string // as kubectl prints it
	Keys   string
}

// RefusalUnverified warns that the plugin could not check whether an earlier copy of a refused request
// was carried out. The user has no permission to get the object.
type RefusalUnverified struct{ Resource schema.GroupResource }

// ConflictUnverified warns that the plugin tried another name without checking which object has the
// first name. The user has no permission to get that object.
type ConflictUnverified struct{ Resource schema.GroupResource }

// Terminating warns that an object of an earlier run is being deleted.
type Terminating struct{ Object string }

func (ServerNames) event()        {}
func (MissingIDs) event()         {}
func (Expiring) event()           {}
func (Probing) event()            {}
func (NoGet) event()              {}
func (Copied) event()             {}
func (NotRechecked) event()       {}
func (AnnotationsLost) event()    {}
func (LabelLost) event()          {}
func (RefusalUnverified) event()  {}
func (ConflictUnverified) event() {}
func (Terminating) event()        {}

func (ServerNames) warning()        {}
func (MissingIDs) warning()         {}
func (Expiring) warning()           {}
func (Probing) warning()            {}
func (NoGet) warning()              {}
func (Copied) warning()             {}
func (NotRechecked) warning()       {}
func (AnnotationsLost) warning()    {}
func (LabelLost) warning()          {}
func (RefusalUnverified) warning()  {}
func (ConflictUnverified) warning() {}
func (Terminating) warning()        {}
