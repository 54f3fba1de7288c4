package once_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// creatorFor returns a Creator with a dynamic client.
func creatorFor(server *oncetest.Server, options ...once.Option) *once.Creator {
	return once.New(dynamicFor(server.Config()), options...)
}

// dynamicFor returns the Client of a dynamic client.
func dynamicFor(config *rest.Config) once.Client {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(
		memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config)))
	return once.Dynamic(dynamic.NewForConfigOrDie(config), mapper)
}

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-", Namespace: "ns"},
		Data:       map[string]string{"value": "a"},
	}
}

var owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: "ns", UID: "6f2c9a3e"}}

func idOf(t *testing.T) once.ID {
	t.Helper()
	id, err := once.ForOwner(owner, "worker")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The first call creates the object and fills it. Later calls find it.
func TestCreatedThenFound(t *testing.T) {
	for name, object := range map[string]func() runtime.Object{
		"typed": func() runtime.Object { return configMap() },
		"unstructured": func() runtime.Object {
			content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(configMap())
			return &unstructured.Unstructured{Object: content}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := oncetest.NewServer()
			creator := creatorFor(server)
			for _, want := range []once.Outcome{once.Created, once.Found, once.Found} {
				given := object()
				result, err := creator.Create(t.Context(), given, idOf(t))
				if err != nil || result.Outcome != want || result.Differs || result.DryRun || result.Object != given {
					t.Fatalf("%+v, %v; want %s", result, err, want)
				}
				got, _ := meta.Accessor(given)
				if got.GetUID() == "" || got.GetName() != result.Name || got.GetAnnotations()[once.Annotation] == "" {
					t.Errorf("the object was not filled: %+v", got)
				}
			}
			if n := len(server.Objects()); n != 1 || verbsOf(server) != "create create get create get" {
				t.Errorf("%d objects, requests: %s", n, verbsOf(server))
			}
		})
	}
}

func keyID(t *testing.T, key string) once.ID {
	t.Helper()
	id, err := once.FromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
