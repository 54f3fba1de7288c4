package once_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

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
