package exactlyonce

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// What becomes of an object under its id, from one reconcile to the next. What
// of it is Kubernetes' is tested on a real server in test/e2e.

var owner = &metav1.ObjectMeta{UID: "6f2c9a3e-0001"}

// only returns the one object of the server.
func only(t *testing.T, server *oncetest.Server) *unstructured.Unstructured {
	t.Helper()
	objects := server.Objects()
	if len(objects) != 1 {
		t.Fatalf("%d objects", len(objects))
	}
	return objects[0]
}

// An object of an owner or of a key is created once, with one POST, and found
// by every later process, with one GET more.
func TestOneNameOfAnID(t *testing.T) {
	for name, id := range map[string]func(purpose string) ID{
		"owner": func(purpose string) ID { return For(owner, purpose) },
		"key":   func(purpose string) ID { return FromKey("order-17/" + purpose) },
	} {
		server := oncetest.NewServer()
		first, err := creatorFor(t, server.Config()).Create(t.Context(), configMap("a"), id("worker-3"))
		if err != nil || first.Outcome != Created || len(first.Name) != len("p-")+10 {
			t.Fatalf("%s: %+v, %v", name, first, err)
		}
		again := creatorFor(t, server.Config())
		second, err := again.Create(t.Context(), configMap("a"), id("worker-3"))
		if err != nil || second.Outcome != Found || second.Name != first.Name || second.Object.GetUID() != first.Object.GetUID() {
			t.Errorf("%s: %+v, %v", name, second, err)
		}
		if other, err := again.Create(t.Context(), configMap("a"), id("worker-4")); err != nil || other.Outcome != Created {
			t.Errorf("%s: %+v, %v", name, other, err)
		}
		verbs := ""
		for _, r := range server.Requests() {
			verbs += r.Verb + " "
		}
		if verbs != "create create get create " {
			t.Errorf("%s: %s", name, verbs)
		}
	}
}

// There is never a next name: whoever holds the one there is, and whatever
// WithAttempts says, a second object does not come. This is the history that
// forbids it: the name is taken, a next one would be created, the first is
// freed, and the object is asked for again.
func TestNoNextName(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config(), WithAttempts(9), WithSuffixLength(5))
	first, err := c.Create(t.Context(), configMap("a"), For(owner, "x"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := only(t, server)
	server.Remove(theirs)
	theirs.SetUID("theirs")
	theirs.SetAnnotations(map[string]string{Annotation: "v1-of-somebody-else"})
	server.Put(theirs)
	taken, err := c.Create(t.Context(), configMap("a"), For(owner, "x"))
	if !errors.Is(err, ErrTaken) || !apierrors.IsAlreadyExists(err) || taken.Object.GetUID() != "theirs" || taken.Name != first.Name {
		t.Errorf("%+v, %v", taken, err)
	}
	server.Remove(theirs)
	freed, err := c.Create(t.Context(), configMap("a"), For(owner, "x"))
	if err != nil || freed.Outcome != Created || freed.Name != first.Name {
		t.Errorf("%+v, %v", freed, err)
	}
	only(t, server)
	creationOf := func(o metav1.Object) string { return o.GetAnnotations()[Annotation] }
	for _, violation := range server.Check(creationOf, nil) {
		t.Error(violation)
	}
}

// An object that is being deleted is told as such, also where its content is
// another or it is somebody else's: when it is gone, the ID is free.
func TestTerminating(t *testing.T) {
	for name, test := range map[string]struct {
		data   string
		change func(*unstructured.Unstructured)
		want   error
	}{
		"found":         {"a", func(*unstructured.Unstructured) {}, nil},
		"other content": {"b", func(*unstructured.Unstructured) {}, ErrMismatch},
		"somebody else's": {"a", func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{Annotation: "v1-of-somebody-else"})
		}, ErrTaken},
	} {
		server := oncetest.NewServer()
		c := creatorFor(t, server.Config())
		if r, err := c.Create(t.Context(), configMap("a"), For(owner, "x")); err != nil || r.Terminating() {
			t.Fatalf("%+v, %v", r, err)
		}
		going := only(t, server)
		now := metav1.Now()
		going.SetDeletionTimestamp(&now)
		going.SetFinalizers([]string{"example.com/x"})
		test.change(going)
		server.Put(going)
		r, err := c.Create(t.Context(), configMap(test.data), For(owner, "x"))
		if !errors.Is(err, test.want) || !r.Terminating() || r.Object.GetUID() != going.GetUID() {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		server.Remove(going)
		if r, err := c.Create(t.Context(), configMap(test.data), For(owner, "x")); err != nil || r.Outcome != Created || r.Terminating() {
			t.Errorf("%s, gone: %+v, %v", name, r, err)
		}
	}
}

// An object that has lost its annotation may be ours: that is unknown however
// old it is and however often it is asked for, it is never made twice, and the
// error says what settles it.
func TestStrippedAnnotation(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	id := For(owner, "x")
	first, err := c.Create(t.Context(), configMap("a"), id)
	if err != nil {
		t.Fatal(err)
	}
	bare := only(t, server)
	bare.SetAnnotations(nil)
	bare.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-24 * time.Hour)))
	server.Put(bare)
	for range 3 {
		r, err := c.Create(t.Context(), configMap("a"), id)
		if !errors.Is(err, ErrUnknown) || r.Object.GetUID() != first.Object.GetUID() {
			t.Errorf("%+v, %v", r, err)
		}
		for _, says := range []string{first.Name, Annotation + ": " + id.String(), "or delete it"} {
			if !strings.Contains(fmt.Sprint(err), says) {
				t.Errorf("%v does not say %q", err, says)
			}
		}
	}
	bare = only(t, server)
	bare.SetAnnotations(map[string]string{Annotation: id.String()}) // as the error says
	server.Put(bare)
	r, err := c.Create(t.Context(), configMap("b"), id)
	if err != nil || r.Outcome != Found || len(r.Stripped) != 1 || r.Stripped[0] != ContentAnnotation {
		t.Errorf("without the digest, nothing can be compared: %+v, %v", r, err)
	}
}

