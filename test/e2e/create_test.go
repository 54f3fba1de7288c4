package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {generateName: demo-}
`

func TestCreate(t *testing.T) {
	ns := namespace(t, retrying)
	r := as(t, retrying.Admin()).run("create", "-n", ns, "-f", file(t, "two.yaml", configMap+"---"+configMap))
	r.expect(t, 0, `(configmap/demo-`+suffix+` created\n){2}`, ``)
	found := configMaps(t, retrying, ns)
	if len(found) != 2 {
		t.Fatalf("%d objects are there, want 2", len(found))
	}
	for _, cm := range found {
		if cm.GenerateName != "demo-" || !strings.HasPrefix(cm.Annotations[once.Annotation], "v1-") {
			t.Errorf("generateName %q, annotations %v", cm.GenerateName, cm.Annotations)
		}
		if manager := cm.ManagedFields[0].Manager; manager != "kubectl-create" {
			t.Errorf("field manager %q, want kubectl's", manager)
		}
	}
}

func TestCreateReadsAsKubectlDoes(t *testing.T) {
	ns := namespace(t, retrying)
	u := as(t, retrying.Admin())
	dir := t.TempDir()
	for name, content := range map[string]string{
		"1.yaml": configMap + "---\n---" + strings.ReplaceAll(configMap, "demo-", "second-"),
		"2.json": `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"named"}}]}`,
		"3.txt":  "not read",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u.run("create", "-n", ns, "-f", dir).expect(t, 0,
		`configmap/demo-`+suffix+` created\nconfigmap/second-`+suffix+` created\nconfigmap/named created\n`, ``)
	u.run("create", "-n", ns, "-f", dir, "-o", "name").expect(t, 1,
		`configmap/demo-`+suffix+`\nconfigmap/second-`+suffix+`\n`,
		`Error from server \(AlreadyExists\): error when creating ".*2.json": configmaps "named" already exists\n`)
	u.run("create", "-n", ns, "-f", dir, "--dry-run=client").expect(t, 0,
		`(configmap/<unknown> created \(dry run\)\n){2}configmap/named created \(dry run\)\n`, ``)
	if n := len(configMaps(t, retrying, ns)); n != 5 {
		t.Errorf("%d objects are there, want 5", n)
	}
}

// A conflict: the name that the plugin picked is taken, and the next one is
// tried, unless the holder may be the object itself.
func TestCreateConflict(t *testing.T) {
	for _, test := range []struct {
		name           string
		holder         map[string]string // annotations
		age            time.Duration     // of the holder, by the server's Date
		code           int
		stdout, stderr string
	}{
		{
			name: "another id", holder: map[string]string{once.Annotation: "v1-another"}, code: 0,
			stdout: `configmap/demo-` + suffix + ` created\n`,
			stderr: `configmap/demo-` + suffix + `: [^\n]*already exists[^\n]*; trying demo-` + suffix + `\n`,
		},
		{
			name: "older", age: time.Hour, code: 0,
			stdout: `configmap/demo-` + suffix + ` created\n`,
			stderr: `configmap/demo-` + suffix + `: [^\n]*already exists[^\n]*; trying demo-` + suffix + `\n`,
		},
		{
			name: "too young to tell", code: 4,
			stderr: `configmap/demo-` + suffix + ` -n [^\n]*: outcome unknown: [^\n]*without a creation id[^\n]*\n` + again,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t, single)
			proxy := faultproxy.New(t, single.Admin(), firstPost(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					takeName(t, single, ns, r, test.holder)
					next.ServeHTTP(postdated{w, test.age}, r)
				})
			}))
			as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap)).
				expect(t, test.code, test.stdout, test.stderr)
			if found := configMaps(t, single, ns); len(found) != 2-test.code/4 {
				t.Errorf("%d objects are there", len(found))
			}
		})
	}
}

// takeName creates an object of somebody else under the name that the request
// is about to use.
func takeName(t *testing.T, cp *controlplane.ControlPlane, namespace string, r *http.Request, annotations map[string]string) {
	var sent corev1.ConfigMap
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, json.Unmarshal(body, &sent)); err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: sent.Name, Annotations: annotations}}
	if _, err := clientset(t, cp).CoreV1().ConfigMaps(namespace).Create(t.Context(), holder, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// postdated adds to the time in the Date header.
type postdated struct {
	http.ResponseWriter
	by time.Duration
}

func (p postdated) WriteHeader(code int) {
	p.Header().Set("Date", time.Now().Add(p.by).UTC().Format(http.TimeFormat))
	p.ResponseWriter.WriteHeader(code)
}

// Without the right to read a conflict back, the next name is taken, and a
// warning says what that rests on.
func TestCreateConflictThatCannotBeReadBack(t *testing.T) {
	ns := namespace(t, single)
	grant(t, single, ns, "creator", []string{"create"}, "configmaps")
	proxy := faultproxy.New(t, single.User("creator"), firstPost(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			takeName(t, single, ns, r, nil)
			next.ServeHTTP(w, r)
		})
	}))
	as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap)).expect(t, 0,
		`configmap/demo-`+suffix+` created\n`,
		`configmap/demo-[^\n]*; trying demo-`+suffix+`\n`+
			`Warning: conflicts of configmaps cannot be read back \(needs get on configmaps\)[^\n]*\n`)
}

// What is wrong with the input is said in kubectl's words, and what was
// created before it stays said on stdout.
func TestCreateBadInput(t *testing.T) {
	ns := namespace(t, retrying)
	admin := as(t, retrying.Admin())
	nobody := as(t, retrying.User("nobody"))
	created := `configmap/demo-` + suffix + ` created\n`
	for _, test := range []struct {
		name           string
		user           user
		args           []string
		code           int
		stdout, stderr string
	}{
		{"no file named", admin, nil, 1, ``, `error: must specify one of -f and -k\n`},
		{"stray argument", admin, []string{"x"}, 1, ``, `error: Unexpected args: \[x\]\nSee 'kubectl genname create -h' for help and examples\n`},
		{"unknown flag", admin, []string{"--nope"}, 1, ``, `error: unknown flag: --nope\nSee 'kubectl genname create --help' for usage.\n`},
		{"no attempts", admin, []string{"--attempts=0", "-f", "-"}, 1, ``, `error: --attempts must be at least 1, not 0\n`},
		{"negative time", admin, []string{"--retry-timeout=-1s", "-f", "-"}, 1, ``, `error: --retry-timeout must not be negative, as -1s is\n`},
		{"missing file", admin, []string{"-f", "missing.yaml"}, 1, ``, `error: the path "missing.yaml" does not exist\n`},
		{"empty directory", admin, []string{"-f", t.TempDir()}, 1, ``, `error: error reading \[.*\]: recognized file extensions are \[.json .yaml .yml\]\n`},
		{"empty file", admin, []string{"-f", file(t, "empty.yaml", "")}, 1, ``, `error: no objects passed to create\n`},
		{"broken second document", admin, []string{"-f", file(t, "b.yaml", configMap+"---\na: [\n---"+configMap)}, 1, created, `error: error parsing .*b.yaml: error converting YAML to JSON: .*\n`},
		{"unknown kind", admin, []string{"-f", file(t, "u.yaml", strings.ReplaceAll(configMap, "ConfigMap", "Nope")+"---"+configMap)}, 1, created, `error: resource mapping not found for name: "" namespace: "" from ".*u.yaml": no matches for kind "Nope" in version "v1"\nensure CRDs are installed first\n`},
		{"unknown field", admin, []string{"-f", file(t, "f.yaml", configMap+"nope: 1\n")}, 1, ``, `Error from server \(BadRequest\): error when creating ".*f.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nope"\n`},
		{"invalid generateName", admin, []string{"-f", file(t, "i.yaml", strings.ReplaceAll(configMap, "demo-", "Demo_"))}, 1, ``, `The ConfigMap "Demo_` + suffix + `" is invalid: \n\* metadata.generateName: Invalid value: "Demo_".*`},
		{"no right to create", nobody, []string{"-f", file(t, "n.yaml", configMap)}, 1, ``, `Error from server \(Forbidden\): error when creating ".*n.yaml": configmaps is forbidden: User "nobody" cannot create resource "configmaps" in API group "" in the namespace "` + ns + `"\n`},
		{"no such namespace", admin, []string{"-n", "nonsuch", "-f", file(t, "n.yaml", configMap)}, 1, ``, `Error from server \(NotFound\): error when creating ".*n.yaml": namespaces "nonsuch" not found\n`},
		{"another namespace", admin, []string{"-f", file(t, "n.yaml", strings.ReplaceAll(configMap, "{", "{namespace: ns1, "))}, 1, ``, `error: the namespace from the provided object "ns1" does not match the namespace "` + ns + `". You must pass '--namespace=ns1' to perform this operation.\n`},
		{"no server", admin, []string{"--server=https://127.0.0.1:1", "--validate=false", "-f", file(t, "n.yaml", configMap)}, 1, ``, `error: unable to recognize ".*n.yaml": Get "https://127.0.0.1:1/api.*": dial tcp 127.0.0.1:1: connect: connection refused\n|The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port\?\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.user.t = t
			test.user.run(append([]string{"create", "-n", ns}, test.args...)...).expect(t, test.code, test.stdout, test.stderr)
		})
	}
	t.Run("no kubeconfig", func(t *testing.T) {
		user{t, "/nonexistent", t.Context()}.run("create", "-f", "x.yaml").expect(t, 1, ``, `error: stat /nonexistent: no such file or directory\n`)
	})
}

