package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// webhook makes the server ask answer about each new ConfigMap of the
// namespace: mutating if mutates, else validating.
func webhook(t *testing.T, cp *controlplane.ControlPlane, namespace string, mutates bool, answer func() *admissionv1.AdmissionResponse) {
	t.Helper()
	var asked atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		response := answer()
		response.UID = review.Request.UID
		review.Response, review.Request = response, nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	client := admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca}
	none := admissionregistrationv1.SideEffectClassNone
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	here := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	name := metav1.ObjectMeta{Name: namespace}
	registration := clientset(t, cp).AdmissionregistrationV1()
	var err error
	if mutates {
		_, err = registration.MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: name,
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "test.example.com", ClientConfig: client, Rules: rules, NamespaceSelector: here, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}, metav1.CreateOptions{})
	} else {
		_, err = registration.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: name,
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "test.example.com", ClientConfig: client, Rules: rules, NamespaceSelector: here, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { // until the server has read the registration
		_, _ = clientset(t, cp).CoreV1().ConfigMaps(namespace).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !asked.Load() {
			return fmt.Errorf("the webhook is not asked")
		}
		return nil
	})
}

// patch allows the object, changed by a JSON patch.
func patch(operations string) func() *admissionv1.AdmissionResponse {
	return func() *admissionv1.AdmissionResponse {
		kind := admissionv1.PatchTypeJSONPatch
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(operations), PatchType: &kind}
	}
}

// A webhook that picks names: the object is there, under a name that was not
// sent. It is printed, and the run fails; then the name is taken.
func TestWebhookThatPicksNames(t *testing.T) {
	ns := namespace(t, retrying)
	webhook(t, retrying, ns, true, patch(`[{"op":"add","path":"/metadata/name","value":"fixed"}]`))
	u := as(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", file(t, "cm.yaml", configMap)}
	u.run(args...).expect(t, 1, `configmap/fixed created\n`,
		`error: error when creating "[^"]*": created as "fixed" \(the server answered for this name although "demo-`+suffix+`" was sent: a webhook or policy picks names\)\n`)
	u.run(args...).expect(t, 1, ``,
		`Error from server \(AlreadyExists\): [^\n]*configmaps "fixed" already exists[^\n]* \(the server answered for this name although "demo-`+suffix+`" was sent: a webhook or policy picks names\)\n`)
	u.run(append(args, "--count=3")...).expect(t, 1, ``, `Error from server \(AlreadyExists\)[^\n]*\n(Error from server \(AlreadyExists\)[^\n]*\n)*((stopped after a failure|not all were created): [^\n]*\n)?`)
	if found := configMaps(t, retrying, ns); len(found) != 1 {
		t.Errorf("%d objects are there, want 1", len(found))
	}
}

// A webhook that removes annotations: the object is there, and a warning says
// that the promise is weaker.
func TestWebhookThatStripsAnnotations(t *testing.T) {
	ns := namespace(t, retrying)
	webhook(t, retrying, ns, true, patch(`[{"op":"add","path":"/metadata/annotations","value":{}}]`))
	as(t, retrying.Admin()).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--count=3").expect(t, 0,
		`(configmap/demo-`+suffix+` created\n){3}`,
		`Warning: configmaps come back without the annotation genname.dev/creation-id: something removes it; had an answer been lost, the object could not have been recognised\n`)
}

// A webhook that says AlreadyExists of objects that are not there is believed
// three times, and not for ever.
func TestWebhookThatSaysAlreadyExists(t *testing.T) {
	ns := namespace(t, single)
	var asked atomic.Int64
	webhook(t, single, ns, false, func() *admissionv1.AdmissionResponse {
		asked.Add(1)
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Reason: metav1.StatusReasonAlreadyExists, Code: http.StatusConflict, Message: "no more of these"}}
	})
	asked.Store(0)
	as(t, single.Admin()).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap)).expect(t, 1, ``,
		`(configmap/demo-`+suffix+`: [^\n]*; sending it again in [^\n]*\n){2}`+
			`Error from server \(AlreadyExists\): error when creating "[^"]*": admission webhook "test.example.com" denied the request: no more of these; no such object is there \(read 3 times\): a webhook or policy may be answering\n`)
	if n := asked.Load(); n != 3 {
		t.Errorf("the webhook was asked %d times, want 3", n)
	}
}

