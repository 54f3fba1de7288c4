package once_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

var first, second = []byte(strings.Repeat("1", 32)), []byte(strings.Repeat("2", 32))

// mustCreate creates the object, and expects the outcome.
func mustCreate(t *testing.T, creator *once.Creator, object runtime.Object, id once.ID, want once.Outcome) once.Result {
	t.Helper()
	result, err := creator.Create(t.Context(), object, id)
	if err != nil || result.Outcome != want {
		t.Fatalf("%+v, %v; want %s", result, err, want)
	}
	return result
}

// An unusable secret causes a permanent error. The error doesn't show the secret.
func TestUnusableSecrets(t *testing.T) {
	server := oncetest.NewServer()
	for name, option := range map[string]once.Option{
		"nil":               once.WithSecret(nil),
		"empty":             once.WithSecret([]byte{}),
		"short":             once.WithSecret([]byte("hunter2hunter2")),
		"only a line break": once.WithSecret([]byte("\n")),
		"two lines":         once.WithSecret(append(append(first, '\n'), second...)),
		"former":            once.WithSecret(first, second, []byte("hunter2hunter2")),
		"empty former":      once.WithSecret(first, []byte{}),
		"nil former":        once.WithSecret(first, nil),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := creatorFor(server, option).Create(t.Context(), configMap(), idOf(t))
			if !once.IsPermanent(err) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "1111") {
				t.Errorf("%v, want a permanent error", err)
			}
		})
	}
	if verbs := verbsOf(server); verbs != "" {
		t.Errorf("requests: %s", verbs)
	}
}

// canceling cancels the call when the type of the object is known.
type canceling struct {
	once.Client
	cancel context.CancelFunc
}

func (c canceling) Identify(ctx context.Context, object runtime.Object) (schema.GroupKind, bool, error) {
	defer c.cancel()
	return c.Client.Identify(ctx, object)
}

// Before a request with a name was sent, other users don't see the name in a log, because they could take it.
func TestNameBeforeTheFirstRequest(t *testing.T) {
	config := oncetest.NewServer().Config()
	ctx, cancel := context.WithCancel(t.Context())
	result, err := once.New(canceling{dynamicFor(config), cancel}, once.WithSecret(first)).Create(ctx, configMap(), idOf(t))
	name := mustCreate(t, once.New(dynamicFor(config), once.WithSecret(first)), configMap(), idOf(t), once.Created).Name
	if !errors.Is(err, once.ErrInterrupted) || result.Name != "" || strings.Contains(err.Error(), name) {
		t.Errorf("%+v, %v; want an interrupt without the name %s", result, err, name)
	}
	config.Host, config.Transport = "http://127.0.0.1:1", nil // nothing listens there
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	for _, former := range [][][]byte{nil, {second}} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		unreachable := once.Dynamic(dynamic.NewForConfigOrDie(config), mapper)
		result, err := once.New(unreachable, once.WithSecret(first, former...)).Create(ctx, configMap(), idOf(t))
		if err == nil || result.Name != "" || !strings.Contains(err.Error(), "ns/demo-: ") {
			t.Errorf("%+v, %v; want no name", result, err)
		}
	}
}

// Create finds an object of a former secret, or of the time without a secret. Without that former secret, it creates
// the object again.
func TestFormerSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		before, now []once.Option
		want        once.Outcome
		requests    string
	}{
		"the same":      {[]once.Option{once.WithSecret(first)}, []once.Option{once.WithSecret(first)}, once.Found, "create get"},
		"changed":       {[]once.Option{once.WithSecret(first)}, []once.Option{once.WithSecret(second, first)}, once.Found, "get"},
		"first of two":  {nil, []once.Option{once.WithSecret(second, once.NoSecret, first)}, once.Found, "get"},
		"second of two": {[]once.Option{once.WithSecret(first)}, []once.Option{once.WithSecret(second, once.NoSecret, first)}, once.Found, "get get"},
		"none so far":   {nil, []once.Option{once.WithSecret(first, once.NoSecret)}, once.Found, "get"},
		"forgotten":     {[]once.Option{once.WithSecret(first)}, []once.Option{once.WithSecret(second)}, once.Created, "create"},
		"nil forgotten": {nil, []once.Option{once.WithSecret(first)}, once.Created, "create"},
		"already rotated": {
			[]once.Option{once.WithSecret(second, first)}, []once.Option{once.WithSecret(second, first)}, once.Found, "get create get",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := oncetest.NewServer()
			mustCreate(t, creatorFor(server, test.before...), configMap(), idOf(t), once.Created)
			before := len(verbsOf(server))
			mustCreate(t, creatorFor(server, test.now...), configMap(), idOf(t), test.want)
			if requests := strings.TrimSpace(verbsOf(server)[before:]); requests != test.requests {
				t.Errorf("requests: %s, want %s", requests, test.requests)
			}
		})
	}
}

