package create

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// Warning is an event that a user should know about and that fails nothing. The
// same warning may come often.
type Warning interface {
	Event
	warning()
}

// ServerNames warns that the server picks the names of a resource type.
type ServerNames struct {
	Resource schema.GroupResource
	Reason   NamingReason
}

// NamingReason is why the plugin can't pick the names of a resource type.
type NamingReason string

// The reasons.
const (
	NamesIgnored NamingReason = "names ignored"  // the server takes generateName for the name
	NotStored    NamingReason = "not stored"     // the API only responds
	NotReadable  NamingReason = "no verb to get" // the API has no get
)

// NoClientNamingError says that a document can't be created with a key.
type NoClientNamingError struct {
	Resource schema.GroupResource
	Reason   NamingReason
	Source   string
}

func (e *NoClientNamingError) Error() string {
	return fmt.Sprintf("%s can't be named by the client: %s", e.Resource, e.Reason)
}

// MissingIDs warns of objects with the run's label and without a creation ID.
type MissingIDs struct {
	Objects int
	Example string // an object as arguments of kubectl
}

// Expiring warns that objects are deleted after they finish, so that a later run
// with the key creates them again.
type Expiring struct{ Resource schema.GroupResource }

// Probing warns that the next objects of the place are sent once each.
type Probing struct{ Place idempotency.Place }

// NoGet warns that the user has no permission to get objects of the place.
type NoGet struct{ Place idempotency.Place }

// Copied warns that two objects have one creation ID, and that the name of only the
// first one follows from it. Both are arguments of kubectl.
type Copied struct{ Object, Copy string }

// NotRechecked warns that it is unknown whether another run with the key has
// created the same objects at the same time.
type NotRechecked struct{ Err error }

// AnnotationsLost warns that objects come back without annotations or labels that
// were sent.
type AnnotationsLost struct {
	Resource schema.GroupResource
	Keys     string // separated by commas
	// Unrecognizable reports that the creation ID is among them.
	Unrecognizable bool
}

// LabelLost warns that an object of an earlier run has lost the run's label.
type LabelLost struct {
	Object string // as kubectl prints it
	Keys   string
}

// RefusalUnverified warns that it was not checked whether an earlier copy of a
// refused request was carried out: there is no permission to get the object.
type RefusalUnverified struct{ Resource schema.GroupResource }

// ConflictUnverified warns that another name was tried although it was not checked
// whose object has the first: there is no permission to get it.
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
