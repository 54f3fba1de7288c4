package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// closing matches the last line of a run with a key.
func closing(ns, resources, key string) string {
	return harness.Printed("List the objects of this run:\n%s",
		strings.TrimSuffix(harness.Printed("  kubectl get %s", resources+` -n `+ns+` -l genname.dev/run=`+idempotency.Key(key).RunLabel()), `\n`))
}

// A run with a key can be repeated. It leaves existing objects alone, and creates missing ones.
// Documents can move, and copies can be added.
func TestCreateWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	named := strings.ReplaceAll(configMap, "generateName: demo-", "name: own")
	key := "--idempotency-key=k1"
	input := harness.File(t, "in.yaml", configMap+"---"+configMap+"---"+named)
	first := u.Run("create", "-n", ns, "-f", input, key)
	first.Expect(t, 0, `(configmap/demo-`+harness.Suffix+` created\n){2}configmap/own created\n`, closing(ns, "configmaps", "k1"))
	exist := strings.ReplaceAll(first.Stdout, "created", "exists")
	u.Run("create", "-n", ns, "-f", input, key).Expect(t, 0, regexp.QuoteMeta(exist), closing(ns, "configmaps", "k1"))

	moved := harness.File(t, "moved.yaml", named+"---"+configMap+"---"+configMap)
	u.Run("create", "-n", ns, "-f", moved, key, "--count=2", "-o", "name").Expect(t, 0, `configmap/own\n(configmap/demo-`+harness.Suffix+`\n){4}`, closing(ns, "configmaps", "k1"))
	found := harness.ConfigMaps(t, retrying, ns)
	if len(found) != 5 {
		t.Fatalf("%d objects are there, want 5", len(found))
	}
	for _, cm := range found {
		if cm.Labels[exactlyonce.RunLabel] != idempotency.Key("k1").RunLabel() || cm.Annotations[exactlyonce.Annotation] == "" {
			t.Errorf("%s has labels %v and annotations %v", cm.Name, cm.Labels, cm.Annotations)
		}
	}
	u.Run("create", "-n", ns, "-f", input, "--idempotency-key=k2").Expect(t, 1,
		`(configmap/demo-`+harness.Suffix+` created\n){2}`,
		closing(ns, "configmaps", "k2")+`Error from server \(AlreadyExists\): error when creating ".*in.yaml": configmaps "own" already exists\n`+
			sum("not all objects were created", 2, 0, 1, 0, 0)+fixAndAgain)

	one := u.Run("create", "-n", ns, "-f", harness.File(t, "one.yaml", named), "--idempotency-key=k1", "-o", "yaml")
	one.Expect(t, 1, ``, closing(ns, "configmaps", "k1")+
		harness.Printed("error: "+"the key was used for a different input, so nothing was created. Earlier runs with the key created %s from documents that are not in this input: %s\n%s\nRun the command with the earlier input.", "4 objects", `(configmaps/demo-`+harness.Suffix+` -n `+ns+`(, )?){4}`))
}

// Existing objects are printed whole in every format.
func TestCreateWithAKeyPrintsWhatIsThere(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	input := harness.File(t, "in.yaml", configMap+"data: {a: b}\n")
	args := []string{"create", "-n", ns, "-f", input, "--idempotency-key=k"}
	created := u.Run(append(args, "-o", "yaml")...)
	again := u.Run(append(args, "-o", "yaml")...)
	if created.Code != 0 || again.Code != 0 || created.Stdout != again.Stdout || !strings.Contains(again.Stdout, "a: b") {
		t.Errorf("created\n%s\nexists\n%s", created.Stdout, again.Stdout)
	}
	u.Run(append(args, "-o", "jsonpath={.data.a}")...).Expect(t, 0, "b", `.*`)
	u.Run(append(args, "--template={{.data.a}}")...).Expect(t, 0, "b", `.*`)
	u.Run(append(args, "--dry-run=client")...).Expect(t, 0, regexp.QuoteMeta("configmap/"+harness.ConfigMaps(t, retrying, ns)[0].Name+" exists (dry run)\n"), closing(ns, "configmaps", "k"))
}

