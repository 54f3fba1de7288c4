package duplicates

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The reasons why a group is only possible.
const (
	moreThanTwo    = "moreThanTwo"    // equal objects are often intended, such as workers or shards
	otherGroups    = "otherGroups"    // the owner has other groups of equal objects
	replicas       = "replicas"       // a workload controller of Kubernetes owns them
	noFieldManager = "noFieldManager" // managedFields are missing
	unreferenced   = "unreferenced"   // no object refers to them
	bothReferenced = "bothReferenced" // something refers to each of them
	creators       = "creators"       // several field managers created them
	unread         = "unread"         // some objects that might refer to them could not be read
)

const (
	// minAge is the age from which missing references are evidence. A younger object might get some soon.
	minAge = 2 * time.Minute
	// apart is the difference of two creationTimestamps, in seconds, from which their order is certain.
	apart = 2
)

// grader reads the references to groups, and grades them.
type grader struct {
	reader     *census.Reader
	resourceOf func(schema.GroupVersionKind) (census.Resource, error)
	now        time.Time // of the server
	skipped    *skipped
	seed       maphash.Seed // of the hashes of dependents
	dependents []dependents
	read       bool // the owners of all objects were read
}

func (g *grader) grade(ctx context.Context, groups []*group) {
	owned := map[string]int{} // number of groups of each set of owners
	for _, one := range groups {
		owned[one.ownerUIDs()]++
	}
	inspected := map[string][]*group{} // by namespace
	for _, one := range groups {
		one.Grade = v1alpha1.DuplicatePossible
		if one.Reason = one.notHigh(owned); one.Reason == "" {
			inspected[one.Namespace] = append(inspected[one.Namespace], one)
		}
	}
	var running errgroup.Group
	running.SetLimit(getsAtOnce)
	for namespace, these := range inspected {
		running.Go(func() error {
			g.inspect(ctx, namespace, these)
			return nil
		})
	}
	_ = running.Wait()
}

// ownerUIDs returns the UIDs of the owners, or "" without owners.
func (g *group) ownerUIDs() (uids string) {
	for _, owner := range g.members[0].owners {
		uids += string(owner.UID) + " "
	}
	return uids
}

// notHigh returns the reason why a group can't have a high grade, whatever refers to its objects. notHigh returns ""
// if a high grade is possible.
func (g *group) notHigh(owned map[string]int) string {
	uids := g.ownerUIDs()
	switch {
	case g.confirmed():
		return ""
	case len(g.members) > 2:
		return moreThanTwo
	case g.members[0].group&ownerReplaces != 0:
		return replicas
	case uids != "" && owned[uids] > 1:
		return otherGroups
	case g.Fields == 0:
		return noFieldManager
	}
	return ""
}

// confirmed reports whether the members have one creation ID. Other users can copy an ID, but the members also
// have the same content.
func (g *group) confirmed() bool { return g.members[0].group&hasID != 0 }

func (g *grader) inspect(ctx context.Context, namespace string, groups []*group) {
	names := references{}
	for _, one := range groups {
		one.ReferencesRead = g.read
		for _, owner := range one.members[0].owners {
			one.ReferencesRead = g.addOwner(ctx, one, owner) && one.ReferencesRead
		}
		for i := range one.Objects {
			names[one.Objects[i].Name] = append(names[one.Objects[i].Name], &one.Objects[i])
			g.addDependents(&one.Objects[i])
		}
	}
	read := g.addPods(ctx, namespace, names)
	for _, one := range groups {
		one.ReferencesRead = one.ReferencesRead && read
		one.setGrade(g.now)
	}
}

// addPods adds the references of the Pods of a namespace. addPods reports whether the Pods could be read.
func (g *grader) addPods(ctx context.Context, namespace string, names references) bool {
	if g.skipped.has(census.Pods, namespace) {
		return false
	}
	visit := census.VisitFunc(names.addPod)
	err := g.reader.List(ctx, census.Pods, namespace, decode.Options{Raw: true}, func() census.Visitor { return visit })
	g.skipped.by(ctx, census.Pods, namespace, err)
	return err == nil
}

// addDependents adds the types of the objects that an object owns.
func (g *grader) addDependents(object *v1alpha1.DuplicateObject) {
	hash := maphash.String(g.seed, object.UID)
	for _, d := range g.dependents {
		if _, is := slices.BinarySearch(d.owners, hash); is {
			refer(object, v1alpha1.DuplicateReference{Resource: d.resource.GroupResource().String()})
		}
	}
}

// mostReferences is the number of references that a report has of one object.
const mostReferences = 10

// refer adds a reference to an object, unless the object has it.
func refer(object *v1alpha1.DuplicateObject, reference v1alpha1.DuplicateReference) {
	if len(object.ReferredBy) < mostReferences && !slices.Contains(object.ReferredBy, reference) {
		object.ReferredBy = append(object.ReferredBy, reference)
	}
}

