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
		t.Fatalf("%+v", r)
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
	harness.As(t, cp.Admin()).Run("create", "-f", harness.File(t, "crd.yaml", crd)).Expect(t, 0, `.*created\n`, ``)
	resource := schema.GroupVersionResource{Group: "example.e2e", Version: "v1", Resource: plural}
	harness.UntilServed(t, cp, resource)
	return resource
}

// A wide table has the columns of all odds.
func TestAuditTable(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	harness.As(t, single.Admin()).Run("audit", "cm", "-n", ns, "-o", "wide", "--prefix=run-", "--no-headers").Expect(t, 0,
		`configmaps +run- +17 +17 +17 +e2e.test +1 +\d+ +\S+ +\S+ +1 being deleted, the first since \S+ ago, and the finalizer e2e.test/hold holds 1\n`, `No create is close to failing\.\nRead .*`)
}

// An audit is compared with an earlier saved audit. A gate that could not compare does not pass: with an audit of another
// cluster, of one namespace instead of all, or without the types. An audit that was saved just now causes a warning.
func TestAuditCompare(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	u := harness.As(t, single.Admin())
	at := regexp.MustCompile(`"creationTimestamp": "[^"]*"`)
	dated := func(text, time string) (path string) {
		return harness.File(t, "before.json", at.ReplaceAllString(text, `"creationTimestamp": `+time))
	}
	all := u.Run("audit", "cm", "-n", ns, "-o", "json", "--min-count=1").Stdout
	one := u.Run("audit", "cm", "-n", ns, "-o", "json", "--prefix=run-").Stdout
	uid := regexp.MustCompile(`"clusterUID": "[^"]+"`)
	if !uid.MatchString(all) {
		t.Fatalf("no UID in %s", all)
	}
	const long = `"2020-01-01T00:00:00Z"`
	before := dated(strings.Replace(all, `"names": 17,`, `"names": 5,`, 1), long)
	other := dated(uid.ReplaceAllString(all, `"clusterUID": "0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11"`), long)
	ofOne, undated := dated(one, long), dated(one, "null")
	just := dated(one, time.Now().Add(-3*time.Second).UTC().Format(`"`+time.RFC3339+`"`))
	here := " -n " + ns
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{
			"cm,secrets --fail-above-count=1000 --compare " + before + here, 0, `RESOURCE +PREFIX +NAMES +LAST-10M +LAST-24H +GROWTH/DAY +CREATOR .*`,
			`.*` + harness.Printed("Not compared, because %s has not read them: %s", before, `secrets`) + `.*`,
		},
		{"cm --fail-above-growth=0 --compare " + before + here, 3, `.*`, `.*` + harness.Printed("error: %s above %s: %s\n  kubectl genname audit %s -o wide",
			`1 prefix`, `--fail-above-growth 0`, `configmaps/run- in namespace "`+ns+`" with 17 names, \+0.00[^\n]* a day`, `configmaps/run- -n `+ns)},
		{"cm --prefix=late- --fail-above-growth=0 --compare " + before + here, 0, `.*`, `No create .*`},
		{"cm -l a=b --compare " + before + here, 1, ``, `error: --compare: can't compare with ` + before + `: its prefixes were chosen with --selector="", not "a=b"\n`},
		{"cm -n other --compare " + before, 1, ``, `error: --compare: .*: it read namespace "` + ns + `", not "other"\n`},
		{"cm --fail-above-growth=1e9 --compare " + before + here, 0, `.*`, `.*`},
		{"cm -A --fail-above-growth=1e9 --compare " + before, 1, `.*`, `.*error: --fail-above-growth: only namespace ` + ns + ` could be compared, because ` + before + ` is an audit of that namespace\n`},
		{"cm --compare " + other + here, 0, `.*`, `.*Warning: ` + other + ` is an audit of another cluster\n.*`},
		{"cm --fail-above-growth=1e9 --compare " + other + here, 1, `.*`, `.*error: --fail-above-growth: ` + other + ` is an audit of another cluster\n`},
		{"cm --prefix=run- --compare " + just + here, 0, `.*`, `.*` + harness.Printed("Warning: %s is only %s old, so the growth per day might come from a short burst", just, `\S+`) + `.*`},
		{"cm --fail-above-growth=5 --compare " + ofOne + here, 0, `.*`, `.*` + harness.Printed("Not compared, because %s has not counted them: prefixes other than %s", ofOne, `run-`) + `.*`},
		{"secrets --fail-above-growth=5 --compare " + ofOne + here, 1, ``, `.*` + harness.Printed("error: --fail-above-growth checked nothing, because %s has none of these resource types", ofOne)},
		{"cm --fail-above-growth=NaN --compare " + ofOne + here, 1, ``, `error: --fail-above-growth must be a number of names per day, not NaN\n`},
		{"cm --fail-above-growth=+Inf --compare " + ofOne + here, 1, ``, `error: --fail-above-growth must be a number of names per day, not \+Inf\n`},
		{"cm --compare " + undated + here, 1, ``, `error: --compare: can't compare with ` + undated + `: it does not say of when it is \(metadata.creationTimestamp\)\n`},
	} {
		u.Run(append([]string{"audit"}, strings.Fields(test.args)...)...).Expect(t, test.code, test.stdout, test.stderr)
	}
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
	result.Expect(t, 0, `.*`, `.*`+harness.Printed("Warning: this machine's clock differs from the server's by %s. The command uses the server's clock.", `(1h\d+m\d+s|[45]\dm\d+s)`)+`.*`)
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(result.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	if at := report.Metadata.CreationTimestamp; at.Sub(now).Abs() > 20*time.Minute {
		t.Errorf("counted at %v, want %v", at, now)
	}
	for _, item := range report.Items { // by the server's time, all were created an hour ago
		if *item.Last10m > 0 {
			t.Errorf("%+v", item)
		}
	}
}

