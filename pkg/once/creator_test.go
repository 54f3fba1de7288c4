package once_test

import (
	"errors"
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

// Other content is an error for a key. For an owner it is part of the result,
// because each version of a controller has other content.
func TestOtherContent(t *testing.T) {
	byKey := keyID(t, "order-17")
	for name, test := range map[string]struct {
		id     once.ID
		change func(*corev1.ConfigMap)
		want   error
		same   bool
	}{
		"key":              {byKey, func(c *corev1.ConfigMap) { c.Data["value"] = "b" }, once.ErrMismatch, false},
		"key, label":       {byKey, func(c *corev1.ConfigMap) { c.Labels = map[string]string{"a": "b"} }, once.ErrMismatch, false},
		"key, same":        {byKey, func(c *corev1.ConfigMap) { c.Labels = map[string]string{} }, nil, true},
		"owner":            {idOf(t), func(c *corev1.ConfigMap) { c.Data["value"] = "b" }, nil, false},
		"owner, same":      {idOf(t), func(*corev1.ConfigMap) {}, nil, true},
		"random":           {once.NewID(), func(c *corev1.ConfigMap) { c.Data["value"] = "b" }, nil, false},
		"owner, new field": {idOf(t), func(c *corev1.ConfigMap) { c.Data["more"] = "" }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := oncetest.NewServer()
			creator := creatorFor(server)
			first := configMap()
			mustCreate(t, creator, first, test.id, once.Created)
			object := configMap()
			test.change(object)
			result, err := creator.Create(t.Context(), object, test.id)
			if !errors.Is(err, test.want) || result.Differs == test.same {
				t.Fatalf("%+v, %v; want %v", result, err, test.want)
			}
			held, _ := result.Object.(*corev1.ConfigMap)
			if held == nil || held.UID != first.UID || held.Data["value"] != "a" {
				t.Errorf("the result has not the object on the server: %+v", held)
			}
			if (test.want == nil) != (held == object) || (test.want == nil) != (result.Outcome == once.Found) {
				t.Errorf("%+v; the object is %+v", result, object)
			}
			if len(server.Objects()) != 1 {
				t.Errorf("%d objects", len(server.Objects()))
			}
		})
	}
}

// An object that is being deleted is found. When it is gone, the next call creates it again under the same name.
func TestTerminating(t *testing.T) {
	server := oncetest.NewServer()
	creator := creatorFor(server)
	object := func(value string) *corev1.ConfigMap {
		o := configMap()
		o.Data["value"], o.Finalizers = value, []string{"example.com/held"}
		return o
	}
	first, again := object("a"), object("b")
	mustCreate(t, creator, first, idOf(t), once.Created)
	stored := server.Objects()[0]
	now := metav1.Now()
	stored.SetDeletionTimestamp(&now)
	server.Put(stored)
	for value, differs := range map[string]bool{"a": false, "b": true} {
		result := mustCreate(t, creator, object(value), idOf(t), once.Found)
		if !result.Terminating || !result.Compared || result.Differs != differs || result.Name != first.Name {
			t.Errorf("%s: %+v, want one that is being deleted and differs: %t", value, result, differs)
		}
	}
	server.Remove(stored)
	if mustCreate(t, creator, again, idOf(t), once.Created); again.Name != first.Name || again.UID == first.UID {
		t.Errorf("%s with the UID %s, want %s with another one", again.Name, again.UID, first.Name)
	}
}

// The namespace in the manifest of a cluster-scoped object doesn't count as content, because no server stores it.
func TestClusterScopedContent(t *testing.T) {
	server := oncetest.NewServer()
	for i, namespace := range []string{"", "a", "b"} {
		object := &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-", Namespace: namespace},
		}
		result, err := creatorFor(server).Create(t.Context(), object, idOf(t))
		if want := []once.Outcome{once.Created, once.Found, once.Found}[i]; err != nil || result.Outcome != want || result.Differs || object.Namespace != "" {
			t.Errorf("in %q: %+v, %v; want %s", namespace, result, err, want)
		}
	}
}
