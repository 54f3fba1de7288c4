package oncetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// tries is how many names the server tries for a generateName, as
// kube-apiserver does since 1.31.
const tries = 8

// key is where an object is.
type key struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

func (r *Request) key() key { return key{r.Resource, r.Namespace, r.Name} }

// carryOut does what the request asks for. The server is locked.
func (r *Request) carryOut() *http.Response {
	resp := r.answer()
	if r.Verb != "" {
		r.record.CarriedOut = append(r.record.CarriedOut, describe(resp, nil))
	}
	return resp
}

func (r *Request) answer() *http.Response {
	accept := r.http.Header.Get("Accept")
	switch {
	case r.http.URL.Path == reviews && r.http.Method == http.MethodPost:
		return r.review()
	case r.Resource.Empty():
		return r.server.discover(r.http.URL.Path, accept)
	case accept != "" && !strings.Contains(accept, "json") && !strings.Contains(accept, "*/*"):
		return refuse(failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
			"406: Not Acceptable\n\nAvailable representations: application/json"))
	case r.Verb == "create":
		return r.create()
	case r.Verb == "delete":
		return r.remove()
	case r.Verb == "get", r.Verb == "list" && r.http.URL.Query().Get("watch") == "":
		return r.read(r.server.objects)
	}
	return refuse(apierrors.NewMethodNotSupported(r.Resource.GroupResource(), strings.ToLower(r.http.Method)))
}

// reviews is where a client asks who it is. The answer has the server's time.
const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

func (r *Request) review() *http.Response {
	return answerJSON(http.StatusCreated, map[string]any{
		"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
		"metadata": map[string]any{"creationTimestamp": metav1.NewTime(r.server.now().UTC())},
		"status":   map[string]any{"userInfo": map[string]any{"username": "oncetest"}},
	})
}

// create stores the object, or says why not.
func (r *Request) create() *http.Response {
	if err := r.malformed(); err != nil {
		return refuse(err)
	}
	object := r.Object.DeepCopy()
	if !r.kind.ClusterScoped {
		object.SetNamespace(r.Namespace)
	}
	picks := object.GetName() == ""
	for try := 0; ; try++ {
		if picks {
			object.SetName(r.server.pick(object.GetGenerateName()))
		}
		at := key{r.Resource, r.Namespace, object.GetName()}
		held := r.server.objects[at]
		switch {
		case held == nil:
			return r.store(at, object)
		case !picks || try+1 == tries:
			return refuse(alreadyExists(r.Resource.GroupResource(), held, object.GetGenerateName() != ""))
		}
	}
}

// malformed returns why the object cannot be stored at all, or nil.
func (r *Request) malformed() *apierrors.StatusError {
	object := r.Object
	switch {
	case !strings.Contains(cmp.Or(r.http.Header.Get("Content-Type"), "application/json"), "json"):
		return failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json")
	case object == nil:
		return apierrors.NewBadRequest("the object provided is unrecognized")
	case object.GroupVersionKind() != r.kind.kind():
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s",
			object.GetKind(), object.GetAPIVersion(), r.kind.Kind))
	case object.GetNamespace() != "" && object.GetNamespace() != r.Namespace:
		return apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	case object.GetName() == "" && object.GetGenerateName() == "":
		return apierrors.NewInvalid(r.kind.kind().GroupKind(), "", field.ErrorList{
			field.Required(field.NewPath("metadata", "name"), "name or generateName is required"),
		})
	case object.GetResourceVersion() != "":
		return failure(http.StatusInternalServerError, "", "resourceVersion should not be set on objects to be created")
	}
	return nil
}

// store puts the object in its place, unless that is a dry run.
func (r *Request) store(at key, object *unstructured.Unstructured) *http.Response {
	object.SetUID("")
	object.SetCreationTimestamp(metav1.Time{})
	object.SetDeletionTimestamp(nil)
	stored := r.server.stamp(object)
	if !r.dryRun(r.http.URL.Query()["dryRun"]) {
		r.server.put(at, stored, r.record.Sent)
	} else {
		stored.SetResourceVersion("")
	}
	return answerJSON(http.StatusCreated, r.shown(stored))
}

// dryRun reports whether nothing is to be stored.
func (r *Request) dryRun(values []string) bool { return slices.Contains(values, metav1.DryRunAll) }

// stamp gives the object what a server gives, where it has it not.
func (s *Server) stamp(object *unstructured.Unstructured) *unstructured.Unstructured {
	s.serial++
	if object.GetUID() == "" {
		object.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.serial)))
	}
	if created := object.GetCreationTimestamp(); created.IsZero() {
		object.SetCreationTimestamp(metav1.NewTime(s.now().UTC().Truncate(time.Second)))
	}
	object.SetResourceVersion(fmt.Sprint(s.serial))
	return object
}

// put writes the object and the history, with what a client sent to have it
// stored.
func (s *Server) put(at key, object, sent *unstructured.Unstructured) {
	held := s.objects[at]
	s.objects[at] = object
	s.changes = append(s.changes, Change{
		Time: time.Now(), Stored: held == nil || held.GetUID() != object.GetUID(), Object: object, at: at, sent: sent,
	})
}