// An audit without a server, or without the permission to list, and deprecated types. sessions/audit-gates.txt has more.
func TestAuditBadInput(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	admin := harness.As(t, single.Admin())
	harness.Grant(t, single, ns, "lister", []string{"list"}, "configmaps")
	lister := harness.As(t, single.User("lister"))
	for _, test := range []struct {
		name           string
		user           harness.User
		args           []string
		code           int
		stdout, stderr string
	}{
		{"misspelled type", admin, []string{"cnofigmaps"}, 1, ``, `error: the server doesn't have a resource type "cnofigmaps"\. Did you mean configmaps\?\n`},
		{"a deprecated type that is named", admin, []string{"endpoints", "-n", "none", "--warnings-as-errors"}, 1, ``, `Warning: v1 Endpoints is deprecated [^\n]*\nNo create is close to failing\.\nWarning: namespaces "none" not found\nNo generated names .*error: 1 warning received\n`},
		{"deprecated types among all", admin, []string{"-n", "none", "--warnings-as-errors"}, 0, ``, `No create is close to failing\.\nWarning: namespaces "none" not found\nNo generated names [^\n]*\n`},
		{"a watch of a namespace that doesn't exist", admin, []string{"cm", "-n", "none", "--watch", "--duration=1s"}, 0, ``, `Warning: namespaces "none" not found\nNo generated names to show in none namespace\. Use -A for all namespaces\.\n.*`},
		{"a watch of a type in two versions", admin, []string{"hpa/x-", "horizontalpodautoscalers.v1.autoscaling/y-", "-n", ns, "--watch", "--duration=1ms"}, 0, ``, `No generated names to show [^\n]*\n.*`},
		{"a gate of a watch, of a prefix without names", admin, []string{"cm", "--prefix=run", "--fail-above-count=5", "-n", ns, "--watch", "--duration=1ms"}, 1, ``, `.*error: the gate checked nothing, because no name has the prefix run\. .*`},
		{"no permission to list the other types", lister, []string{"-n", ns}, 0, ``, harness.Printed("Only %s of %s could be read.", `1`, `\d+ types`) + `No create is close to failing\.\nNo generated names to show .*` + harness.Printed("Warning: skipped %s that you can't list (needs list): %s", `\d+ types`, `\w+, \w+, \w+, \w+, \w+ and \d+ more`) + `.*`},
		{"no permission to list the other types, with a gate", lister, []string{"-n", ns, "--fail-above-count=5"}, 1, ``, harness.Printed("Only %s of %s could be read.", `1`, `\d+ types`) + `No create is close to failing\.\nNo generated names to show .*` + harness.Printed("Warning: the gate can't check %s that you can't list (needs list): %s. To let the gate pass without them, add:\n  --allow-unlisted", `\d+ types`) + harness.Printed("Warning: the gate checked nothing, because namespace %s is empty or doesn't exist. To find out which, you need permission to get namespaces") + harness.Printed("error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts")},
		{"the same, allowed", lister, []string{"-n", ns, "--fail-above-count=5", "--allow-unlisted"}, 0, ``, harness.Printed("Only %s of %s could be read.", `1`, `\d+ types`) + `No create is close to failing\.\nNo generated names to show .*` + harness.Printed("Warning: the gate can't check %s that you can't list (needs list): %s", `\d+ types`) + harness.Printed("Warning: the gate checked nothing, because namespace %s is empty or doesn't exist. To find out which, you need permission to get namespaces")},
		{"no server", admin, []string{"--server=https://127.0.0.1:1", "--retry-timeout=1ms"}, 1, ``, harness.Printed("Warning: the server is unreachable, so requests are retried for up to %s: %v", "1ms") + harness.Printed("error: "+"the server was unreachable for %s: %w", "1ms", "ask the server for its version: .*connection refused")},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.user.T = t
			test.user.Run(append([]string{"audit"}, test.args...)...).Expect(t, test.code, test.stdout, test.stderr)
		})
	}
}

