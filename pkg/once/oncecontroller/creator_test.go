package oncecontroller

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// newCluster returns what a manager is, for the server.
func newCluster(t *testing.T, server *oncetest.Server, options ...cluster.Option) cluster.Cluster {
	t.Helper()
	c, err := cluster.New(server.Config(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newCreator(t *testing.T, server *oncetest.Server) *Creator {
	t.Helper()
	creator, err := New(newCluster(t, server))
	if err != nil {
		t.Fatal(err)
	}
	return creator
}

// wrapper is a client of a user's.
type wrapper struct{ client.Client }

// circular is a client that points back to itself.
type circular struct {
	client.Client
	Self  *circular
	Other client.Client
}

func circle(c client.Client) *circular {
	of := &circular{}
	of.Self, of.Other, of.Client = of, of, c
	return of
}

// What creates nothing is refused, however it is wrapped; what is wrapped and
// creates is not.
func TestNewRefuses(t *testing.T) {
	server := oncetest.NewServer()
	live, err := client.NewWithWatch(server.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fakeClient := fake.NewClientBuilder().Build()
	for name, test := range map[string]struct {
		client client.Client
		want   error
	}{
		"real":                        {live, nil},
		"real, wrapped":               {&wrapper{interceptor.NewClient(live, interceptor.Funcs{})}, nil},
		"fake":                        {fakeClient, errFake},
		"fake, in an interceptor":     {interceptor.NewClient(fakeClient, interceptor.Funcs{}), errFake},
		"fake, that intercepts":       {fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{}).Build(), errFake},
		"fake, with a field owner":    {client.WithFieldOwner(fakeClient, "me"), errFake},
		"fake, with field validation": {client.WithFieldValidation(fakeClient, metav1.FieldValidationStrict), errFake},
		"fake, of a namespace":        {client.NewNamespacedClient(fakeClient, "default"), errFake},
		"fake, wrapped by a user":     {wrapper{fakeClient}, errFake},
		"fake, wrapped twice":         {&wrapper{&wrapper{fakeClient}}, errFake},
		"dry runs":                    {client.NewDryRunClient(live), errDryRun},
		"real, in a circle":           {circle(live), nil},
		"fake, in a circle":           {circle(fakeClient), errFake},
		"dry runs, wrapped":           {wrapper{client.NewDryRunClient(live)}, errDryRun},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, server, func(o *cluster.Options) {
				o.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return test.client, nil }
			})
			creator, err := New(c)
			if !errors.Is(err, test.want) || (creator == nil) != (err != nil) {
				t.Errorf("got %v, %v", creator, err)
			}
		})
	}
	if _, err := New(newCluster(t, server), once.WithAttempts(0)); err == nil {
		t.Error("an option that is wrong is taken")
	}
}

var owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo", Namespace: "default", UID: "6f2c9a3e"}}

func worker(data string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "worker-", Namespace: "default"},
		Data:       map[string]string{"data": data},
	}
}

// requests returns what the server was asked for, in its order.
func requests(server *oncetest.Server) (verbs []string) {
	for _, r := range server.Requests() {
		verbs = append(verbs, r.Verb)
	}
	return verbs
}

// One POST and no read where nothing goes wrong; the object becomes the
// server's, and the next reconcile is given the same one.
func TestCreate(t *testing.T) {
	server := oncetest.NewServer()
	created := worker("x")
	result, err := newCreator(t, server).Create(t.Context(), owner, "a", created)
	if err != nil || result.Outcome != once.Created {
		t.Fatalf("got %v, %v", result.Outcome, err)
	}
	if created.UID == "" || created.Data["data"] != "x" || !strings.HasPrefix(created.Name, "worker-") {
		t.Errorf("the object is %v", created)
	}
	if got := requests(server); !slices.Equal(got, []string{"create"}) {
		t.Errorf("got %q", got)
	}

	found := &unstructured.Unstructured{}
	found.SetAPIVersion("v1")
	found.SetKind("ConfigMap")
	found.SetGenerateName("worker-")
	found.SetNamespace("default")
	_ = unstructured.SetNestedField(found.Object, "x", "data", "data")
	result, err = newCreator(t, server).Create(t.Context(), owner, "a", found)
	if err != nil || result.Outcome != once.Found || found.GetUID() != created.UID {
		t.Errorf("got %v, %v: %v", result.Outcome, err, found)
	}
	if got := requests(server); !slices.Equal(got, []string{"create", "create", "get"}) {
		t.Errorf("got %q", got)
	}
}

