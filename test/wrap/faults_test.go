// Package wrap runs programs under kubectl genname wrap, against a real kube-apiserver.
package wrap

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// server is a server that tries one name per create, so that a conflict reaches the client.
var server *controlplane.ControlPlane

func TestMain(m *testing.M) {
	// os.Exit would make a test binary that counts coverage print a warning.
	if name := os.Getenv(asProgram); name != "" {
		program(name)()
		syscall.Exit(0)
	}
	os.Exit(harness.Main(m, harness.Server{ControlPlane: &server, Shared: "single"}))
}

const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: demo-}, data: {a: b}}`

// shell returns the shell of a user whose context has the namespace.
func shell(t *testing.T, config *rest.Config, namespace string) harness.Shell {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := controlplane.WriteKubeconfigIn(path, namespace, config); err != nil {
		t.Fatal(err)
	}
	return harness.NewShell(t, path)
}

// refusals are the faults after which kubectl reports the server's refusal, as without wrap. The first can be about an
// object that the created one refers to. After the second, the server stores an earlier copy of the POST.
var refusals = map[string]string{
	"another object's 404": "NotFound", "stored after a second copy was refused": "Forbidden",
}

// Whatever fault hits the create of kubectl, one object exists and kubectl reports it as created.
func TestFaults(t *testing.T) {
	t.Parallel()
	created := regexp.MustCompile(`^configmap/demo-` + harness.Suffix + ` created\n$`)
	for i, fault := range faultproxy.Faults {
		protocol := faultproxy.HTTP2
		if i%2 == 1 && !fault.HTTP2Only {
			protocol = faultproxy.HTTP1
		}
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, server)
			proxy, err := faultproxy.Start(protocol, server.Admin(), harness.First(1, fault.Fault)())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(proxy.Close)
			args := []string{"genname", "wrap"}
			if strings.HasSuffix(fault.Name, "after the deadline") {
				args = append(args, "--request-timeout=6s")
			}
			r := shell(t, proxy.Config, ns).Run("kubectl", append(args, "--",
				"kubectl", "create", "-f", harness.File(t, "cm.yaml", configMap))...)
			proxy.Wait()
			found := harness.ConfigMaps(t, server, ns)
			if reason, refused := refusals[fault.Name]; refused {
				if r.Code != 1 || !strings.Contains(r.Stderr, reason) {
					t.Errorf("%+v, want code 1 and %q", r, reason)
				}
				return
			}
			if r.Code != 0 || len(found) != 1 || !created.MatchString(r.Stdout) || r.Stderr != "" {
				t.Errorf("%+v, %d objects", r, len(found))
			}
		})
	}
}
