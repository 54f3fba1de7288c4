package findings

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Sent describes the object that was sent. The methods of Sent compare responses with this object.
type Sent struct {
	schema.GroupKind
	Resource  string // empty if it isn't known
	Namespace string // empty for a cluster-scoped object
	Prefix    string // generateName
	Fixed     bool   // the object has a fixed name
	// ID is the creation ID. ID is empty for an untracked object.
	ID string
	// Once means that no other process has sent an object with the ID.
	Once bool
}

// Stored returns the observation of a 2xx response to a POST of the name. The name is empty if the server picks it.
// kind is the kind of the object in the response, or empty if it isn't known. If that object isn't the one that was
// sent, the response counts as lost.
func (s Sent) Stored(name string, kind schema.GroupKind, got metav1.Object) protocol.Observation {
	id := got.GetAnnotations()[derive.IDAnnotation]
	switch {
	case !s.isHere(kind, got), s.ID != "" && id != "" && id != s.ID:
	case got.GetName() == name, s.ID == "" && (got.GetName() == "" || s.mayBePicked(got)):
		return protocol.Observation{Finding: protocol.Stored}
	case s.ID != "" && id == s.ID:
		err := fmt.Errorf("created as %q%s", got.GetName(), s.Renamed(name))
		return protocol.Observation{Finding: protocol.Renamed, Err: err}
	}
	return protocol.Observation{Finding: protocol.Lost, Other: true, Err: notSent(got)}
}

// Renamed returns the explanation in messages that the object has another name than the one that was sent.
func (s Sent) Renamed(name string) string {
	sent := fmt.Sprintf("%q", name)
	if name == "" {
		sent = fmt.Sprintf("generateName %q", s.Prefix)
	}
	return fmt.Sprintf(" (the server responded with this name although %s was sent: "+
		"a webhook or policy picks names)", sent)
}

func notSent(got metav1.Object) error {
	return fmt.Errorf("the response is about the object %q, which was not requested", got.GetName())
}

// Refused returns the observation of the error of a POST of the name. If the error is about another object, the
// response is lost, and other is the name of that object. The caller then reads that object. If that object has the ID,
// the finding is Renamed. connected is the parameter of OfPost.
//
// An object without an ID can't be recognized. A refusal of such an object counts as it does in kubectl, except for
// conflicts.
func (s Sent) Refused(name string, err error, connected bool) (seen protocol.Observation, other string) {
	seen = protocol.Observation{Finding: OfPost(err, connected), Err: err, RetryAfter: RetryAfter(err)}
	if s.ID == "" && seen.Finding == protocol.Rejected && isFull(err) {
		seen.Finding = protocol.Lost // the object might be stored, and can't be recognized
	}
	seen.Permission = seen.Finding == protocol.Rejected && apierrors.IsForbidden(err)
	details := Details(err)
	switch seen.Finding {
	case protocol.Rejected, protocol.Denied, protocol.Unauthorized:
		if s.ID == "" || mayNameAnother(err) {
			return seen, ""
		}
	case protocol.Conflict:
	default:
		return seen, ""
	}
	if !s.isOther(details, name) {
		return seen, ""
	}
	return protocol.Observation{
		Finding: protocol.Lost, Other: true, RetryAfter: seen.RetryAfter,
		Err: fmt.Errorf("%w (the response is about another object)", err),
	}, details.Name
}

// Held returns the observation of the object that a GET of the name returned. A webhook might
// replace our ID by a text that no client generates. If only this process sends the object, such a text means the
// same as a missing ID.
func (s Sent) Held(name string, kind schema.GroupKind, got metav1.Object) protocol.Observation {
	if got.GetName() != name || !s.isHere(kind, got) {
		return protocol.Observation{Finding: protocol.Unread, Err: notSent(got)}
	}
	seen := protocol.Observation{Finding: protocol.Anonymous, Time: got.GetCreationTimestamp().Time}
	switch id := got.GetAnnotations()[derive.IDAnnotation]; {
	case id == s.ID && id != "":
		seen.Finding = protocol.Ours
	case id != "" && (!s.Once || ofClient.MatchString(id)):
		seen.Finding = protocol.Foreign
	}
	return seen
}

// ofClient matches the creation IDs that clients generate.
var ofClient = regexp.MustCompile(`^(r1-[0-9a-f]{32}|v1s?-[0-9a-f]{32}-\d+-\d+)$`)

// errOther is the error of a GET whose response is about another object.
var errOther = errors.New("the response is about another object")

// NotHeld returns the observation of the error of a GET of the name. audited is the parameter of OfGet.
func (s Sent) NotHeld(name string, err error, audited bool) protocol.Observation {
	if s.isOther(Details(err), name) {
		return protocol.Observation{Finding: protocol.Unread, Err: errOther}
	}
	return protocol.Observation{Finding: OfGet(err, audited), Err: err, RetryAfter: RetryAfter(err)}
}

// isHere reports whether got has the type and the namespace of the object that was sent.
func (s Sent) isHere(kind schema.GroupKind, got metav1.Object) bool {
	namespace := got.GetNamespace()
	return (kind.Empty() || kind == s.GroupKind) && (s.Namespace == "" || namespace == "" || namespace == s.Namespace)
}

// mayBePicked reports whether an object without a fixed name can have got this name from the server, or from a webhook
// that keeps the prefix.
func (s Sent) mayBePicked(got metav1.Object) bool {
	return !s.Fixed && (got.GetGenerateName() == s.Prefix || derive.GeneratedFrom(got.GetName(), s.Prefix))
}

// isOther reports whether details name another object than the one that was sent under name. If name is empty, the
// server generates the name from the object's generateName. Objects of different types can have the same fixed
// name, but hardly the same generated name. So the type matters only for a fixed name.
func (s Sent) isOther(details *metav1.StatusDetails, name string) bool {
	switch {
	case details == nil, details.Name == "",
		details.Kind == "namespaces" && s.Namespace != "" && details.Name == s.Namespace:
		return false
	case name == "":
		return details.Name != s.Prefix && !derive.GeneratedFrom(details.Name, s.Prefix)
	}
	return details.Name != name || s.Fixed && !s.isType(details.Kind)
}

// isType reports whether called is the object's type. The details of a Status have the resource or the kind.
func (s Sent) isType(called string) bool {
	return called == "" || strings.EqualFold(called, s.Resource) || strings.EqualFold(called, s.Kind) ||
		called == schema.GroupResource{Group: s.Group, Resource: s.Resource}.String()
}