// An error leaves the object as it is, and says whose it is.
func TestCreateFails(t *testing.T) {
	server := oncetest.NewServer()
	creator := newCreator(t, server)
	if _, err := creator.Create(t.Context(), owner, "a", worker("x")); err != nil {
		t.Fatal(err)
	}
	other, before := worker("y"), total(t, "genname_once_creates_total", "outcome", "mismatch")
	result, err := creator.Create(t.Context(), owner, "a", other)
	if !errors.Is(err, once.ErrMismatch) || other.Name != "" || other.Data["data"] != "y" || result.Object == nil {
		t.Errorf("got %v, %v: %v", result, err, other)
	}
	if want := `create ConfigMap "a" of default/demo: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %q", err)
	}
	if _, err := creator.Create(t.Context(), worker("z"), "a", other); err == nil || !strings.Contains(err.Error(), "has no UID") {
		t.Errorf("an owner without a UID is taken: %v", err)
	}
	server.Next("create", "*", oncetest.Forbidden)
	if _, err := creator.Create(t.Context(), owner, "b", other); !errors.Is(err, once.ErrRefused) || !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	if got := total(t, "genname_once_creates_total", "outcome", "mismatch") - before; got != 1 {
		t.Errorf("%v mismatches are counted", got)
	}
}

// A lost answer costs one read; it is counted by the manager's registry, and
// logged by the logger of the reconcile.
func TestLostAnswer(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	var logged []string
	ctx := log.IntoContext(t.Context(), funcr.New(
		func(_, args string) { logged = append(logged, args) }, funcr.Options{Verbosity: 1}))
	before := total(t, "genname_once_retries_total", "action", "ReadBack")
	if _, err := newCreator(t, server).Create(ctx, owner, "a", worker("x")); err != nil {
		t.Fatal(err)
	}
	if got := requests(server); !slices.Equal(got, []string{"create", "get"}) {
		t.Errorf("got %q", got)
	}
	if got := total(t, "genname_once_retries_total", "action", "ReadBack") - before; got != 1 {
		t.Errorf("%v retries are counted", got)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], `"purpose"="a"`) {
		t.Errorf("logged is %q", logged)
	}
}

// A worker is kept for 10 s when nothing answers, unless an option says otherwise.
func TestRetryTimeout(t *testing.T) {
	for want, options := range map[time.Duration][]once.Option{
		10 * time.Second: nil,
		time.Minute:      {once.WithRetryTimeout(time.Minute)},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := oncetest.NewServer()
			creator, err := New(newCluster(t, server), options...)
			if err != nil {
				t.Fatal(err)
			}
			server.Func(func(r *oncetest.Request) oncetest.Fault {
				if r.Verb == "" { // discovery
					return nil
				}
				return oncetest.GatewayTimeout
			})
			start := time.Now()
			_, err = creator.Create(t.Context(), owner, "a", worker("x"))
			took := time.Since(start)
			if !errors.Is(err, once.ErrUnknown) || took < want/2 || took > want {
				t.Errorf("after %s: %v", took, err)
			}
		})
	}
}

// Creates go over the connections of the manager's client.
func TestConnections(t *testing.T) {
	var from []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		from = append(from, r.Method+" "+r.RemoteAddr)
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{
		CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c, err := cluster.New(config, func(o *cluster.Options) {
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }
	})
	if err != nil {
		t.Fatal(err)
	}
	creator, err := New(c, once.WithRetryTimeout(0))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.GetAPIReader().Get(t.Context(), client.ObjectKeyFromObject(owner), &corev1.ConfigMap{})
	_, _ = creator.Create(t.Context(), owner, "a", worker("x")) // the server is none
	if len(from) < 2 || "POST"+strings.TrimPrefix(from[0], "GET") != from[1] {
		t.Errorf("requests are %q", from)
	}
}

// total returns the sum of a counter of the manager's registry.
func total(t *testing.T, name, label, value string) (sum float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, l := range metric.GetLabel() {
				if family.GetName() == name && l.GetName() == label && l.GetValue() == value {
					sum += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

// The options of New hold, and WithEvents takes the place of ours.
func TestOptions(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	told := 0
	creator, err := New(newCluster(t, server),
		once.WithEvents(func(once.Event) { told++ }), once.WithNamespace("elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	object := worker("x")
	object.Namespace = ""
	if _, err := creator.Create(context.Background(), owner, "a", object); err != nil || told != 1 || object.Namespace != "elsewhere" {
		t.Errorf("got %v, told %d: %v", err, told, object)
	}
}

// An object becomes what the server has, also where no more was to be read.
func TestWholeObjects(t *testing.T) {
	server := oncetest.NewServer()
	creator, err := New(newCluster(t, server), once.WithBriefObjects())
	if err != nil {
		t.Fatal(err)
	}
	object := worker("x")
	if _, err := creator.Create(t.Context(), owner, "a", object); err != nil || object.Data["data"] != "x" || object.UID == "" {
		t.Errorf("%v: %v", err, object)
	}
}