// A quota that could not be charged because others were charging it (409
// Conflict): the request is repeated.
func TestQuotaConflict(t *testing.T) {
	ns := namespace(t, single)
	conflict := faultproxy.Answer(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"details":{"name":"q","kind":"resourcequotas"},"message":"Operation cannot be fulfilled on resourcequotas \"q\": the object has been modified; please apply your changes to the latest version and try again"}`)
	proxy := faultproxy.New(t, single.Admin(), first(2, conflict)())
	as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap)).expect(t, 0, `configmap/demo-`+suffix+` created\n`,
		`(configmap/demo-`+suffix+`: Operation cannot be fulfilled on resourcequotas [^\n]*; sending it again in [^\n]*\n){2}`)
}

// A quota that the first POST used up. Its answer was lost, and it lands only
// when the second is on its way: that is refused for the first's success. The
// object is there, so it is created, not failed.
func TestQuotaUsedUpByTheFirstPost(t *testing.T) {
	ns := namespace(t, single)
	limit(t, single, ns, 1)
	var mu sync.Mutex
	var held *http.Request
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Method != http.MethodPost {
			return nil
		}
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if held == nil {
					body, _ := io.ReadAll(r.Body)
					held = r.Clone(t.Context())
					held.Body = io.NopCloser(strings.NewReader(string(body)))
					panic(http.ErrAbortHandler)
				}
				next.ServeHTTP(httptest.NewRecorder(), held)
				next.ServeHTTP(w, r)
			})
		}
	})
	as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap)).expect(t, 0, `configmap/demo-`+suffix+` created\n`,
		`(configmap/demo-`+suffix+`: [^\n]*\n){2}configmap/demo-`+suffix+`: configmaps "demo-`+suffix+`" is forbidden: exceeded quota: limit,[^\n]*; reading it back in [^\n]*\n`)
	if found := configMaps(t, single, ns); len(found) != 1 {
		t.Errorf("%d objects are there, want 1", len(found))
	}
}

// limit allows n ConfigMaps. No controller counts what is there.
func limit(t *testing.T, cp *controlplane.ControlPlane, namespace string, n int64) {
	t.Helper()
	quotas := clientset(t, cp).CoreV1().ResourceQuotas(namespace)
	hard := corev1.ResourceList{"count/configmaps": *resource.NewQuantity(n, resource.DecimalSI)}
	quota, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "limit"},
		Spec:       corev1.ResourceQuotaSpec{Hard: hard},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{"count/configmaps": *resource.NewQuantity(0, resource.DecimalSI)}}
	if _, err := quotas.UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// A review is answered and never stored: there is nothing to read back.
func TestReviewsAreNamedByTheServer(t *testing.T) {
	review := "{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview, metadata: {generateName: r-}}\n"
	as(t, retrying.Admin()).run("create", "-f", file(t, "r.yaml", review+"---\n"+review), "-o", "jsonpath={.status.userInfo.username} ").expect(t, 0,
		`admin admin `,
		`Warning: selfsubjectreviews.authentication.k8s.io are answered, and not stored: the server picks their names, and a lost answer cannot be settled\n`)
}

// The server uses the generateName of an IPAddress as its name: once it is
// taken, no other is tried.
func TestIPAddressesAreNamedByTheServer(t *testing.T) {
	address := file(t, "ip.yaml", "{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {generateName: 10.9.8.7}, spec: {parentRef: {resource: services, name: x, namespace: default}}}")
	var posts atomic.Int64
	proxy := faultproxy.New(t, retrying.Admin(), countPosts(&posts, nil))
	u := as(t, proxy.Config)
	warning := `Warning: ipaddresses.networking.k8s.io take no chosen name \(the server uses generateName as it is\): the server picks their names, and a lost answer cannot be settled\n`
	u.run("create", "-f", address).expect(t, 0, `ipaddress.networking.k8s.io/10.9.8.7 created\n`, warning)
	u.run("create", "-f", address).expect(t, 1, ``, warning+
		`Error from server \(AlreadyExists\): error when creating "[^"]*": ipaddresses.networking.k8s.io "10.9.8.7" already exists[^\n]*\n`)
	if n := posts.Load(); n != 2 {
		t.Errorf("%d POSTs for two creates, want 2", n)
	}
}

