package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// revoke takes the user's permissions away, and waits until the server knows.
func revoke(t *testing.T, cp *controlplane.ControlPlane, namespace, user string) {
	t.Helper()
	client := harness.Clientset(t, cp)
	if err := client.RbacV1().RoleBindings(namespace).Delete(t.Context(), user, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	harness.Eventually(t, func() error {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: "create", Resource: "configmaps",
			}},
		}, metav1.CreateOptions{})
		if err == nil && review.Status.Allowed {
			err = fmt.Errorf("%s still has its permissions", user)
		}
		return err
	})
}

// A permission ends between two copies of a POST that a proxy repeats. The refusal is kubectl's, and a
// warning reports that the first copy may have been carried out. It was.
func TestCreateWhilePermissionsEnd(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	harness.Grant(t, single, ns, "leaving", []string{"create", "get"}, "configmaps")
	twice := func(next http.Handler) http.Handler {
		copies := 0
		return faultproxy.RepeatSecond(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if copies++; copies == 2 {
				revoke(t, single, ns, "leaving")
			}
			next.ServeHTTP(w, r)
		}))
	}
	proxy := faultproxy.New(t, single.User("leaving"), firstPost(twice))
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)).Expect(t, 1, ``,
		`(`+noGet+`)?`+
			`Error from server \(Forbidden\): [^\n]*\n`)
	if n := len(harness.ConfigMaps(t, single, ns)); n != 1 {
		t.Errorf("%d objects are there, want 1", n)
	}
}

// A credential ends at the same point. All responses after the first copy are 401.
func TestCreateWhileTheCredentialEnds(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"second copy refused": false, "after a lost response": true} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			var ended atomic.Bool
			proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
				switch {
				case ended.Load() && strings.Contains(r.URL.Path, "/configmaps"):
					return expired
				case !harness.Creates(r) || ended.Swap(true):
					return nil
				case lost:
					return faultproxy.DropResponse
				}
				return faultproxy.RefuseSecond(401, faultproxy.Unauthorized)
			})
			args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--retry-timeout=2s"}
			if r := harness.As(t, proxy.Config).Run(args...); lost {
				r.Expect(t, 4, ``, `(configmap/demo-[^\n]*\n)+`+unknownOutcome(`configmap/demo-[^\n]*`, `[^\n]*`)+checkAlone)
			} else {
				r.Expect(t, 1, ``, sendsAgain+harness.Printed("Warning: "+"the server refused a create, and the plugin can't get %s to check the object. If a proxy repeated the request, the first copy may have created the object.", "configmaps")+
					`error: [^\n]*(Unauthorized|logged in)[^\n]*\n`)
			}
			if n := len(harness.ConfigMaps(t, single, ns)); n != 1 {
				t.Errorf("%d objects are there, want 1", n)
			}
		})
	}
}

var widgets = schema.GroupVersionResource{Group: "gone.example.com", Version: "v1", Resource: "gadgets"}

const gadgetDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.gone.example.com"},
"spec":{"group":"gone.example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// A type that was removed but is still in the discovery cache is refused at once, as by kubectl.
func createOfATypeThatIsGone(t *testing.T, cp *controlplane.ControlPlane) {
	ns := harness.Namespace(t, cp)
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := &unstructured.Unstructured{}
	if err := definition.UnmarshalJSON([]byte(gadgetDefinition)); err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.UntilServed(t, cp, widgets)
	u := harness.As(t, cp.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "gadget.yaml", "{apiVersion: gone.example.com/v1, kind: Gadget, metadata: {generateName: g-}}")}
	u.Run(args...).Expect(t, 0, `gadget.gone.example.com/g-[^\n]* created\n`, ``)
	if err := definitions.Delete(t.Context(), definition.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, func() error {
		_, err := client.Resource(widgets).Namespace(ns).List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("gadgets are still served: %w", err)
		}
		return nil
	})
	u.Run(args...).Expect(t, 1, ``, `Error from server \(NotFound\): error when creating "[^"]*": the server could not find the requested resource \(post gadgets.gone.example.com\)\n`)
}

// An object that is too large for etcd, or for kube-apiserver's client of etcd, is
// refused at once: one POST and one GET.
func TestCreateOfAnObjectTooLargeForEtcd(t *testing.T) {
	t.Parallel()
	for size, why := range map[int]string{1700: "etcdserver: request is too large", 2500: "trying to send message larger than max"} {
		ns := harness.Namespace(t, single)
		var posts atomic.Int64
		proxy := faultproxy.New(t, single.Admin(), countPosts(&posts))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		u := harness.As(t, proxy.Config)
		u.Context = ctx
		template := harness.File(t, "large.yaml", "{apiVersion: v1, kind: PodTemplate, metadata: {generateName: large-}, template: {metadata: {}, spec: {containers: [{name: a, image: a, args: ["+
			strings.Repeat("x", size<<10)+"]}]}}}")
		u.Run("create", "-n", ns, "-f", template).Expect(t, 1, ``, `Error from server[^\n]*: error when creating "[^"]*": [^\n]*`+why+`[^\n]*\n`)
		if n := posts.Load(); n != 1 {
			t.Errorf("%d POSTs of %d KiB, want 1", n, size)
		}
	}
}
