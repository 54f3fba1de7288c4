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

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// attempts is the number of names that the server tries for a generateName. kube-apiserver does this since 1.31.
const attempts = 8

// key identifies an object.
type key struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

// served is one request that the server handles.
type served struct {
	target
	server *Server
	kind   Type
	http   *http.Request
	body   []byte
	object *unstructured.Unstructured // object of a create or update
}

func (r *served) key() key { return key{r.resource, r.namespace, r.name} }

// respond carries out the request. The server is locked.
func (r *served) respond() *http.Response {
	accept := r.http.Header.Get("Accept")
	switch {
	case r.http.URL.Path == reviewPath && r.http.Method == http.MethodPost:
		return r.review()
	case !r.known():
		return r.server.discover(r.http.URL.Path)
	case accept != "" && !strings.Contains(accept, "json") && !strings.Contains(accept, "*/*"):
		return refuse(statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
			"406: Not Acceptable\n\nAvailable representations: application/json"))
	}
	switch r.verb {
	case "create":
		return r.create()
	case "update":
		return r.update()
	case "delete":
		return r.remove()
	case "get", "list":
		return r.read()
	case "watch":
		return r.watch()
	}
	return refuse(apierrors.NewMethodNotSupported(r.resource.GroupResource(), strings.ToLower(r.http.Method)))
}

// known reports whether the server has the resource type. known decodes the object.
func (r *served) known() bool {
	for _, t := range r.server.types {
		if t.resource() == r.resource && (r.subresource == "" || r.subresource == "status" && r.verb == "update") {
			r.kind = t
			if sent := (&unstructured.Unstructured{}); sent.UnmarshalJSON(r.body) == nil {
				r.object = sent
			}
			return true
		}
	}
	return false
}

// reviewPath is the path of SelfSubjectReviews. The response has the server's time.
const reviewPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

func (r *served) review() *http.Response {
	return respondJSON(http.StatusCreated, map[string]any{
		"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
		"metadata": map[string]any{"creationTimestamp": metav1.NewTime(r.server.now().UTC())},
		"status":   map[string]any{"userInfo": map[string]any{"username": "oncetest"}},
	})
}

func (r *served) create() *http.Response {
	switch err := r.malformed(); {
	case err != nil:
		return refuse(err)
	case r.object.GetName() == "" && r.object.GetGenerateName() == "":
		return refuse(apierrors.NewInvalid(r.kind.kind().GroupKind(), "", field.ErrorList{
			field.Required(field.NewPath("metadata", "name"), "name or generateName is required"),
		}))
	case r.object.GetResourceVersion() != "":
		return refuse(statusError(http.StatusInternalServerError, "",
			"resourceVersion should not be set on objects to be created"))
	}
	object := r.object.DeepCopy()
	delete(object.Object, "status")
	object.SetNamespace(r.namespace) // removed from a cluster-scoped object, as kube-apiserver does
	picks := object.GetName() == ""
	for attempt := 1; ; attempt++ {
		if picks {
			object.SetName(r.server.pick(object.GetGenerateName()))
		}
		at := key{r.resource, r.namespace, object.GetName()}
		held := r.server.objects[at]
		switch {
		case held == nil:
			return r.store(at, object)
		case !picks || attempt == attempts:
			return refuse(alreadyExists(r.resource.GroupResource(), held, object.GetGenerateName() != ""))
		}
	}
}

// malformed returns the reason why the server can't use the object of a create or update, or nil.
func (r *served) malformed() *apierrors.StatusError {
	object := r.object
	switch {
	case r.namespace == "" && !r.kind.ClusterScoped, (r.verb == "create") != (r.name == ""):
		err := statusError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
			"the server does not allow this method on the requested resource")
		err.ErrStatus.Details = &metav1.StatusDetails{}
		return err
	case !strings.Contains(cmp.Or(r.http.Header.Get("Content-Type"), "application/json"), "json"):
		return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json")
	case object == nil:
		return apierrors.NewBadRequest("the object provided is unrecognized")
	case object.GroupVersionKind() != r.kind.kind():
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s",
			object.GetKind(), object.GetAPIVersion(), r.kind.Kind))
	case r.namespace != "" && object.GetNamespace() != "" && object.GetNamespace() != r.namespace:
		return apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// store stores the object, except in a dry run.