func TestSuffixLength(t *testing.T) {
	ns := namespace(t, retrying)
	as(t, retrying.Admin()).run("create", "-n", ns, "-f", file(t, "cm.yaml", strings.ReplaceAll(configMap, "demo-", strings.Repeat("d", 60)+"-")), "--suffix-length=8").expect(t, 0,
		`configmap/d{55}`+strings.ReplaceAll(suffix, "{5}", "{8}")+` created\n`,
		`Warning: names will end in 8 random characters: [^\n]*\n`)
}

// With --qps the requests come at most so fast: seen at the server's side.
func TestQPS(t *testing.T) {
	ns := namespace(t, retrying)
	var mu sync.Mutex
	var times []time.Time
	proxy := faultproxy.New(t, retrying.Admin(), func(*http.Request) faultproxy.Fault {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		return nil
	})
	as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--count=6", "--concurrency=6", "--qps=5", "--burst=1").
		expect(t, 0, `(configmap/demo-`+suffix+` created\n){6}`, ``)
	mu.Lock()
	defer mu.Unlock()
	n := len(times)
	least := time.Duration(n-1) * time.Second / 5
	if took := times[n-1].Sub(times[0]); n < 6 || took < least*8/10 { // a proxy delays the first a little
		t.Errorf("%d requests in %s, want at least %s", n, took, least)
	}
}

// Neighbouring documents of one kind and namespace overlap when --concurrency
// is given, those of other kinds and places do not; without it none do.
func TestConcurrencyOfDocuments(t *testing.T) {
	ns := namespace(t, retrying)
	with := func(metadata string) string {
		return strings.ReplaceAll(configMap, "generateName: demo-", metadata) + "---"
	}
	in := func(namespace string) string { return with("generateName: demo-, namespace: " + namespace) }
	named := func(name string) string { return with("name: " + name + ", namespace: " + ns) }
	secret := strings.ReplaceAll(configMap, "ConfigMap", "Secret")
	for _, test := range []struct {
		name     string
		input    string
		args     []string
		overlaps bool
	}{
		{"neighbours", strings.Repeat(configMap+"---", 8), []string{"--concurrency=4"}, true},
		{"neighbours in kubectl's order", strings.Repeat(configMap+"---", 4), nil, false},
		{"other kinds", strings.Repeat(configMap+"---"+secret+"---", 3), []string{"--concurrency=4"}, false},
		{"other namespaces", strings.Repeat(in(ns)+in("default"), 3), []string{"--concurrency=4"}, false},
		{"names of their own", named("a") + named("b") + named("c"), []string{"--concurrency=4"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inFlight, most atomic.Int64
			proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
				if r.Method != http.MethodPost {
					return nil
				}
				return func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						n := inFlight.Add(1)
						defer inFlight.Add(-1)
						for waited := 0; test.overlaps && n == 1 && inFlight.Load() == 1 && most.Load() < 2 && waited < 1000; waited++ {
							time.Sleep(10 * time.Millisecond) // for company
						}
						if !test.overlaps {
							time.Sleep(50 * time.Millisecond)
						}
						raise(&most, inFlight.Load())
						next.ServeHTTP(w, r)
					})
				}
			})
			args := append([]string{"create", "-f", file(t, "in.yaml", test.input)}, test.args...)
			u := as(t, proxy.Config)
			if !strings.Contains(test.input, "namespace:") {
				args = append(args, "-n", ns)
			}
			r := u.run(args...)
			if r.code != 0 || r.stderr != "" {
				t.Fatalf("%+v", r)
			}
			if n := most.Load(); test.overlaps && (n < 2 || n > 4) || !test.overlaps && n != 1 {
				t.Errorf("%d POSTs were in flight at once", n)
			}
		})
	}
}

// raise makes value at least to.
func raise(value *atomic.Int64, to int64) {
	for old := value.Load(); to > old; old = value.Load() {
		if value.CompareAndSwap(old, to) {
			return
		}
	}
}