// Control characters in text from the cluster don't reach the terminal, whichever kind allows them in
// names.
func TestAuditTableIsSafeForATerminal(t *testing.T) {
	t.Parallel()
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {generateName: \"evil\\u009b31m\\u202egnp-\"}\n"
	u := harness.As(t, single.Admin())
	u.Run("create", "-f", harness.File(t, "role.yaml", role)).Expect(t, 0, `clusterrole.*created\n`, ``)
	u.Run("audit", "clusterroles", "--min-count=1", "--no-headers").Expect(t, 0, `.*evil\\u009b31m\\u202egnp- .*`, `.*`)
}

// Kubernetes limits the names of some types not at all. A long name or generateName doesn't hide other objects.
func auditOfLongNames(t *testing.T, cp *controlplane.ControlPlane) {
	long := strings.Repeat("x", 5000)
	u := harness.As(t, cp.Admin())
	u.Run("create", "-n", "default", "-f", harness.File(t, "long.yaml",
		"apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {generateName: "+long+"}\n"+
			"spec: {signerName: example.com/a, usages: [client auth], request: "+certificateRequest+"}\n---\n"+
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: "+long+"}\n")).
		Expect(t, 0, `.*x{58}\S{5} created\n.*x+ created\n`, `.*`)
	u.Run("audit", "certificatesigningrequests,roles", "-A", "--min-count=1", "--no-headers", "--fail-above-count=1000").
		Expect(t, 0, `.*certificatesigningrequests\S* +x{58} .*`, `.*`)
}

// A gate does not pass if the user can't list anything.
func TestAuditGateOfWhoMayListNothing(t *testing.T) {
	harness.As(t, single.User("nobody")).Run("audit", "-A", "--fail-above-count=1").Expect(t, 1, ``,
		harness.Printed("Only %s of %s could be read.", `0`, `\d+ types`)+harness.Printed("Warning: skipped all %s, because you can't list any of them in all namespaces (needs list). Try one namespace:\n  kubectl genname audit -n NAMESPACE", `\d+ types`)+harness.Printed("error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts"))
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
	interrupted := harness.Printed("error: interrupted before the audit had read everything, so its counts are lower bounds")
	for _, test := range []struct {
		choose         func(interrupt func()) func(*http.Request) faultproxy.Fault
		args           []string
		stdout, stderr string
	}{
		{
			inTheCount, nil, `RESOURCE .*configmaps +run- +17 .*`,
			harness.Printed("Only %s of %s could be read.", `1`, `2 types`) + `.*Warning: skipped secrets in ` + ns + `: .*canceled.*` + interrupted,
		},
		{inTheCount, []string{"--watch", "-o", "json"}, ``, `.*` + interrupted},
		{atOnce, nil, ``, `error: .*\n`},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		u := harness.As(t, faultproxy.New(t, single.Admin(), test.choose(interrupt)).Config)
		u.Context = ctx
		u.Run(append([]string{"audit", "configmaps,secrets", "-n", ns}, test.args...)...).Expect(t, 130, test.stdout, test.stderr)
	}
}