// addOwner adds an owner's references to the members that it names outside of metadata, and records the evidence for a
// proposal. addOwner reports whether the owner could be read.
func (g *grader) addOwner(ctx context.Context, one *group, owner metav1.OwnerReference) bool {
	r, err := g.resourceOf(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	if err != nil {
		g.skipped.add(census.Skipped{
			Resource: nameOf(owner), Namespace: one.Namespace, Reason: census.NotFound, Message: err.Error(),
		})
		return false
	}
	namespace := ""
	if r.Namespaced {
		namespace = one.Namespace
	}
	var found *unstructured.Unstructured
	err = g.reader.Get(ctx, r, namespace, owner.Name, decode.Options{Raw: true}, func(o *object.Object) (err error) {
		found, err = parse(r, o.Raw)
		return err
	})
	if err != nil || found == nil || found.GetUID() != owner.UID { // without an error, the owner was deleted
		g.skipped.by(ctx, r, namespace, err)
		return err == nil
	}
	older, younger := one.Objects[0].Name, one.Objects[1].Name
	object.EachText(found.Object["spec"], func(text string) { one.olderNamed = one.olderNamed || text == older })
	object.EachText(found.Object, func(text string) {
		one.youngerNamed = one.youngerNamed || strings.Contains(text, younger)
	})
	delete(found.Object, "metadata")
	names := references{}
	for i := range one.Objects {
		names[one.Objects[i].Name] = []*v1alpha1.DuplicateObject{&one.Objects[i]}
	}
	names.add(found.Object, nameOf(owner), "")
	return true
}

func nameOf(owner metav1.OwnerReference) string {
	of := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
	return schema.GroupResource{Group: of.Group, Resource: strings.ToLower(of.Kind)}.String() + "/" + owner.Name
}

// references are the members of groups by their names.
type references map[string][]*v1alpha1.DuplicateObject

// addPod adds the references of a Pod, in its ownerReferences, volumes, environment and other fields of spec.
func (r references) addPod(o *object.Object) error {
	pod, err := parse(census.Pods, o.Raw)
	if err != nil {
		return err
	}
	for _, owner := range o.Owners {
		for _, object := range r[owner.Name] {
			if object.UID == owner.UID {
				refer(object, v1alpha1.DuplicateReference{Resource: census.Pods.Resource})
			}
		}
	}
	r.add(pod.Object["spec"], "pod/"+o.Name, o.UID)
	return nil
}

// add adds the references in a value of an object. A field or key that equals a name is a reference. Text that
// only contains a name isn't, because it might be a message about a lost object. An object doesn't refer to
// itself.
func (r references) add(v any, by, uid string) {
	object.EachText(v, func(text string) {
		for _, named := range r[text] {
			if named.UID != uid {
				refer(named, v1alpha1.DuplicateReference{Object: by})
			}
		}
	})
}

// setGrade sets the grade of a group after its references were read. The younger object of a pair is proposed for
// deletion if the spec of their owner names the older one, and neither the owner nor anything else names the younger
// one. Other references to the older one are no evidence: status can name an object that is lost, other objects can
// refer to one object first, and any user can create them.
func (g *group) setGrade(now time.Time) {
	for i := range g.Objects {
		sortReferences(g.Objects[i].ReferredBy)
	}
	if len(g.Objects) > 2 {
		g.Grade = v1alpha1.DuplicateConfirmed
		return
	}
	older, younger := &g.Objects[0], &g.Objects[1]
	a, b := len(older.ReferredBy) > 0, len(younger.ReferredBy) > 0
	owned := len(g.Owners) > 0
	switch {
	case g.confirmed():
		g.Grade = v1alpha1.DuplicateConfirmed
	case a != b && g.ReferencesRead, !owned && older.Creator == younger.Creator:
		g.Grade = v1alpha1.DuplicateLikely
	case !g.ReferencesRead:
		g.Reason = unread
	case !owned:
		g.Reason = creators
	case a:
		g.Reason = bothReferenced
	default:
		g.Reason = unreferenced
	}
	isOld := now.Sub(younger.Created.Time) >= minAge && g.members[1].created >= g.members[0].created+apart
	younger.Proposed = g.Reason == "" && isOld && g.ReferencesRead && g.olderNamed && !g.youngerNamed && !b
}

// sortReferences sorts references. References by name come first.
func sortReferences(references []v1alpha1.DuplicateReference) {
	slices.SortFunc(references, func(a, b v1alpha1.DuplicateReference) int {
		return strings.Compare(b.Object+" "+b.Resource, a.Object+" "+a.Resource)
	})
}
