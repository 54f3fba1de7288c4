package wrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Only the user can read the kubeconfig. It has the names of the context, and is gone at the end.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	saved := filepath.Join(t.TempDir(), "saved")
	r := shell(t, server.Admin(), ns).Run("kubectl", "genname", "wrap", "--", "bash", "-c",
		`cp -a "$(dirname "$KUBECONFIG")" `+saved+`; echo "$KUBECONFIG"; kubectl config view --minify --output 'jsonpath={..namespace}'`)
	lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	if len(lines) != 2 || lines[1] != ns {
		t.Fatalf("%q, want two lines, the second %s: %+v", lines, ns, r)
	}
	path := filepath.Join(saved, "config")
	for of, want := range map[string]os.FileMode{saved: 0o700, path: 0o600} {
		if info, err := os.Stat(of); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %o", of, info.Mode(), err, want)
		}
	}
	if _, err := os.Stat(filepath.Dir(lines[0])); !os.IsNotExist(err) {
		t.Errorf("the directory of the kubeconfig is still there: %v", err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		if !strings.HasPrefix(cluster.Server, "https://127.0.0.1:") || cluster.CertificateAuthorityData == nil {
			t.Errorf("the proxy is %s, want TLS on 127.0.0.1 with a certificate in the kubeconfig", cluster.Server)
		}
	}
	for _, user := range config.AuthInfos {
		if len(user.Token) != 26 || user.ClientKeyData != nil || user.Exec != nil {
			t.Errorf("the kubeconfig has other credentials than a token of 130 bits")
		}
	}
}
