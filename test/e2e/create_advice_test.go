package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

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
			admin.Run(args("first")...).Expect(t, 0, oneCreated, ``)
		}
		return nil
	})
	harness.As(t, proxy.Config).Run(args("second")...).Expect(t, 1, ``, `error: error when creating [^\n]*: "demo-`+harness.Suffix+`" exists, and another input created it with the same key\n`+
		harness.Printed("Runs with different input have used this key: it has 0 objects with the content of the input, and 1 with other content.\n"+
			"Use a new key. Or delete the objects with other content, and run the same command again:")+
		`  kubectl delete configmaps demo-`+harness.Suffix+` -n `+ns+`\n`)
	expectConfigMaps(t, ns, 1)
}
