package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// populate fills a namespace with objects that an audit must distinguish.
func populate(t *testing.T, cp *controlplane.ControlPlane, namespace string) {
	t.Helper()
	maps := harness.Clientset(t, cp).CoreV1().ConfigMaps(namespace)
	create := func(meta metav1.ObjectMeta) string {
		t.Helper()
		return harness.Generated(t, func() (metav1.Object, error) {
			return maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
		})
	}
	long := strings.Repeat("x", 58)
	create(metav1.ObjectMeta{Name: "run-bbbbb"})                  // counts: it takes a name
	create(metav1.ObjectMeta{Name: "run-aaaaa"})                  // no vowels in a suffix
	create(metav1.ObjectMeta{Name: "run-bbbbbb"})                 // too long for run-
	create(metav1.ObjectMeta{Name: "none-bbbbb"})                 // no generateName has this prefix
	create(metav1.ObjectMeta{Name: "zzz", GenerateName: "late-"}) // has the prefix only in generateName
	create(metav1.ObjectMeta{Name: "late-bbbbb", GenerateName: "late-"})
	for range 15 {
		create(metav1.ObjectMeta{GenerateName: "run-"})
		create(metav1.ObjectMeta{GenerateName: "run-a-"})
		create(metav1.ObjectMeta{GenerateName: long + "-one-"})
		create(metav1.ObjectMeta{GenerateName: long + "-two-"})
	}
	held := create(metav1.ObjectMeta{GenerateName: "run-", Finalizers: []string{"e2e.test/hold"}}) // still exists after it is deleted
	if err := maps.Delete(t.Context(), held, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// counted holds the fields of a report's item that a test compares.
type counted struct {
	Resource, Namespace, Prefix string
	Names, Generated            int64
	RawPrefixes                 int
}

// audit runs the audit and reads its JSON.
func audit(t *testing.T, u harness.User, args ...string) (v1alpha1.AuditReport, []counted) {
	t.Helper()
	r := u.Run(append([]string{"audit", "-o", "json"}, args...)...)
	if r.Code != 0 {
		t.Fatalf("exit code %d, want 0: %s", r.Code, r.Stderr)
	}
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	counts := []counted{}
	for _, i := range report.Items {
		if i.Naming == v1alpha1.NamingStem {
			continue
		}
		counts = append(counts, counted{i.Resource, i.Namespace, i.Prefix, i.Names, i.Generated, i.RawPrefixes})
	}
	return report, counts
}

// count counts independently of the plugin's packages: all objects in memory, and one regular
// expression for each prefix.
func count(t *testing.T, cp *controlplane.ControlPlane, resource schema.GroupVersionResource, namespace string) []counted {
	t.Helper()
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(resource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pools := map[string]*counted{} // by effective prefix
	raw := map[string]map[string]bool{}
	for _, o := range list.Items {
		if end := numbered.FindStringSubmatch(o.GetName()); o.GetGenerateName() == "" && end != nil &&
			(strings.Trim(end[1], "0123456789") == "" || len(end[1]) >= 8 && len(end[1]) <= 10) {
			continue // it counts under its stem
		}
		prefix, generated := poolOf(o.GetName(), o.GetGenerateName())
		if prefix == "" {
			continue
		}
		if pools[prefix] == nil {
			pools[prefix], raw[prefix] = &counted{Resource: resource.Resource, Namespace: namespace, Prefix: prefix}, map[string]bool{}
		}
		pools[prefix].Names++
		if generated {
			pools[prefix].Generated++
			raw[prefix][o.GetGenerateName()] = true
		}
	}
	counts := []counted{}
	for prefix, c := range pools {
		if c.RawPrefixes = len(raw[prefix]); c.Generated > 0 {
			counts = append(counts, *c)
		}
	}
	return counts
}

// numbered is a name that ends in a number, or in eight to ten characters of the safe alphabet with a digit. No other
// stem is in the test.
var numbered = regexp.MustCompile("[-.]([0-9]+|[b-df-hj-np-tv-xz]*[2456789][b-df-hj-np-tv-xz2456789]*)$")

// generatedName is a name that ends like a generated one.
var generatedName = regexp.MustCompile("^(.{1,58})" + harness.Suffix + "$")

// poolOf returns the prefix under which an object counts, and whether its name was generated from its generateName. A
// name with ten characters belongs to its generateName, of which creating with a key keeps 53 bytes.
func poolOf(name, generateName string) (prefix string, generated bool) {
	if match := generatedName.FindStringSubmatch(name); match != nil {
		prefix = match[1]
	}
	if generateName == "" {
		return prefix, false
	}
	effective, kept := generateName[:min(58, len(generateName))], generateName[:min(53, len(generateName))]
	longer := regexp.MustCompile("^" + regexp.QuoteMeta(kept) + "[bcdfghjklmnpqrstvwxz2456789]{10}$")
	if prefix == effective || longer.MatchString(name) {
		return effective, true
	}
	return prefix, false
}

func sorted(counts []counted) []counted {
	slices.SortFunc(counts, func(a, b counted) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return counts
}

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// customResource creates the type plural.example.e2e of the kind Widget.
func customResource(t *testing.T, cp *controlplane.ControlPlane, plural string) schema.GroupVersionResource {
	t.Helper()
	crd := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.example.e2e}
spec:
  group: example.e2e
  scope: Namespaced
  names: {kind: Kind-of-%[1]s, plural: %[1]s, singular: one-of-%[1]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, plural)
	harness.As(t, cp.Admin()).Run("create", "-f", harness.File(t, "crd.yaml", crd)).Outputs(t, "customresourcedefinition.apiextensions.k8s.io/"+plural+".example.e2e created\n")
	resource := schema.GroupVersionResource{Group: "example.e2e", Version: "v1", Resource: plural}
	harness.UntilServed(t, cp, resource)
	return resource
}

// reviewsAhead makes a server respond to SelfSubjectReviews with a time that is ahead of its own.
func reviewsAhead(ahead time.Duration) func(*http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
			return nil
		}
		return faultproxy.Respond(http.StatusCreated, http.Header{"Content-Type": {"application/json"}},
			`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1",`+
				`"metadata":{"creationTimestamp":"`+time.Now().Add(ahead).UTC().Format(time.RFC3339)+`"}}`)
	}
}

// Times are those of the server. A warning reports a local clock that differs.
func TestAuditByTheTimeOfTheServer(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	now := time.Now().Add(time.Hour)
	u := harness.As(t, faultproxy.New(t, single.Admin(), reviewsAhead(time.Hour)).Config)
	result := u.Run("audit", "cm", "-n", ns, "-o", "json")
	result.Has(t, 0, "Warning: this machine's clock differs from the server's by ")
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(result.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	if at := report.Metadata.CreationTimestamp; at.Sub(now).Abs() > 20*time.Minute {
		t.Errorf("counted at %v, want %v", at, now)
	}
	for _, item := range report.Items { // by the server's time, all were created an hour ago
		if *item.Last10m > 0 {
			t.Errorf("%s has %d names of the last 10 minutes, want 0", item.Prefix, *item.Last10m)
		}
	}
}

// Kubernetes limits the names of some types not at all. A long name or generateName doesn't hide other objects.
func auditOfLongNames(t *testing.T, cp *controlplane.ControlPlane) {
	long := strings.Repeat("x", 5000)
	u := harness.As(t, cp.Admin())
	u.Run("create", "-n", "default", "-f", harness.File(t, "long.yaml",
		"apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {generateName: "+long+"}\n"+
			"spec: {signerName: example.com/a, usages: [client auth], request: "+certificateRequest+"}\n---\n"+
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: "+long+"}\n")).Has(t, 0)
	u.Run("audit", "certificatesigningrequests,roles", "-A", "--min-count=1", "--no-headers", "--fail-above-count=1000").
		Has(t, 0, " "+long[:58]+" ")
}

// An interrupt gives exit code 130. The audit prints the counts so far, and names the other types. If nothing was read,
// or in the first count of a watch, it prints no table.
func TestAuditInterrupted(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	inTheCount := func(interrupt func()) func(*http.Request) faultproxy.Fault {
		var asked atomic.Int64
		listed := make(chan struct{})
		done := sync.OnceFunc(func() { close(listed) })
		return func(r *http.Request) faultproxy.Fault {
			switch {
			case strings.HasSuffix(r.URL.Path, "/configmaps"):
				return func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						next.ServeHTTP(w, r)
						done()
					})
				}
			case !strings.HasSuffix(r.URL.Path, "/secrets"):
				return nil
			case asked.Add(1) == 1: // ConfigMaps are counted meanwhile
				<-listed
				return faultproxy.Respond(http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}, "Too many requests, please try again later.")
			}
			interrupt()
			return faultproxy.DropRequest
		}
	}
	atOnce := func(interrupt func()) func(*http.Request) faultproxy.Fault {
		return func(*http.Request) faultproxy.Fault {
			interrupt()
			return faultproxy.DropRequest
		}
	}
	const interrupted = "error: interrupted before the audit had read everything, so its counts are lower bounds\n"
	for _, test := range []struct {
		choose func(interrupt func()) func(*http.Request) faultproxy.Fault
		args   []string
		table  bool
		texts  []string
	}{
		{inTheCount, nil, true, []string{"Only 1 of 2 types could be read.", "Warning: skipped secrets in e2e-xxxxx: ", " run- ", " 17 ", interrupted}},
		{inTheCount, []string{"--watch", "-o", "json"}, false, []string{interrupted}},
		{atOnce, nil, false, []string{"error: "}},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		u := harness.As(t, faultproxy.New(t, single.Admin(), test.choose(interrupt)).Config)
		u.Context = ctx
		r := u.Run(append([]string{"audit", "configmaps,secrets", "-n", ns}, test.args...)...)
		if r.Has(t, 130, test.texts...); (r.Stdout != "") != test.table {
			t.Errorf("%v prints a table: %t", test.args, !test.table)
		}
	}
}