// While the object of a former secret can't be read, nothing is created.
func TestFormerSecretCannotBeRead(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("get", "*", oncetest.Forbidden, oncetest.Unauthorized)
	creator := creatorFor(server, once.WithSecret(second, first))
	for range 2 {
		object := configMap()
		result, err := creator.Create(t.Context(), object, idOf(t))
		wantError(t, object, result, err, once.ErrUnknown, "former secret")
	}
	if n := len(server.Objects()); n != 0 {
		t.Errorf("%d objects", n)
	}
	mustCreate(t, creator, configMap(), idOf(t), once.Created)
}

// If a policy removes the digest, or the digest has another version, the object doesn't differ. So a controller that
// replaces objects that differ doesn't replace this object again and again.
func TestDigestCannotBeCompared(t *testing.T) {
	byKey := keyID(t, "order-17")
	for name, digest := range map[string]string{"removed": "", "another version": "d2-0", "with a secret": "d1s-0"} {
		for _, id := range []once.ID{idOf(t), byKey} {
			t.Run(name, func(t *testing.T) {
				server := oncetest.NewServer()
				creator := creatorFor(server)
				if result := mustCreate(t, creator, configMap(), id, once.Created); result.Compared || result.Differs {
					t.Errorf("compared %t, differs %t, want neither", result.Compared, result.Differs)
				}
				if result := mustCreate(t, creator, configMap(), id, once.Found); !result.Compared || result.Differs {
					t.Errorf("compared %t, differs %t, want true and false", result.Compared, result.Differs)
				}
				held := server.Objects()[0]
				annotations := maps.Clone(held.GetAnnotations())
				if annotations["genname.dev/creation-digest"] = digest; digest == "" {
					delete(annotations, "genname.dev/creation-digest")
				}
				held.SetAnnotations(annotations)
				server.Put(held)
				changed := configMap()
				changed.Data["value"] = "b"
				if result := mustCreate(t, creator, changed, id, once.Found); result.Compared || result.Differs {
					t.Errorf("compared %t, differs %t, want neither", result.Compared, result.Differs)
				}
			})
		}
	}
}

// The data of a Secret is in no annotation without a secret. It is compared with that of the
// server. Keys that a controller added don't count.
func TestDataOfSecret(t *testing.T) {
	secretOf := func(pin string) *corev1.Secret {
		return &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{GenerateName: "pin-", Namespace: "ns"},
			StringData: map[string]string{"pin": pin},
		}
	}
	server := oncetest.NewServer(oncetest.Type{Version: "v1", Kind: "Secret", Resource: "secrets"})
	creator := creatorFor(server)
	byKey := keyID(t, "pin-of-alice")
	ids := []once.ID{idOf(t), byKey}
	for _, id := range ids {
		created := secretOf("1234")
		mustCreate(t, creator, created, id, once.Created)
		held := server.Objects()[len(server.Objects())-1]
		delete(held.Object, "stringData") // as a real server does
		held.Object["data"] = map[string]any{"pin": "MTIzNA==", "token": "eA=="}
		server.Put(held)
	}
	for _, id := range ids {
		if result := mustCreate(t, creator, secretOf("1234"), id, once.Found); result.Differs {
			t.Errorf("the same data differs: %+v", result)
		}
		if result := mustCreate(t, creator, secretOf("4321"), id, once.Found); !result.Differs || !result.Compared {
			t.Errorf("other data doesn't differ: %+v", result)
		}
	}
}
