package duplicates

import (
	"context"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// maxAttempts is the number of names of a creation ID that are compared with a name.
const maxAttempts = 100

// inspector reads groups again that may get a high grade, and the references to their members.
type inspector struct {
	finder     *Finder
	reader     *census.Reader
	dependents []dependents
	complete   bool // all dependents were read

	mu      sync.Mutex
	skipped []census.Skipped
	unequal *incomparable
}

// inspect grades one group. It compares the members again because they may have changed since the
// second pass.
func (i *inspector) inspect(ctx context.Context, g *Group) {
	g.ReferencesRead = i.complete
	objects, err := i.read(ctx, g)
	if err != nil {
		i.skip(ctx, g.Resource, g.Namespace, err)
		g.Reason, g.ReferencesRead = Unread, false
		return
	}
	confirmed := followFromID(objects)
	contents, ok := i.contents(g, objects)
	if !ok || len(objects) < g.Len() || !confirmed && !i.equal(objects, contents) {
		g.dissolved = true
		return
	}
	i.describe(g, objects, contents)
	for _, owner := range objects[0].GetOwnerReferences() {
		if err := i.owner(ctx, g, owner); err != nil {
			g.ReferencesRead = false
		}
	}
	switch {
	case confirmed:
		g.Grade = Confirmed
	case g.Len() > 2:
		g.Reason = MoreThanTwo
		return
	case g.Compared.Fields == 0:
		g.Reason = NoFieldManager
		return
	}
	if g.Len() == 2 {
		g.setGrade(i.finder)
	}
}

// read returns the current members of a group, without those that are gone or being deleted.
func (i *inspector) read(ctx context.Context, g *Group) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, o := range g.Objects() {
		object, err := i.get(ctx, g.Resource, g.Namespace, o.Name)
		if err != nil {
			return nil, err
		}
		if object != nil && object.GetDeletionTimestamp() == nil {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// get returns an object, or nil if it does not exist.
func (i *inspector) get(
	ctx context.Context, of census.Resource, namespace, name string,
) (found *unstructured.Unstructured, err error) {
	asked := decode.Asked{Whole: true}
	err = i.reader.Get(ctx, of, namespace, name, asked, func(o *decode.Object) (err error) {
		found, err = parse(of, o.Raw)
		return err
	})
	return found, err
}

// contents returns the contents of objects. It is false if an object can't be compared.
func (i *inspector) contents(g *Group, objects []*unstructured.Unstructured) (contents []content, ok bool) {
	ok = true
	for _, object := range objects {
		content, err := contentOf(i.finder.seed, object)
		if err != nil {
			i.unequal.add(listKey{g.Resource, g.Namespace}, object.GetName())
			ok = false
		}
		contents = append(contents, content)
	}
	return contents, ok
}

// equal reports whether objects have the same content, and each was created shortly after the previous
// one.
func (i *inspector) equal(objects []*unstructured.Unstructured, contents []content) bool {
	for n, object := range objects[1:] {
		gap := object.GetCreationTimestamp().Sub(objects[n].GetCreationTimestamp().Time)
		if contents[n+1].hash != contents[0].hash || gap > i.finder.Within {
			return false
		}
	}
	return true
}

// describe fills in the details of a group.
func (i *inspector) describe(g *Group, objects []*unstructured.Unstructured, contents []content) {
	g.Compared = Compared{Fields: contents[0].fields, Of: contents[0].of}
	for _, owner := range objects[0].GetOwnerReferences() {
		g.Owners = append(g.Owners, nameOf(owner))
	}
	g.StatusDiffers = differences(objects)
	for n, object := range objects {
		g.objects = append(g.objects, Object{
			Name: object.GetName(), UID: string(object.GetUID()),
			Created: object.GetCreationTimestamp().UTC(), Creator: contents[n].manager,
			State: state(object), ReferredBy: i.referencesTo(string(object.GetUID())),
		})
	}
}

// referencesTo returns the types that have the object with a UID as an owner.
func (i *inspector) referencesTo(uid string) (references []Reference) {
	hash := maphash.String(i.finder.seed, uid)
	for _, d := range i.dependents {
		reference := Reference{Resource: d.resource.GroupResource().String()}
		if _, is := slices.BinarySearch(d.owners, hash); is && !slices.Contains(references, reference) {
			references = append(references, reference)
		}
	}
	return references
}

// owner adds an owner's references to the members that it names outside of metadata.
func (i *inspector) owner(ctx context.Context, g *Group, owner metav1.OwnerReference) error {
	r, err := i.finder.ResourceOf(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	if err != nil {
		i.add(census.Skipped{
			Resource: nameOf(owner), Namespace: g.Namespace, Reason: census.NotFound, Message: err.Error(),
		})
		return err
	}
	namespace := ""
	if r.Namespaced {
		namespace = g.Namespace
	}
	object, err := i.get(ctx, r, namespace, owner.Name)
	if err != nil {
		i.skip(ctx, r, namespace, err)
		return err
	}
	if object == nil || object.GetUID() != owner.UID {
		return nil // it is gone
	}
	delete(object.Object, "metadata")
	for n := range g.objects {
		if mentions(object.Object, g.objects[n].Name) {
			g.objects[n].ReferredBy = append(g.objects[n].ReferredBy, Reference{Owner: nameOf(owner)})
		}
	}
	return nil
}

func (i *inspector) skip(ctx context.Context, r census.Resource, namespace string, err error) {
	i.add(census.SkippedBy(ctx, r, namespace, err))
}

func (i *inspector) add(skipped census.Skipped) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.skipped, skipped) {
		i.skipped = append(i.skipped, skipped)
	}
}

// nameOf returns an owner as KIND.GROUP/NAME.
func nameOf(owner metav1.OwnerReference) string {
	of := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
	return schema.GroupResource{Group: of.Group, Resource: strings.ToLower(of.Kind)}.String() + "/" + owner.Name
}

// followFromID reports whether all objects have one creation ID, and names that follow from it.
func followFromID(objects []*unstructured.Unstructured) bool {
	for _, o := range objects {
		id := o.GetAnnotations()[exactlyonce.Annotation]
		if id == "" || id != objects[0].GetAnnotations()[exactlyonce.Annotation] || !follows(o, id) {
			return false
		}
	}
	return len(objects) > 1
}

func follows(o *unstructured.Unstructured, id string) bool {
	_, end, ok := split(&decode.Object{
		Name: o.GetName(), GenerateName: o.GetGenerateName(), Identity: decode.Identity{CreationID: id},
	})
	for attempt := uint32(0); ok && attempt < maxAttempts; attempt++ {
		if names.Candidate(o.GetGenerateName(), id, attempt, int(end>>lengthShift)) == o.GetName() {
			return true
		}
	}
	return false
}

// mentions reports whether a value contains a name as a whole word.
func mentions(v any, name string) bool {
	switch v := v.(type) {
	case string:
		return hasWord(v, name)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return mentions(item, name) })
	case map[string]any:
		for key, item := range v {
			if hasWord(key, name) || mentions(item, name) {
				return true
			}
		}
	}
	return false
}

func hasWord(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(name)
		if (at == 0 || !inName(text[at-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
		from = at + 1
	}
}

func inName(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// differences returns the fields of status in which objects differ.
func differences(objects []*unstructured.Unstructured) []string {
	differ := map[string]bool{}
	first, _ := objects[0].Object["status"].(map[string]any)
	for _, object := range objects[1:] {
		status, _ := object.Object["status"].(map[string]any)
		for _, field := range append(slices.Collect(maps.Keys(status)), slices.Collect(maps.Keys(first))...) {
			if !reflect.DeepEqual(first[field], status[field]) {
				differ[field] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(differ))
}
