package e2e

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// advised returns the part of stderr that matches the expression's group: the advice of a run.
func advised(t *testing.T, r harness.Result, expression string) string {
	t.Helper()
	found := regexp.MustCompile(expression).FindStringSubmatch(r.Stderr)
	if found == nil {
		t.Fatalf("stderr does not say %s:\n%s", expression, r.Stderr)
	}
	return found[1]
}

// follow runs an advised command in a shell.
func follow(t *testing.T, u harness.User, command string) harness.Result {
	t.Helper()
	return harness.NewShell(t, u.Kubeconfig).Run("bash", "-c", command)
}

// expectConfigMaps fails the test unless n objects exist.
func expectConfigMaps(t *testing.T, ns string, n int) {
	t.Helper()
	if found := harness.ConfigMaps(t, single, ns); len(found) != n {
		t.Errorf("%d objects are there, want %d", len(found), n)
	}
}

// If an object of a run with a key lost its creation ID annotation, it can be annotated again, or
// deleted and created again.
func TestAdviceAboutAnObjectWithoutItsID(t *testing.T) {
	t.Parallel()
	for name, expression := range map[string]string{"marked": `(kubectl annotate [^\n]*)`, "deleted": `(kubectl delete [^\n]*)`} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			u := harness.As(t, single.Admin())
			args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k"}
			u.Run(args...)
			cm := harness.ConfigMaps(t, single, ns)[0]
			cm.Labels, cm.Annotations = nil, nil
			if _, err := harness.Clientset(t, single).CoreV1().ConfigMaps(ns).Update(t.Context(), &cm, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			stripped := u.Run(args...)
			follow(t, u, advised(t, stripped, expression)).Expect(t, 0, `.*`, ``)
			if r := u.Run(args...); stripped.Code != 4 || r.Code != 0 {
				t.Errorf("first %+v, then %+v", stripped, r)
			}
			expectConfigMaps(t, ns, 1)
		})
	}
}

// A name that another object has gives AlreadyExists at once. It is free when that object is deleted.
func TestAdviceAboutATakenName(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	u := harness.As(t, single.Admin())
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "own"}}
	if _, err := harness.Clientset(t, single).CoreV1().ConfigMaps(ns).Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", strings.ReplaceAll(configMap, "generateName: demo-", "name: own")), "--idempotency-key=k"}
	taken := u.Run(args...)
	taken.Expect(t, 1, ``, `Error from server \(AlreadyExists\): [^\n]*\n`+aboutHolder("own", ns))
	follow(t, u, advised(t, taken, `(kubectl delete [^\n]*)`)).Expect(t, 0, `.*`, ``)
	u.Run(args...).Expect(t, 0, `configmap/own created\n`, closing(ns, "configmaps", "k"))
}

// The response of a POST is lost. The advised command shows whether the object exists. After the next
// advised command, one object exists.
func TestAdviceAboutALostResponse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault faultproxy.Fault
		there bool
	}{"lost on the way": {faultproxy.DropRequest, false}, "carried out": {faultproxy.DropResponse, true}} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
				switch {
				case harness.Creates(r):
					return test.fault
				case strings.Contains(r.URL.Path, "/configmaps/"):
					return faultproxy.DropRequest
				}
				return nil
			})
			input := harness.File(t, "cm.yaml", configMap)
			lost := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input, "--retry-timeout=0")
			u := harness.As(t, single.Admin())
			checked := follow(t, u, advised(t, lost, harness.Printed("Check whether the object exists. It may still be created within a minute:\n%s", `  (kubectl get [^\n]*)`)))
			if lost.Code != 4 || (checked.Code == 0) != test.there {
				t.Errorf("%+v, then %+v", lost, checked)
			}
			if checked.Code != 0 {
				advised(t, lost, `(`+harness.Printed("If the object does not exist, run the same command again.")+`)`)
				u.Run("create", "-n", ns, "-f", input).Expect(t, 0, oneCreated, ``)
			}
			expectConfigMaps(t, ns, 1)
		})
	}
}

// Without a key, an interrupted run prints how many copies or which documents remain.
func TestAdviceAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	ctx, interrupt := context.WithCancel(t.Context())
	var posts atomic.Int32
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 3 {
			interrupt()
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	u.Context = ctx
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)}
	r := u.Run(append(args, "--count=10", "--concurrency=1")...)
	rest := advised(t, r, `  (--count=\d+)\n`+harness.Printed("Don't run the command unchanged. It would create up to %s a second time.", "3 objects"))
	if r.Code != 130 || rest != "--count=7" {
		t.Errorf("%+v", r)
	}
	u.Context = t.Context()
	u.Run(append(args, rest)...).Expect(t, 0, `(`+oneCreated+`){7}`, ``)
	expectConfigMaps(t, ns, 10)
}