func (r *served) store(at key, object *unstructured.Unstructured) *http.Response {
	object.SetUID("")
	object.SetCreationTimestamp(metav1.Time{})
	object.SetDeletionTimestamp(nil)
	stored := r.server.stamp(object)
	if !r.dryRun(r.http.URL.Query()["dryRun"]) {
		sent, _ := r.http.Context().Value(sentKey{}).(*unstructured.Unstructured)
		r.server.put(at, stored, sent)
	} else {
		stored.SetResourceVersion("")
	}
	return respondJSON(http.StatusCreated, r.shown(stored))
}

func (r *served) dryRun(values []string) bool { return slices.Contains(values, metav1.DryRunAll) }

// stamp sets the fields that a server sets, if the object lacks them.
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

func (s *Server) put(at key, object, sent *unstructured.Unstructured) {
	held := s.objects[at]
	s.objects[at] = object
	stored := held == nil || held.GetUID() != object.GetUID()
	s.record(change{stored: stored, object: object, before: held, at: at, sent: sent})
}

// drop deletes the object. As on a real server, the delete has its own resourceVersion.
func (s *Server) drop(at key) {
	held := s.objects[at]
	last := s.stamp(held.DeepCopy())
	delete(s.objects, at)
	s.record(change{deleted: true, object: last, before: held, at: at})
}

func (s *Server) record(c change) {
	c.serial = s.serial
	s.changes = append(s.changes, c)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) pick(generateName string) string {
	s.picked++
	return names.Candidate(generateName, "oncetest", s.picked)
}

// alreadyExists returns a conflict with the message of kube-apiserver. If the object has a generateName, the message is
// that no name could be generated, even if the client sent the name.
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

// update replaces the object. With the subresource status, it replaces only the status. As on a real server, an update
// without a change keeps the resourceVersion.
func (r *served) update() *http.Response {
	held := r.server.objects[r.key()]
	switch err := r.malformed(); {
	case err != nil:
		return refuse(err)
	case r.object.GetName() != r.name:
		return refuse(apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the "+
			"URL (%s)", r.object.GetName(), r.name)))
	case held == nil:
		return refuse(apierrors.NewNotFound(r.resource.GroupResource(), r.name))
	case r.object.GetResourceVersion() != "" && r.object.GetResourceVersion() != held.GetResourceVersion():
		return refuse(apierrors.NewConflict(r.resource.GroupResource(), r.name, errors.New(
			"the object has been modified; please apply your changes to the latest version and try again")))
	case r.object.GetUID() != "" && r.object.GetUID() != held.GetUID():
		return refuse(apierrors.NewConflict(r.resource.GroupResource(), r.name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: /registry/%s/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
				"Precondition failed: UID in precondition: %s, UID in object meta: %s",
			r.resource.Resource, r.namespace, r.name, r.object.GetUID(), held.GetUID())))
	}
	next, status := r.object.DeepCopy(), held
	if r.subresource == "status" {
		next, status = held.DeepCopy(), r.object
	}
	if next.Object["status"] = status.Object["status"]; next.Object["status"] == nil {
		delete(next.Object, "status")
	}
	next.SetNamespace(held.GetNamespace())
	next.SetUID(held.GetUID())
	next.SetCreationTimestamp(held.GetCreationTimestamp())
	next.SetDeletionTimestamp(held.GetDeletionTimestamp())
	next.SetDeletionGracePeriodSeconds(held.GetDeletionGracePeriodSeconds())
	next.SetResourceVersion(held.GetResourceVersion())
	finalizers := field.NewPath("metadata", "finalizers")
	added := validation.ValidateNoNewFinalizers(next.GetFinalizers(), held.GetFinalizers(), finalizers)
	if next.GetDeletionTimestamp() != nil && len(added) > 0 { // kube-apiserver checks it twice
		return refuse(apierrors.NewInvalid(r.kind.kind().GroupKind(), r.name, append(added, added...)))
	}
	if r.dryRun(r.http.URL.Query()["dryRun"]) || equality.Semantic.DeepEqual(next, held) {
		return respondJSON(http.StatusOK, r.shown(next))
	}
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 {
		r.server.drop(r.key()) // without storing the update
		return respondJSON(http.StatusOK, r.shown(next))
	}
	r.server.put(r.key(), r.server.stamp(next), nil)
	return respondJSON(http.StatusOK, r.shown(next))
}