// The whole input is read before anything is created, and listing needs its permission.
func TestCreateWithAKeyRefuses(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	admin := harness.As(t, retrying.Admin())
	harness.Grant(t, retrying, ns, "no-list", []string{"create", "get"}, "configmaps")
	noList := harness.As(t, retrying.User("no-list"))
	input := harness.File(t, "in.yaml", configMap)
	broken := harness.File(t, "b.yaml", configMap+"---\na: [\n")
	review := harness.File(t, "r.yaml", "{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview, metadata: {generateName: r-}}")
	address := harness.File(t, "ip.yaml", "{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {generateName: 10.0.0.7}, spec: {parentRef: {resource: services, name: x, namespace: default}}}")
	whole := harness.Printed("error: nothing was created, because a run with a key needs its whole input")
	for _, test := range []struct {
		name   string
		user   harness.User
		args   []string
		stderr string
	}{
		{"no list", noList, []string{"-f", input}, harness.Printed("error: "+"nothing was created: %v", `a run with a key needs list on configmaps in "`+ns+`": configmaps is forbidden: [^\n]*`)},
		{"broken input", admin, []string{"-f", broken}, `error: error parsing .*b.yaml: error converting YAML to JSON: [^\n]*\n` + whole},
		{"empty key", admin, []string{"-f", input, "--idempotency-key="}, harness.Printed("error: " + "%s must not be empty")},
		{"server naming", admin, []string{"-f", input, "--naming=server"}, harness.Printed("error: " + "--idempotency-key cannot be used with --naming=server, because only the plugin can repeat a name")},
		{"edit", admin, []string{"-f", input, "--edit"}, harness.Printed("error: "+"--%s cannot be used with %s, which is passed on to kubectl create", "idempotency-key", "--edit")},
		{"raw", admin, []string{"-f", input, "--raw=/api/v1/namespaces/x/configmaps"}, harness.Printed("error: "+"--%s cannot be used with %s, which is passed on to kubectl create", "idempotency-key", "--raw")},
		{"no get", admin, []string{"-f", review}, harness.Printed("error: "+"--idempotency-key cannot be used for %s in %s, because %s", "selfsubjectreviews.authentication.k8s.io", `[^\n]*r.yaml`, "the server does not store them") + whole},
		{"no chosen name", admin, []string{"-f", address}, harness.Printed("error: "+"--idempotency-key cannot be used for %s in %s, because %s", "ipaddresses.networking.k8s.io", `[^\n]*`, "the server uses generateName itself as the name") + whole},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.user.T = t
			test.user.Run(append([]string{"create", "-n", ns, "--idempotency-key=s3cret"}, test.args...)...).Expect(t, 1, ``, test.stderr)
		})
	}
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 0 {
		t.Errorf("%d objects are there, want none", n)
	}
}

// The key is not sent, and --record records the command without it.
func TestTheKeyStaysHere(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(fmt.Sprint(r.URL, r.Header), "s3cret") {
			t.Errorf("%s carries the key", r.URL)
		}
		return nil
	})
	r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=s3cret", "--record", "-o", "yaml")
	if r.Code != 0 || strings.Contains(r.Stdout+r.Stderr, "s3cret") {
		t.Errorf("exit code %d, stdout\n%s\nstderr\n%s", r.Code, r.Stdout, r.Stderr)
	}
}

// A later run creates objects again that a TTL deleted. A warning reports it in advance.
func TestCreateWithAKeyWarnsOfTTL(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	job := harness.File(t, "job.yaml", `
apiVersion: batch/v1
kind: Job
metadata: {generateName: ttl-}
spec:
  ttlSecondsAfterFinished: 60
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
`)
	harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", job, "--idempotency-key=k").Expect(t, 0, `job.batch/ttl-`+harness.Suffix+` created\n`,
		harness.Printed("Warning: "+"%s with ttlSecondsAfterFinished are deleted after they finish. A later run with this key creates them again.", "jobs.batch")+closing(ns, "jobs.batch", "k"))
}

// A run reports a copy of one of its objects, and an object that is being deleted.
func TestCreateWithAKeyReportsOddities(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k"}
	u.Run(args...)
	client := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns)
	cm := harness.ConfigMaps(t, retrying, ns)[0]
	duplicate := cm.DeepCopy()
	duplicate.ObjectMeta = metav1.ObjectMeta{Name: "zz-copy", Labels: cm.Labels, Annotations: cm.Annotations}
	if _, err := client.Create(t.Context(), duplicate, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cm.Finalizers = []string{"example.com/held"}
	if _, err := client.Update(t.Context(), &cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), cm.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	u.Run(args...).Expect(t, 0, `configmap/`+cm.Name+` exists\n`,
		harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", "configmaps/zz-copy -n "+ns)+
			harness.Printed("Warning: "+"%s is being deleted. A later run with this key creates it again.", "configmap/"+cm.Name)+closing(ns, "configmaps", "k"))
	cm.Annotations = nil
	duplicate.Annotations = nil
	if _, err := client.Update(t.Context(), duplicate, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.Run(args...).Expect(t, 0, `configmap/`+cm.Name+` exists\n`,
		harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", "configmaps/zz-copy -n "+ns)+
			harness.Printed("Warning: "+"%s is being deleted. A later run with this key creates it again.", "configmap/"+cm.Name)+closing(ns, "configmaps", "k"))
}

// An object that can't carry a creation ID is sent as it is, and the server refuses it. No part of the
// user's input is dropped.
func TestCreateWithAKeyOfWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	for name, metadata := range map[string]string{
		"neither name nor generateName":    `{labels: {x: y}}`,
		"an annotation that is a number":   `{generateName: demo-, annotations: {keep: "yes", port: 8080}}`,
		"a label that is a number":         `{generateName: demo-, labels: {keep: "yes", port: 8080}}`,
		"a name that is a number":          `{generateName: demo-, name: 123}`,
		"a generateName that is a boolean": `{generateName: true}`,
	} {
		for _, key := range []string{"", "--idempotency-key=k"} {
			t.Run(name+key, func(t *testing.T) {
				list := harness.File(t, "list.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: "+metadata+"}\n")
				args := []string{"create", "-n", ns, "-f", list}
				if key != "" {
					args = append(args, key)
				}
				r := harness.As(t, retrying.Admin()).Run(args...)
				if r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, "error") {
					t.Errorf("%+v", r)
				}
			})
		}
	}
	if found := harness.ConfigMaps(t, retrying, ns); len(found) != 0 {
		t.Errorf("%d objects are there, want none", len(found))
	}
}