func (s *Server) drop(at key) {
	s.changes = append(s.changes, Change{Time: time.Now(), Deleted: true, Object: s.objects[at], at: at})
	delete(s.objects, at)
}

// pick returns the next generated name.
func (s *Server) pick(generateName string) string {
	s.picked++
	return names.Candidate(generateName, "oncetest", s.picked, names.SuffixLength)
}

// alreadyExists is a conflict in kube-apiserver's words, which tells also of
// names that were not generated that none could be generated.
func alreadyExists(of schema.GroupResource, held *unstructured.Unstructured, generated bool) *apierrors.StatusError {
	err := apierrors.NewAlreadyExists(of, held.GetName())
	if generated {
		err = apierrors.NewGenerateNameConflict(of, held.GetName(), 1)
	}
	if held.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// remove deletes the object; one with finalizers is told to go.
func (r *Request) remove() *http.Response {
	held := r.server.objects[r.key()]
	var options metav1.DeleteOptions
	_ = json.Unmarshal(r.body, &options) // without a body there are none
	switch p := options.Preconditions; {
	case held == nil:
		return refuse(apierrors.NewNotFound(r.Resource.GroupResource(), r.Name))
	case p != nil && p.UID != nil && *p.UID != held.GetUID():
		kind := schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind} // as kube-apiserver calls it here
		return refuse(apierrors.NewConflict(kind, r.Name, fmt.Errorf("the UID in the precondition (%s) does not match "+
			"the UID in record (%s). The object might have been deleted and then recreated", *p.UID, held.GetUID())))
	}
	if !r.dryRun(append(options.DryRun, r.http.URL.Query()["dryRun"]...)) {
		if len(held.GetFinalizers()) > 0 {
			going := held.DeepCopy()
			now := metav1.NewTime(r.server.now())
			going.SetDeletionTimestamp(&now)
			going.SetDeletionGracePeriodSeconds(new(int64))
			r.server.put(r.key(), r.server.stamp(going), nil)
			return answerJSON(http.StatusOK, r.shown(going))
		}
		r.server.drop(r.key())
	}
	return answerJSON(http.StatusOK, metav1.Status{
		TypeMeta: statusKind, Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
			Group: r.Resource.Group, Kind: r.Resource.Resource, Name: r.Name, UID: held.GetUID(),
		},
	})
}

// read answers a get or a list from the objects given.
func (r *Request) read(objects map[key]*unstructured.Unstructured) *http.Response {
	if r.Verb == "get" {
		if held := objects[r.key()]; held != nil {
			return answerJSON(http.StatusOK, r.shown(held))
		}
		return refuse(apierrors.NewNotFound(r.Resource.GroupResource(), r.Name))
	}
	wanted, err := r.selection()
	if err != nil {
		return refuse(apierrors.NewBadRequest(err.Error()))
	}
	items := []any{}
	for _, at := range slices.SortedFunc(maps.Keys(objects), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		if at.resource == r.Resource && (r.Namespace == "" || at.namespace == r.Namespace) && wanted(objects[at]) {
			items = append(items, r.listed(objects[at]))
		}
	}
	kind, version := r.kind.Kind+"List", r.kind.groupVersion().String()
	if r.metadataOnly() {
		kind, version = "PartialObjectMetadataList", metav1.SchemeGroupVersion.String()
	}
	return answerJSON(http.StatusOK, map[string]any{
		"kind": kind, "apiVersion": version, "items": items,
		"metadata": map[string]any{"resourceVersion": fmt.Sprint(r.server.serial)},
	})
}

// selection returns which objects a list asks for.
func (r *Request) selection() (func(*unstructured.Unstructured) bool, error) {
	query := r.http.URL.Query()
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	byField, fieldErr := fields.ParseSelector(query.Get("fieldSelector"))
	if err = errors.Join(err, fieldErr); err != nil {
		return nil, err
	}
	for _, requirement := range byField.Requirements() {
		if requirement.Field != "metadata.name" && requirement.Field != "metadata.namespace" {
			return nil, fmt.Errorf("field label not supported: %s", requirement.Field)
		}
	}
	return func(object *unstructured.Unstructured) bool {
		return byLabel.Matches(labels.Set(object.GetLabels())) && byField.Matches(fields.Set{
			"metadata.name": object.GetName(), "metadata.namespace": object.GetNamespace(),
		})
	}, nil
}

// metadataOnly reports whether the client asks for metadata alone.
func (r *Request) metadataOnly() bool {
	return strings.Contains(r.http.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// shown returns what the client gets of the object.
func (r *Request) shown(object *unstructured.Unstructured) map[string]any {
	if !r.metadataOnly() {
		return object.Object
	}
	return map[string]any{
		"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(),
		"metadata": object.Object["metadata"],
	}
}

// listed returns what a list has of the object: those of kube-apiserver's own
// types do not say it again.
func (r *Request) listed(object *unstructured.Unstructured) map[string]any {
	shown := r.shown(object)
	if !r.metadataOnly() && slices.Contains(builtin, r.kind) {
		shown = maps.Clone(shown)
		delete(shown, "kind")
		delete(shown, "apiVersion")
	}
	return shown
}
