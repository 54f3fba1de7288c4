package once_test

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// verbsOf returns the verbs of all requests about objects.
func verbsOf(server *oncetest.Server) string {
	var verbs []string
	for _, r := range server.Requests() {
		verbs = append(verbs, r.Verb)
	}
	return strings.Join(verbs, " ")
}

// wantError checks an error of Create, and that the object was not changed.
func wantError(t *testing.T, object *corev1.ConfigMap, result once.Result, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) || result.Outcome != "" {
		t.Errorf("%+v, %v; want %v with %q", result, err, want, text)
	}
	if !reflect.DeepEqual(object, configMap()) {
		t.Errorf("the object was changed: %+v", object)
	}
}

// If the name is taken three times, and a GET never finds its object, the outcome is unknown, because a cache may serve
// the GETs.
func TestConflictWithoutObject(t *testing.T) {
	server, object := oncetest.NewServer(), configMap()
	mustCreate(t, creatorFor(server), configMap(), idOf(t), once.Created)
	server.Always("get", "configmaps", oncetest.StaleRead(time.Hour))
	before := len(verbsOf(server))
	result, err := creatorFor(server).Create(t.Context(), object, idOf(t))
	wantError(t, object, result, err, once.ErrUnknown, "its object was not found (read 3 times)")
	if verbs := strings.TrimSpace(verbsOf(server)[before:]); verbs != "create get create get create get" {
		t.Errorf("requests: %s", verbs)
	}
}

// otherObject is the response of a proxy that mixes up responses.
func otherObject(code int) oncetest.Fault {
	return oncetest.Respond(code, "application/json", `{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": {"name": "other", "namespace": "ns", "uid": "7", "resourceVersion": "7"}}`)
}

// A 201 without a resourceVersion is a dry run.
func TestDryRun(t *testing.T) {
	server := oncetest.NewServer()
	server.Always("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		r.Object.SetResourceVersion("")
		body, err := r.Object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return oncetest.Respond(http.StatusCreated, "application/json", string(body))(r)
	})
	result, err := creatorFor(server).Create(t.Context(), configMap(), idOf(t))
	if err != nil || result.Outcome != once.Created || !result.DryRun {
		t.Errorf("%+v, %v; want a dry run", result, err)
	}
}

// ownedBy returns an owner reference to a controller, or to another owner.
func ownedBy(uid types.UID, controller bool) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: uid, Controller: &controller}}
}

// The annotation shows which create the object belongs to. The object must also have the controller that was sent.
// Without the annotation, only the controller can show that the object is ours.
func TestHolder(t *testing.T) {
	ours, others, another := ownedBy(owner.UID, true), ownedBy("another", true), once.NewID().String()
	for name, test := range map[string]struct {
		sent, held []metav1.OwnerReference
		annotation string // of the object on the server; "ours" is the one that was created
		want       error  // nil for Found
	}{
		"ours":                       {annotation: "ours"},
		"ours, adopted":              {held: others, annotation: "ours"},
		"ours, our controller":       {sent: ours, held: ours, annotation: "ours"},
		"ours, orphaned":             {sent: ours, annotation: "ours", want: once.ErrNotControlled},
		"ours, released":             {sent: ours, held: ownedBy(owner.UID, false), annotation: "ours", want: once.ErrNotControlled},
		"ours, another controller":   {sent: ours, held: others, annotation: "ours", want: once.ErrNotControlled},
		"no ID, our controller":      {sent: ours, held: ours},
		"no ID, another controller":  {sent: ours, held: others, want: once.ErrUnknown},
		"no ID, no controller":       {sent: ours, want: once.ErrUnknown},
		"no ID, controller not sent": {held: ours, want: once.ErrUnknown},
		"no ID, our owner":           {sent: ours, held: ownedBy(owner.UID, false), want: once.ErrUnknown},
		"another ID":                 {held: others, annotation: another, want: once.ErrTaken},
		"another ID, our controller": {sent: ours, held: ours, annotation: another, want: once.ErrTaken},
	} {
		t.Run(name, func(t *testing.T) {
			server := oncetest.NewServer()
			creator := creatorFor(server)
			create := func() (*corev1.ConfigMap, once.Result, error) {
				object := configMap()
				object.OwnerReferences = test.sent
				result, err := creator.Create(t.Context(), object, idOf(t))
				return object, result, err
			}
			if _, _, err := create(); err != nil {
				t.Fatal(err)
			}
			held := server.Objects()[0]
			held.SetOwnerReferences(test.held)
			switch test.annotation {
			case "ours":
			case "":
				held.SetAnnotations(nil)
			default:
				held.SetAnnotations(map[string]string{once.Annotation: test.annotation})
			}
			server.Put(held)

			object, result, err := create()
			if !errors.Is(err, test.want) || (test.want == nil) != (result.Outcome == once.Found) {
				t.Fatalf("%+v, %v; want %v", result, err, test.want)
			}
			if (object.UID == held.GetUID()) != (err == nil) || once.IsPermanent(err) != errors.Is(err, once.ErrTaken) {
				t.Errorf("%v; the object is %+v", err, object)
			}
			if got, _ := result.Object.(*corev1.ConfigMap); !errors.Is(err, once.ErrUnknown) && (got == nil || got.UID != held.GetUID()) {
				t.Errorf("the result has not the object that has the name: %+v", result)
			}
		})
	}
}

