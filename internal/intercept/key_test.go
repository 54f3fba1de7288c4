package intercept

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// With a key, the body gets the annotations and labels that the create command adds. The server adds the template's
// labels only to a Job without labels. So such a Job also gets its template's labels.
func TestInsertWithAKey(t *testing.T) {
	of := func(labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{GenerateName: "a-", Labels: labels, Annotations: map[string]string{"b": "c"}}
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"x": "y", "z": ""}}}
	own := map[string]string{"own": "label", exactlyonce.RunLabel: "copied"}
	id := exactlyonce.Derive(exactlyonce.Derivation{Creation: "ID", Digest: "D", Run: "R"})
	for _, object := range []runtime.Object{
		&batchv1.Job{ObjectMeta: of(nil), Spec: batchv1.JobSpec{Template: template}},
		&batchv1.Job{ObjectMeta: of(own), Spec: batchv1.JobSpec{Template: template}},
		&batchv1.Job{ObjectMeta: of(nil)},
		&corev1.ReplicationController{ObjectMeta: of(nil), Spec: corev1.ReplicationControllerSpec{Template: &template}},
		&corev1.PodTemplate{ObjectMeta: of(nil), Template: template},
		&corev1.ConfigMap{ObjectMeta: of(own), Data: map[string]string{"a": "b"}},
	} {
		kind := kindOf(t, object)
		object.GetObjectKind().SetGroupVersionKind(kind)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		want := &unstructured.Unstructured{Object: content}
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		id.Stamp(want)
		for contentType, sent := range map[string][]byte{"application/json": data, protobufType: encodeProtobuf(t, object)} {
			read, _ := bodyOf(headerOf(contentType), sent)
			got := decodedMetadata(t, contentType, read.insert("N", id, kind.GroupKind()))
			if diff := cmp.Diff(want.GetLabels(), got.GetLabels()); diff != "" {
				t.Errorf("%s in %s: labels\n%s", kind, contentType, diff)
			}
			if diff := cmp.Diff(want.GetAnnotations(), got.GetAnnotations()); diff != "" {
				t.Errorf("%s in %s: annotations\n%s", kind, contentType, diff)
			}
		}
	}
}

func kindOf(t *testing.T, object runtime.Object) schema.GroupVersionKind {
	t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	return kinds[0]
}

