package e2e

import (
	"fmt"
	"net/http"
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