// If a POST was lost, other content under the name doesn't settle the outcome.
func TestAfterLostPost(t *testing.T) {
	server, object := oncetest.NewServer(), configMap()
	server.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		other := r.Object.DeepCopy()
		annotations := other.GetAnnotations()
		annotations[derive.DigestAnnotation] = "d1-other"
		other.SetAnnotations(annotations)
		server.Put(other)
		return oncetest.DropRequest(r)
	})
	result, err := creatorFor(server).Create(t.Context(), object, keyID(t, "order-17"))
	wantError(t, object, result, err, once.ErrUnknown, "connection reset")
	if verbsOf(server) != "create get" || once.IsPermanent(err) {
		t.Errorf("%v, requests: %s", err, verbsOf(server))
	}
}

var missingNamespace = apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns")

// After a refusal, one GET shows whether an earlier copy of the POST created the object. There is no second check. A 401
// is repeated once, because the credential may just have expired.
func TestRefusals(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "", nil)
	for name, test := range map[string]struct {
		faults []oncetest.Fault
		is     func(error) bool
		verbs  string
	}{
		"quota":      {[]oncetest.Fault{oncetest.QuotaExceeded}, apierrors.IsForbidden, "create get"},
		"webhook":    {[]oncetest.Fault{oncetest.WebhookDenied}, apierrors.IsForbidden, "create get"},
		"permission": {[]oncetest.Fault{oncetest.Forbidden}, apierrors.IsForbidden, "create get"},
		"namespace":  {[]oncetest.Fault{oncetest.Refuse(missingNamespace)}, apierrors.IsNotFound, "create get"},
		"invalid":    {[]oncetest.Fault{oncetest.Refuse(invalid)}, apierrors.IsInvalid, "create get"},
		"credential": {[]oncetest.Fault{oncetest.Unauthorized, oncetest.Unauthorized}, apierrors.IsUnauthorized, "create create get"},
	} {
		t.Run(name, func(t *testing.T) {
			server, object := oncetest.NewServer(), configMap()
			server.Next("create", "configmaps", test.faults...)
			result, err := creatorFor(server).Create(t.Context(), object, idOf(t))
			wantError(t, object, result, err, once.ErrRefused, "")
			if !test.is(err) || once.IsPermanent(err) || verbsOf(server) != test.verbs {
				t.Errorf("%v, requests: %s", err, verbsOf(server))
			}
			if _, err := creatorFor(server).Create(t.Context(), object, idOf(t)); err != nil || len(server.Objects()) != 1 {
				t.Errorf("the next call: %v, %d objects", err, len(server.Objects()))
			}
		})
	}
}

// The first copy of a POST creates the object and uses up a quota. The quota then refuses the second copy. Later calls
// would be refused, too, because a server checks the quota before the name.
func TestQuotaUsedUpByACopy(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("create", "configmaps", oncetest.AfterStore(oncetest.QuotaExceeded))
	mustCreate(t, creatorFor(server), configMap(), idOf(t), once.Found)
	server.Always("create", "configmaps", oncetest.QuotaExceeded)
	mustCreate(t, creatorFor(server), configMap(), idOf(t), once.Found)
}