func decodedMetadata(t *testing.T, contentType string, data []byte) metav1.Object {
	t.Helper()
	if contentType != protobufType {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &object.Object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	object, _, err := protobufs.Decode(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(metav1.Object)
}

// run starts another run of the program with the key: a new proxy to the same server.
func (f *fixture) run(secrets ...derive.Secret) *fixture {
	f.t.Helper()
	again := &fixture{}
	again.start(f.t, f.Server, func(c *Config) {
		c.RetryTimeout = f.config.RetryTimeout
		c.Contents = again.contents(secrets...)
	})
	return again
}

// contents returns the contents for a new run with the key.
func (f *fixture) contents(secrets ...derive.Secret) *keyed.Contents {
	f.t.Helper()
	const key = idempotency.Key("k")
	client, err := metadata.NewForConfig(f.Config())
	if err != nil {
		f.t.Fatal(err)
	}
	return keyed.NewContents(keyed.New(key, secrets, func(
		ctx context.Context, r schema.GroupVersionResource, namespace string,
	) ([]idempotency.Existing, error) {
		defer f.listed.Store(true)
		return key.Find(ctx, client, r, namespace, f.config.RetryTimeout)
	}))
}

func (f *fixture) names() (names []string) {
	for _, o := range f.Objects() {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	return names
}

func of(data string) string { return strings.Replace(generated, `"k":"v"`, data, 1) }

// A second run gets the objects of the first run, even in another order. Objects with equal contents stay separate.
func TestSecondRun(t *testing.T) {
	f := newFixture(t)
	contents := []string{of(`"k":"1"`), of(`"k":"2"`), of(`"k":"1"`)}
	var first, second []string
	run := f.run()
	for _, content := range contents {
		first = append(first, run.post(content).object.GetName())
	}
	run = f.run()
	for _, i := range []int{1, 2, 0} {
		g := run.post(contents[i])
		second = append(second, g.object.GetName())
		if data, _, _ := unstructured.NestedString(g.object.Object, "data", "k"); g.status != 201 || !strings.Contains(contents[i], `"`+data+`"`) {
			t.Errorf("%d, %v, want 201 with the content %s", g.status, g.object, contents[i])
		}
	}
	slices.Sort(first)
	slices.Sort(second)
	if len(slices.Compact(first)) != 3 || !slices.Equal(first, second) || !slices.Equal(first, f.names()) {
		t.Errorf("the runs got %q and %q, and %q exist", first, second, f.names())
	}
	if g := run.post(of(`"k":"3"`)); g.status != 201 || len(f.names()) != 4 {
		t.Errorf("new content after all others: %d, and %d objects", g.status, len(f.names()))
	}
}

// A second run doesn't get an object that is being deleted. A later run creates the object again.
func TestSecondRunDuringADeletion(t *testing.T) {
	f := newFixture(t)
	f.run().post(generated)
	object, now := f.Objects()[0], metav1.Now()
	object.SetDeletionTimestamp(&now)
	f.Put(object)
	second := f.run()
	g := second.post(generated)
	message, _, _ := unstructured.NestedString(g.object.Object, "message")
	if g.status != 409 || g.reason() != "AlreadyExists" || !strings.Contains(message, object.GetName()+`" is being deleted. `) {
		t.Errorf("%d %s %q, want 409 with the reason", g.status, g.reason(), message)
	}
	f.Remove(object)
	if g := second.post(generated); g.status != 201 || g.object.GetDeletionTimestamp() != nil || len(f.Objects()) != 1 {
		t.Errorf("later: %d, %v, and %d objects, want a new one", g.status, g.object, len(f.Objects()))
	}
}

// A webhook has changed an object of a key. A second run creates a second object only if the webhook changed the name.
func TestSecondRunAfterAWebhook(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*unstructured.Unstructured)
		status, objects int
	}{
		"removes labels":      {func(o *unstructured.Unstructured) { o.SetLabels(nil) }, 201, 1},
		"removes annotations": {func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }, 504, 1},
		"renames":             {rename, 201, 2},
	} {
		f := newFixture(t)
		f.Next("create", "configmaps", oncetest.Mutate(c.change, nil))
		f.run().post(generated)
		if g := f.run().post(generated); g.status != c.status || len(f.names()) != c.objects {
			t.Errorf("%s: %d and %q, want %d and %d objects", name, g.status, f.names(), c.status, c.objects)
		}
	}
}

// If the program gives up before it gets the object of an earlier run, the proxy doesn't report this object as created.
// The report would tell the user how to delete the object.
func TestGivingUpOnAnEarlierObject(t *testing.T) {
	f := newFixture(t)
	f.run().post(generated)
	second := f.run()
	second.abandon((*oncetest.Request).Send)
	if unfetched := second.unfetched(); len(unfetched) > 0 || len(f.Objects()) != 1 {
		t.Errorf("unfetched %+v, and %d objects, want none, and 1", unfetched, len(f.Objects()))
	}
}