// interruptedAtFirstPost is a user who interrupts while the first POST is on
// its way, which is carried out and answered.
func interruptedAtFirstPost(t *testing.T) user {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	proxy := faultproxy.New(t, retrying.Admin(), firstPost(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			interrupt()
			next.ServeHTTP(w, r)
		})
	}))
	u := as(t, proxy.Config)
	u.ctx = ctx
	return u
}

// What was not attempted when the user interrupts is counted, and the rest
// said.
func TestCreateInterrupted(t *testing.T) {
	ns := namespace(t, retrying)
	u := interruptedAtFirstPost(t)
	u.run("create", "-n", ns, "-f", file(t, "three.yaml", strings.Repeat(configMap+"---", 3))).expect(t, 130,
		`configmap/demo-`+suffix+` created\n`, `interrupted: 1 created, 0 unchanged, 0 failed, 0 unknown, 2 not attempted\n`+again)
	if n := len(configMaps(t, retrying, ns)); n != 1 {
		t.Errorf("%d objects are there, want 1", n)
	}
}

// A conflict of an object with a name and a generateName is explained: the
// server says that no name could be generated, which is not so.
func TestCreateWithBothFields(t *testing.T) {
	ns := namespace(t, retrying)
	u := as(t, retrying.Admin())
	both := file(t, "both.yaml", strings.ReplaceAll(configMap, "{", "{name: both, "))
	u.run("create", "-n", ns, "-f", both).expect(t, 0, `configmap/both created\n`, ``)
	u.run("create", "-n", ns, "-f", both).expect(t, 1, ``,
		`Error from server \(AlreadyExists\): error when creating ".*both.yaml": configmaps "both" already exists, .* \(the object has a name and a generateName: the name wins, and generateName is ignored\)\n`)
}