// Without a key, a run of several files names those of which it created nothing.
func TestAdviceAfterAFailure(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && strings.Contains(string(faultproxy.Body(r)), "bad-") {
			return faultproxy.Respond(http.StatusBadRequest, http.Header{"Content-Type": {"application/json"}},
				`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"BadRequest","code":400}`)
		}
		return nil
	})
	good, bad := harness.File(t, "good.yaml", configMap), harness.File(t, "bad.yaml", strings.ReplaceAll(configMap, "demo-", "bad-"))
	r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", good, "-f", bad)
	r.Expect(t, 1, oneCreated, `Error from server \(BadRequest\): [^\n]*\n`+
		sum("not all objects were created", 1, 0, 1, 0, 0)+theRest("create the rest with the same command and these files:\n  %s", `-f [^\n ]*bad.yaml`))
	args := strings.Fields(advised(t, r, `\n  (-f \S+)\n`))
	harness.As(t, single.Admin()).Run(append([]string{"create", "-n", ns}, args...)...).Expect(t, 0, `configmap/bad-`+harness.Suffix+` created\n`, ``)
	expectConfigMaps(t, ns, 2)
}

// Two runs with one key and different input overlap. The later one creates nothing, and fails.
func TestTwoInputsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	admin := harness.As(t, single.Admin())
	args := func(data string) []string {
		return []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap+"data: {a: "+data+"}\n"), "--idempotency-key=k"}
	}
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) {
			admin.Run(args("first")...).Expect(t, 0, oneCreated, closing(ns, "configmaps", "k"))
		}
		return nil
	})
	harness.As(t, proxy.Config).Run(args("second")...).Expect(t, 1, ``, `error: error when creating [^\n]*: "demo-`+harness.Suffix+`" exists, and another input created it with the same key\n`)
	expectConfigMaps(t, ns, 1)
}

// A load balancer without a backend ends the run soon, whatever the format of its response.
func TestALoadBalancerWithoutAServer(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{"text/html": "<html><body>503</body></html>", "text/plain": "no healthy upstream"} {
		t.Run(contentType, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			unavailable := faultproxy.Respond(http.StatusServiceUnavailable, http.Header{"Content-Type": {contentType}}, body)
			var posts atomic.Int32
			proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
				if harness.Creates(r) {
					posts.Add(1)
				}
				if posts.Load() > 0 {
					return unavailable
				}
				return nil
			})
			input := harness.File(t, "cm.yaml", strings.Repeat(configMap+"---", 40))
			r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input, "--retry-timeout=300ms")
			if want := sum("stopped, because the server is unreachable", 0, 0, 0, 1, 39); r.Code != 4 || !regexp.MustCompile(want).MatchString(r.Stderr) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// If creates of one type get no response, the others continue, and the type is given up soon: its
// other objects are not attempted.
func TestATypeThatDoesNotGetThrough(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(r.URL.Path, "/configmaps") {
			return faultproxy.Respond(http.StatusServiceUnavailable, nil, "busy")
		}
		return nil
	})
	secret := strings.ReplaceAll(configMap, "ConfigMap", "Secret")
	for _, key := range []string{"", "--idempotency-key=k"} {
		input := harness.File(t, "in.yaml", strings.Repeat(configMap+"---", 40)+secret)
		args := []string{"create", "-n", ns, "-f", input, "--retry-timeout=300ms"}
		if key != "" {
			args = append(args, key)
			proxy = faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
				if strings.Contains(r.URL.Path, "/configmaps") && !r.URL.Query().Has("labelSelector") {
					return faultproxy.Respond(http.StatusServiceUnavailable, nil, "busy")
				}
				return nil
			})
		}
		r := harness.As(t, proxy.Config).Run(args...)
		want := sum(fmt.Sprintf("stopped, because several objects in a row timed out (%s)", fmt.Sprintf("configmaps in %q", ns)), 1, 0, 0, 6, 34)
		if r.Code != 4 || !regexp.MustCompile(want).MatchString(r.Stderr) || !regexp.MustCompile(`^secret/demo-`+harness.Suffix+` created\n$`).MatchString(r.Stdout) {
			t.Errorf("%+v", r)
		}
	}
}