// If the creation ID annotations of an earlier run's objects were removed, a re-run does not treat
// them as unexpected objects.
func TestCreateWithAKeyAfterTheIDsAreGone(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k"}
	u.Run(args...)
	cm := harness.ConfigMaps(t, retrying, ns)[0]
	cm.Labels, cm.Annotations = nil, nil
	if _, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns).Update(t.Context(), &cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.Run(args...).Expect(t, 4, ``, unknownOutcome(`configmap/`+cm.Name+` -n `+ns, `[^\n]*`)+
		closing(ns, "configmaps", "k")+aboutHolder(cm.Name, ns)+fixAndAgain)
	if found := harness.ConfigMaps(t, retrying, ns); len(found) != 1 {
		t.Errorf("%d objects are there, want 1", len(found))
	}
}

// Printing existing objects needs get. Without it, missing objects are still created.
func TestCreateWithAKeyShowsWhatItMay(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	harness.Grant(t, retrying, ns, "no-get", []string{"create", "list"}, "configmaps")
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k", "--retry-timeout=0"}
	harness.As(t, retrying.Admin()).Run(args...)
	name := harness.ConfigMaps(t, retrying, ns)[0].Name
	harness.As(t, retrying.User("no-get")).Run(append(args, "--count=10", "-o", "jsonpath={.kind}")...).Expect(t, 1, `(ConfigMap){9}`,
		noGet+closing(ns, "configmaps", "k")+harness.Printed("error: "+"%s exists, but it can't be read: %v", "configmap/"+name, `configmaps "`+name+`" is forbidden: [^\n]*`))
	if found := harness.ConfigMaps(t, retrying, ns); len(found) != 10 {
		t.Errorf("%d objects are there, want 10", len(found))
	}
}

// An object that a controller creates with the labels and annotations of a run's object does not
// belong to the run. Neither does an object that was created from an export of it.
func TestCreateWithAKeyIsNotMisledByCopies(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	secret := strings.ReplaceAll(strings.ReplaceAll(configMap, "ConfigMap", "Secret"), "demo-", "other-")
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap+"---"+secret), "--idempotency-key=k"}
	u.Run(args...)
	cm := harness.ConfigMaps(t, retrying, ns)[0]
	secrets := harness.Clientset(t, retrying).CoreV1().Secrets(ns)
	yes := true
	owner := []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: cm.Name, UID: cm.UID, Controller: &yes}}
	for _, copied := range []metav1.ObjectMeta{
		{Name: "labels-and-annotations", Labels: cm.Labels, Annotations: cm.Annotations},
		{Name: "labels-and-owner", Labels: cm.Labels, OwnerReferences: owner},
	} {
		if _, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: copied}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ignored := harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", "secrets/labels-and-annotations -n "+ns)
	u.Run(args...).Expect(t, 0, `configmap/`+cm.Name+` exists\nsecret/other-`+harness.Suffix+` exists\n`, ignored+closing(ns, "configmaps,secrets", "k"))

	export := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: demo-, labels: {genname.dev/run: %s}}\n", cm.Labels[exactlyonce.RunLabel])
	u.Run("create", "-n", ns, "-f", harness.File(t, "export.yaml", export)).Expect(t, 0, `configmap/demo-`+harness.Suffix+` created\n`, ``)
	u.Run(args...).Expect(t, 0, `(?:[^\n]* exists\n){2}`, ignored+closing(ns, "configmaps,secrets", "k"))
}