// A webhook that takes every annotation away: what a POST returns is created,
// with what was lost, and the next call does not know it again.
func TestAnnotationsThatDoNotCome(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("create", "*", stripAnnotations)
	c := creatorFor(t, server.Config())
	if r, err := c.Create(t.Context(), configMap("a"), For(owner, "x")); err != nil || len(r.Stripped) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.Create(t.Context(), configMap("a"), For(owner, "x")); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	only(t, server)
}

// What was created with other content is told with the object, which stays as
// it is. So is one whose spec was changed since, and that is no error.
func TestOtherContent(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	first, err := c.Create(t.Context(), configMap("a"), For(owner, "x"))
	if err != nil || first.SpecChanged() {
		t.Fatalf("%+v, %v", first, err)
	}
	r, err := c.Create(t.Context(), configMap("b"), For(owner, "x"))
	if !errors.Is(err, ErrMismatch) || r.Outcome != "" || r.Object.GetResourceVersion() != first.Object.GetResourceVersion() {
		t.Errorf("%+v, %v", r, err)
	}
	changed := only(t, server)
	changed.SetGeneration(2)
	if err := unstructured.SetNestedField(changed.Object, "c", "data", "key"); err != nil {
		t.Fatal(err)
	}
	server.Put(changed)
	if r, err := c.Create(t.Context(), configMap("a"), For(owner, "x")); err != nil || r.Outcome != Found || !r.SpecChanged() {
		t.Errorf("%+v, %v", r, err)
	}
}

// A cluster's object has the same content whatever WithNamespace says, and
// whether or not it says one itself, which no server keeps.
func TestContentOfTheCluster(t *testing.T) {
	server := oncetest.NewServer()
	for i, namespace := range []string{"", "a", "b"} {
		object := &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{GenerateName: "p-", Namespace: []string{"", "", "c"}[i]},
		}
		r, err := creatorFor(t, server.Config()).Create(t.Context(), object, For(owner, "x"), WithNamespace(namespace))
		if want := []Outcome{Created, Found, Found}[i]; err != nil || r.Outcome != want {
			t.Errorf("in %q: %+v, %v", namespace, r, err)
		}
	}
}

// An owner that is made anew is another one, and has objects of its own; those
// of the old one are not its.
func TestAnotherOwner(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	names := map[string]bool{}
	for _, uid := range []types.UID{"old", "new"} {
		r, err := c.Create(t.Context(), configMap("a"), For(&metav1.ObjectMeta{Name: "demo", UID: uid}, "x"))
		if err != nil || r.Outcome != Created {
			t.Errorf("%+v, %v", r, err)
		}
		names[r.Name] = true
	}
	if len(names) != 2 {
		t.Errorf("%v", names)
	}
}

// An object with a name of its own has that one, and is found by its id. One that
// is there without an id is somebody else's, as with kubectl: what is made once
// more is nothing.
func TestNameOfItsOwn(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	named := configMap("a")
	named.Name = "mine"
	for _, want := range []Outcome{Created, Found} {
		if r, err := c.Create(t.Context(), named, For(owner, "x")); err != nil || r.Outcome != want || r.Name != "mine" {
			t.Errorf("%+v, %v, want %s", r, err, want)
		}
	}
	older := only(t, server)
	older.SetAnnotations(nil)
	server.Put(older)
	if r, err := c.Create(t.Context(), named, For(owner, "x")); !errors.Is(err, ErrTaken) || r.Object.GetName() != "mine" {
		t.Errorf("%+v, %v", r, err)
	}
	older.SetAnnotations(map[string]string{Annotation: For(owner, "x").String()})
	server.Put(older)
	if r, err := c.Create(t.Context(), named, For(owner, "x")); err != nil || r.Outcome != Found {
		t.Errorf("%+v, %v", r, err)
	}
	only(t, server)
}

// What cannot be settled says what the caller can do.
func TestUnknownSaysWhatToDo(t *testing.T) {
	lost := oncetest.AfterStore(oncetest.GatewayTimeout)
	for name, test := range map[string]struct {
		id   ID
		post oncetest.Fault
		get  oncetest.Fault
		says string
	}{
		"lost for good": {For(owner, "x"), lost, text(http.StatusServiceUnavailable), `; Create with the same ID again finds "p-`},
		"no right":      {For(owner, "x"), lost, oncetest.Forbidden, "needs get on configmaps"},
		"untracked":     {Untracked(), lost, nil, "; look whether it is there before you create it again"},
		"of one call":   {NewID(), lost, text(http.StatusServiceUnavailable), ` is there before you create it again`},
		"of a list":     {Derived("v1-x", ""), lost, text(http.StatusServiceUnavailable), ` is there before you create it again`},
	} {
		server := oncetest.NewServer()
		server.Next("create", "*", test.post)
		server.Next("get", "*", test.get)
		_, err := creatorFor(t, server.Config(), WithRetryTimeout(0)).Create(t.Context(), configMap("a"), test.id)
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