// New content gets a 422 while the key has an object that no later run of wrap or create has requested again. kubectl
// prints only the causes (test/sessions/wrap.txt).
func TestUnasked(t *testing.T) {
	for name, before := range map[string]func(*fixture){
		"of another content": func(f *fixture) { f.run().post(of(`"date":"1"`)) },
		"of create": func(f *fixture) {
			id := keyed.New("k", nil, nil).ID(derive.Object{Kind: "ConfigMap", Namespace: "ns", GenerateName: "a-"}, keyed.Content{})
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			object.SetGenerateName("a-")
			object.SetNamespace("ns")
			object.SetName(id.Name("a-", 0))
			id.Stamp(object)
			f.Put(object)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before(f)
			run := f.run()
			g := run.post(of(`"date":"2"`))
			message, _, _ := unstructured.NestedString(g.object.Object, "message")
			causes, _, _ := unstructured.NestedSlice(g.object.Object, "details", "causes")
			if g.status != 422 || g.reason() != "Invalid" || len(f.names()) != 1 || len(causes) != 4 ||
				!strings.Contains(message, f.names()[0]) || !strings.Contains(message, "a date or a random value, or if it checks") {
				t.Errorf("%d %s %q, %v, and %q exist", g.status, g.reason(), message, causes, f.names())
			}
			if before, _, _ := strings.Cut(message, "a date"); !strings.Contains(before, "input of the key changed since the first run") {
				t.Errorf("%q, want the likely cause before the others", message)
			}
			if g := run.post(strings.Replace(generated, "a-", "other-", 1)); g.status != 201 {
				t.Errorf("another generateName: %d", g.status)
			}
		})
	}
}

// One thread sends content that the first run did not create. Then another thread sends the content of the first run.
func TestNewContentWaits(t *testing.T) {
	f := newFixture(t)
	f.run().post(of(`"k":"2"`))
	run := f.run()
	status := make(chan int)
	go func() { status <- run.post(of(`"k":"1"`)).status }()
	run.until(func() bool { return run.listed.Load() }) // so the create waits, or is about to
	if again := run.post(of(`"k":"2"`)).status; again != 201 {
		t.Errorf("again: %d", again)
	}
	if waited := <-status; waited != 201 || len(f.names()) != 2 {
		t.Errorf("new: %d, and %d objects", waited, len(f.names()))
	}
}

// These requests can't have a creation ID, or the proxy can't read the objects of the key.
func TestNoClaim(t *testing.T) {
	const secrets = "/api/v1/namespaces/ns/secrets"
	password := strings.Replace(generated, "ConfigMap", "Secret", 1)
	secret, err := derive.ParseSecret(strings.Repeat("s", 32))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		path, body string
		secrets    []derive.Secret
		prepare    func(*fixture)
		status     int
	}{
		"a Secret without a secret":     {secrets, password, nil, nil, 422},
		"a Secret with a secret":        {secrets, password, []derive.Secret{secret}, nil, 201},
		"a number without a digest":     {configMaps, of(`"k":1e400`), nil, nil, 422},
		"another secret":                {configMaps, generated, nil, func(f *fixture) { f.run(secret).post(generated) }, 422},
		"no permission to list":         {configMaps, generated, nil, func(f *fixture) { f.Always("list", "configmaps", oncetest.Forbidden) }, 403},
		"a list that can't be read":     {configMaps, generated, nil, func(f *fixture) { f.Always("list", "configmaps", oncetest.DropRequest) }, 503},
		"a list that was lost at first": {configMaps, generated, nil, func(f *fixture) { f.Next("list", "configmaps", oncetest.DropResponse) }, 201},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(c *Config) {
				if test.status == 503 { // ends with its time
					c.RetryTimeout = 300 * time.Millisecond
				}
			})
			if test.prepare != nil {
				test.prepare(f)
			}
			before := len(f.names())
			run := f.run(test.secrets...)
			g := run.do(run.request(t.Context(), http.MethodPost, test.path, test.body))
			if created := len(f.names()) - before; g.status != test.status || created != map[bool]int{true: 1}[test.status == 201] {
				t.Errorf("%d, want %d, and %d objects: %v", g.status, test.status, created, g.object)
			}
			if text := fmt.Sprint(g.object); strings.Contains(text, "ssss") || bytes.Contains([]byte(text), []byte(`"k"`)) && g.status != 201 {
				t.Errorf("it tells a secret: %s", text)
			}
		})
	}
}
