package wrap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Each of several proxies protects its own program, also if one is the server of another.
func TestSeveralProxies(t *testing.T) {
	t.Parallel()
	const wrap, create = "kubectl genname wrap -- ", "kubectl create -f $FILE -o name"
	for name, test := range map[string]struct {
		script  string
		objects int
	}{
		"one in another":    {wrap + wrap + create, 1},
		"beside each other": {wrap + create + " & " + wrap + "bash -c '" + create + "; " + create + "' && wait $!", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, server)
			s := shell(t, faultproxy.New(t, server.Admin(), harness.First(9, faultproxy.DropResponse)()).Config, ns)
			s.Env = append(s.Env, "FILE="+harness.File(t, "cm.yaml", configMap))
			s.Run("bash", "-c", test.script).Expect(t, 0, fmt.Sprintf(`(configmap/demo-\w+\n){%d}`, test.objects), "")
			harness.ExpectConfigMaps(t, server, ns, test.objects)
		})
	}
}

// No create is lost if the API server is killed and started again.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	ns := harness.Namespace(t, cp)
	cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "--", os.Args[0])
	cmd.Env = slices.Concat(shell(t, cp.Admin(), ns).Env, []string{asProgram + "=one by one"})
	var stderr strings.Builder
	cmd.Stderr = &stderr
	lines := bufio.NewScanner(start(t, cmd))
	for i := 0; lines.Scan(); i++ {
		if !strings.HasPrefix(lines.Text(), "201 demo-") {
			t.Errorf("create %d: %s", i, lines.Text())
		}
		if i == 10 || i == many/2 { // while the program goes on
			if err := errors.Join(cp.Servers[0].Kill(), cp.Servers[0].Start(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || stderr.String() != "" {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	harness.ExpectConfigMaps(t, cp, ns, many)
}

// A credential plugin can ask the user on the terminal, as without wrap.
func TestInteractivePlugin(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Header.Get("Authorization") != "Bearer typed" {
			return faultproxy.Respond(http.StatusUnauthorized, nil, "")
		}
		r.Header.Del("Authorization")
		return nil
	})
	plugin := harness.File(t, "plugin", `printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",`+
		`"status":{"token":"%s"}}' "$(head -n 1)"`)
	s := shell(t, proxy.Config, ns)
	s.Run("bash", "-c", "kubectl config set-context --current --user=a && "+
		"kubectl config set-credentials a --exec-interactive-mode=Always --exec-command=sh --exec-arg="+plugin+
		" --exec-api-version=client.authentication.k8s.io/v1").Has(t, 0)
	cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "--", "kubectl", "create", "-f",
		harness.File(t, "cm.yaml", configMap), "-o", "name")
	cmd.Env = s.Env
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	if _, err := io.WriteString(terminal, "typed\n"); err != nil {
		t.Fatal(err)
	}
	printed, _ := io.ReadAll(terminal) // the end of a terminal is an error
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
	harness.ExpectConfigMaps(t, server, ns, 1)
}
