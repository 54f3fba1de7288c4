// Package e2e runs the commands, as a user's words on a command line, against
// real API servers, and compares what they print, their exit codes, and what
// is in the cluster after them.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/testenv"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// The two servers: one that retries generated names by itself, as 1.32 and
// later do, and one that does not.
var retrying, single *controlplane.ControlPlane

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("-short: all of test/e2e is skipped, because it needs a control plane")
		return
	}
	os.Exit(testenv.Run(func() int {
		code, err := runOnServers(m)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		return code
	}))
}

func runOnServers(m *testing.M) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, server := range []struct {
		cp      **controlplane.ControlPlane
		options []controlplane.Option
	}{{&retrying, nil}, {&single, []controlplane.Option{controlplane.WithoutServerRetries}}} {
		cp, err := controlplane.Start(ctx, os.Stderr, server.options...)
		if err != nil {
			return 1, err
		}
		*server.cp = cp
		defer func() {
			err = errors.Join(err, cp.Stop())
			if code == 0 {
				err = errors.Join(err, cp.Remove())
			} else {
				fmt.Fprintln(os.Stderr, "logs are in", cp.Dir)
			}
		}()
	}
	return m.Run(), nil
}

// result is what a run of the plugin left.
type result struct {
	stdout, stderr string
	code           int
}

// user runs the plugin with the credentials of one user.
type user struct {
	t          *testing.T
	kubeconfig string
	ctx        context.Context
}

// as makes a user of the configuration.
func as(t *testing.T, config *rest.Config) user {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	return user{t, path, t.Context()}
}

// run runs kubectl genname with args. What it prints for machines is as the
// published schemas have it.
func (u user) run(args ...string) result {
	u.t.Helper()
	var out, errOut bytes.Buffer
	code := cmd.Execute(u.ctx, append(args, "--kubeconfig="+u.kubeconfig, "--cache-dir="+filepath.Dir(u.kubeconfig)),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	schema.Check(u.t, out.String())
	return result{out.String(), errOut.String(), code}
}

// expect compares a result with regular expressions of the whole of stdout
// and of stderr, and with the exit code.
func (r result) expect(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, stream := range []struct{ name, got, want string }{{"stdout", r.stdout, stdout}, {"stderr", r.stderr, stderr}} {
		if !regexp.MustCompile(`^(?s:` + stream.want + `)$`).MatchString(stream.got) {
			t.Errorf("%s is\n%s\nwant\n%s", stream.name, stream.got, stream.want)
		}
	}
}

// suffix matches the random part of a generated name.
const suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}"

// file writes content under name into a folder of the test and returns the
// path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func clientset(t *testing.T, cp *controlplane.ControlPlane) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// namespace makes a namespace of the test's own.
func namespace(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	ns, err := clientset(t, cp).CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// configMaps lists the ConfigMaps of a namespace.
func configMaps(t *testing.T, cp *controlplane.ControlPlane, namespace string) []corev1.ConfigMap {
	t.Helper()
	list, err := clientset(t, cp).CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// grant binds verbs on resources in a namespace to the user called name.
func grant(t *testing.T, cp *controlplane.ControlPlane, namespace, name string, verbs []string, resources ...string) {
	t.Helper()
	rbac := clientset(t, cp).RbacV1()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: resources, Verbs: verbs}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{Kind: "Role", APIGroup: rbacv1.GroupName, Name: name},
	}
	_, err := rbac.Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{})
	_, err2 := rbac.RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
}

// eventually repeats try until it succeeds, for half a minute at most.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for range 300 {
		if err = try(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(err)
}
