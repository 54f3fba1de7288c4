package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/lab/faults"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// examination is one kube-apiserver and the clients that examine it.
type examination struct {
	cp         *controlplane.ControlPlane
	client     kubernetes.Interface
	plugin     string
	kubeconfig string
}

// flags returns the connection flags of the plugin.
func (e *examination) flags(kubeconfig string) []string {
	return []string{"--kubeconfig=" + kubeconfig, "--cache-dir=" + filepath.Join(e.cp.Dir, "cache")}
}

// examine starts the server and returns the observations as a row of the table.
func (s server) examine(ctx context.Context, plugin string) (r row, err error) {
	r.server = s
	if r.attempts, err = s.countAttempts(ctx); err != nil {
		return r, fmt.Errorf("count the server's attempts: %w", err)
	}
	e, err := s.start(ctx, plugin, s.options...)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.cp.Stop(), e.cp.Remove()) }()
	if err := e.reportAttempts(ctx, &r); err != nil {
		return r, err
	}
	if err := e.faultTests(ctx, &r); err != nil {
		return r, err
	}
	if err := e.audits(ctx, &r); err != nil {
		return r, err
	}
	return r, e.watches(ctx, &r)
}

func (s server) start(ctx context.Context, plugin string, options ...controlplane.Option) (*examination, error) {
	cp, err := controlplane.Start(ctx, os.Stderr, append(options, controlplane.Version(s.version))...)
	if err != nil {
		return nil, err
	}
	e := &examination{cp: cp, plugin: plugin, kubeconfig: filepath.Join(cp.Dir, "kubeconfig")}
	config := cp.Admin()
	config.Timeout = time.Minute
	e.client, err = kubernetes.NewForConfig(config)
	return e, errors.Join(err, controlplane.WriteKubeconfig(e.kubeconfig, config))
}

// countAttempts returns the number of names that the server tries in one create if all names of the prefix exist. It
// counts the server's requests to etcd. On this server a prefix has only 27 names.
func (s server) countAttempts(ctx context.Context) (attempts int, err error) {
	e, err := s.start(ctx, "", append(s.options, controlplane.SuffixLength(1))...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.cp.Stop(), e.cp.Remove()) }()
	secrets := e.client.CoreV1().Secrets(metav1.NamespaceDefault) // the server creates no Secrets itself
	for _, c := range names.Alphabet {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "full-" + string(c)}}
		if _, err := secrets.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return 0, err
		}
	}
	before, err := e.creates(ctx)
	if err != nil {
		return 0, err
	}
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "full-"}}
	if _, err := secrets.Create(ctx, object, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return 0, fmt.Errorf("a create under a full prefix ends with %w", err)
	}
	after, err := e.creates(ctx)
	return after - before, err
}

// creates returns the number of Secrets that the server has tried to write to etcd.
func (e *examination) creates(ctx context.Context) (int, error) {
	data, err := e.client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		metric, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if strings.HasPrefix(metric, "etcd_requests_total{") && strings.Contains(metric, `operation="create"`) &&
			strings.Contains(metric, `"secrets"`) {
			var n int
			_, err := fmt.Sscan(value, &n)
			return n, err
		}
	}
	return 0, errors.New("/metrics does not count creates of secrets in etcd")
}

// run runs the plugin and decodes its output.
func (e *examination) run(ctx context.Context, kubeconfig string, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, e.plugin, append(args, e.flags(kubeconfig)...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return json.Unmarshal(out, into)
}

// reportAttempts records the number of attempts that the plugin reports to an administrator, and to a user without
// permission to read metrics.
func (e *examination) reportAttempts(ctx context.Context, r *row) (err error) {
	user := filepath.Join(e.cp.Dir, "user.kubeconfig")
	if err := controlplane.WriteKubeconfig(user, e.cp.User("user")); err != nil {
		return err
	}
	if r.admin, err = e.reportedAttempts(ctx, e.kubeconfig); err != nil {
		return err
	}
	r.user, err = e.reportedAttempts(ctx, user)
	return err
}

func (e *examination) reportedAttempts(ctx context.Context, kubeconfig string) (reportedAttempts, error) {
	var version v1alpha1.VersionReport
	if err := e.run(ctx, kubeconfig, &version, "version", "-o", "json"); err != nil {
		return reportedAttempts{}, err
	}
	if version.Server == nil || version.Server.Attempts == nil {
		return reportedAttempts{}, errors.New("version does not report how many names the server tries")
	}
	return reportedAttempts{*version.Server.Attempts, version.Server.AttemptsSource}, nil
}

// faultTests runs small fault-injection tests of create, with and without a key.
func (e *examination) faultTests(ctx context.Context, r *row) error {
	settings := faults.Full()
	settings.Plugin = e.plugin
	settings.Documents, settings.Count, settings.ServerKills = 50, 10, 1
	for _, c := range faults.Clients {
		if c.Name != "keyed" && c.Name != "keyless" {
			continue
		}
		result, err := c.Run(ctx, e.cp, settings)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, result)
		r.creates = append(r.creates, result)
		r.broken = errors.Join(r.broken, c.Check(result))
	}
	return nil
}

// audits counts all objects that the fault-injection tests have left, and compares the count of the first prefix with a
// report.
func (e *examination) audits(ctx context.Context, r *row) error {
	audit, err := faults.Audit(ctx, e.plugin, e.client, e.flags(e.kubeconfig)...)
	if err != nil {
		return err
	}
	if !audit.Complete {
		return fmt.Errorf("the audit has left out %+v", audit.Skipped)
	}
	r.audited = audit.Summary.Objects
	first := audit.Items[0]
	var odds v1alpha1.CollisionReport
	if err := e.run(ctx, e.kubeconfig, &odds, "report", "configmaps/"+first.Prefix, "-n", first.Namespace, "-o", "json"); err != nil {
		return err
	}
	if n := odds.Items[0].Existing; n != first.Names {
		r.broken = errors.Join(r.broken, fmt.Errorf("report counts %d of %s, audit %d", n, first.Prefix, first.Names))
	}
	return nil
}

// watches runs audit --watch while objects are created and deleted. No faults are injected, so the watch must see all
// of them.
func (e *examination) watches(ctx context.Context, r *row) (err error) {
	settings := faults.Full()
	settings.Plugin, settings.ServerKills, settings.Follows = e.plugin, 0, 5*time.Second
	if r.watched, err = faults.Follow(ctx, e.cp, settings, "configmaps,secrets,serviceaccounts"); err != nil {
		return err
	}
	if r.watched.Gaps > 0 {
		r.broken = errors.Join(r.broken, fmt.Errorf("a watch without faults has gaps: %s", r.watched))
	}
	return nil
}