// remove deletes the object. An object with finalizers gets a deletionTimestamp.
func (r *served) remove() *http.Response {
	held := r.server.objects[r.key()]
	var options metav1.DeleteOptions
	_ = json.Unmarshal(r.body, &options) // without a body, there are no options
	switch p := options.Preconditions; {
	case held == nil:
		return refuse(apierrors.NewNotFound(r.resource.GroupResource(), r.name))
	case p != nil && p.UID != nil && *p.UID != held.GetUID():
		return r.unmet("UID", *p.UID, held.GetUID(), "deleted and then recreated")
	case p != nil && p.ResourceVersion != nil && *p.ResourceVersion != held.GetResourceVersion():
		return r.unmet("ResourceVersion", *p.ResourceVersion, held.GetResourceVersion(), "modified")
	}
	if !r.dryRun(append(options.DryRun, r.http.URL.Query()["dryRun"]...)) {
		if len(held.GetFinalizers()) > 0 {
			if held.GetDeletionTimestamp() != nil {
				return respondJSON(http.StatusOK, r.shown(held))
			}
			going := held.DeepCopy()
			now, zero := metav1.NewTime(r.server.now()), int64(0)
			going.SetDeletionTimestamp(&now)
			going.SetDeletionGracePeriodSeconds(&zero)
			r.server.put(r.key(), r.server.stamp(going), nil)
			return respondJSON(http.StatusOK, r.shown(going))
		}
		r.server.drop(r.key())
	}
	return respondJSON(http.StatusOK, metav1.Status{
		TypeMeta: statusKind, Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
			Group: r.resource.Group, Kind: r.resource.Resource, Name: r.name, UID: held.GetUID(),
		},
	})
}

// unmet refuses to delete an object that a precondition excludes. kube-apiserver names the kind in the message.
func (r *served) unmet(field string, wanted, held any, why string) *http.Response {
	kind := schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind}
	return refuse(apierrors.NewConflict(kind, r.name, fmt.Errorf("the %s in the precondition (%s) does not match "+
		"the %[1]s in record (%[3]s). The object might have been %[4]s", field, wanted, held, why)))
}

func (r *served) read() *http.Response {
	if r.verb == "get" {
		if held := r.server.objects[r.key()]; held != nil {
			return respondJSON(http.StatusOK, r.shown(held))
		}
		return refuse(apierrors.NewNotFound(r.resource.GroupResource(), r.name))
	}
	wanted, err := r.selection()
	if err != nil {
		return refuse(apierrors.NewBadRequest(err.Error()))
	}
	items := []any{}
	for _, object := range r.matching(wanted) {
		items = append(items, r.listed(object))
	}
	kind, version := r.kind.Kind+"List", r.kind.groupVersion().String()
	if r.metadataOnly() {
		kind, version = "PartialObjectMetadataList", metav1.SchemeGroupVersion.String()
	}
	return respondJSON(http.StatusOK, map[string]any{
		"kind": kind, "apiVersion": version, "items": items,
		"metadata": map[string]any{"resourceVersion": fmt.Sprint(r.server.serial)},
	})
}

// matching returns the objects of the request in order.
func (r *served) matching(wanted func(*unstructured.Unstructured) bool) (objects []*unstructured.Unstructured) {
	for _, at := range slices.SortedFunc(maps.Keys(r.server.objects), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		if object := r.server.objects[at]; r.covers(at) && wanted(object) {
			objects = append(objects, object)
		}
	}
	return objects
}

func (r *served) covers(at key) bool {
	return at.resource == r.resource && (r.namespace == "" || at.namespace == r.namespace)
}

func (r *served) selection() (func(*unstructured.Unstructured) bool, error) {
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

// metadataOnly reports whether the client requests only metadata.
func (r *served) metadataOnly() bool {
	return strings.Contains(r.http.Header.Get("Accept"), "as=PartialObjectMetadata")
}

func (r *served) shown(object *unstructured.Unstructured) map[string]any {
	if !r.metadataOnly() {
		return object.Object
	}
	return map[string]any{
		"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(),
		"metadata": object.Object["metadata"],
	}
}

// listed returns the object as an item of a list. In lists of Kubernetes' own types, items have no kind and
// apiVersion.
func (r *served) listed(object *unstructured.Unstructured) map[string]any {
	shown := r.shown(object)
	if !r.metadataOnly() && slices.Contains(builtin, r.kind) {
		shown = maps.Clone(shown)
		delete(shown, "kind")
		delete(shown, "apiVersion")
	}
	return shown
}
