package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	deployed  = "genname-exporter" // the names in deploy/exporter
	namespace = "lab"
)

// truncated is the prefix of two generateNames.
var truncated = strings.Repeat("t", 58)

// lab is a control plane with an exporter and Prometheus.
type lab struct {
	*controlplane.ControlPlane
	client                             kubernetes.Interface
	dir                                string
	exporterAddress, prometheusAddress string
	version                            string // of Prometheus
	exporter, prometheus               *controlplane.Process
	stopLoad                           func()
}

// start makes the populations, and starts the programs and the load.
func start(ctx context.Context, prometheus string) (l *lab, err error) {
	dir, err := os.MkdirTemp("", "genname-alerts-")
	if err != nil {
		return nil, err
	}
	l = &lab{dir: dir, stopLoad: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.stop())
		}
	}()
	if l.ControlPlane, err = controlplane.Start(ctx, os.Stderr, controlplane.WithoutServerRetries); err != nil {
		return nil, err
	}
	if l.client, err = kubernetes.NewForConfig(l.Admin()); err != nil {
		return nil, err
	}
	if err := l.deploy(ctx); err != nil {
		return nil, err
	}
	if err := l.populate(ctx); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", l.path("kubectl-genname"), "./cmd/kubectl-genname")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the exporter: %w\n%s", err, out)
	}
	if l.exporterAddress, err = freeAddress(); err != nil {
		return nil, err
	}
	if l.prometheusAddress, err = freeAddress(); err != nil {
		return nil, err
	}
	if err := l.startExporter(); err != nil {
		return nil, err
	}
	if err := l.startPrometheus(ctx, prometheus); err != nil {
		return nil, err
	}
	l.load(ctx)
	return l, nil
}

func (l *lab) path(file string) string { return filepath.Join(l.dir, file) }

// stop ends everything. The directory stays, because it has the logs.
func (l *lab) stop() error {
	l.stopLoad()
	err := errors.Join(l.prometheus.Kill(), l.exporter.Kill())
	if l.ControlPlane != nil {
		err = errors.Join(err, l.Stop(), l.Remove())
	}
	fmt.Fprintln(os.Stderr, "logs are in", l.dir)
	return err
}

// deploy applies the manifests of the exporter, and writes a kubeconfig of its ServiceAccount.
func (l *lab) deploy(ctx context.Context) error {
	if err := controlplane.WriteKubeconfig(l.path("admin"), l.Admin()); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, l.Binaries.Kubectl, "apply", "--kubeconfig", l.path("admin"), "-k", "lab/exporter")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apply lab/exporter: %w\n%s", err, out)
	}
	token, err := l.client.CoreV1().ServiceAccounts(deployed).CreateToken(ctx, deployed,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](6 * 3600)}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return controlplane.WriteKubeconfig(l.path("exporter"), &rest.Config{
		Host: l.Servers[0].URL, BearerToken: token.Status.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: l.Admin().CAData},
	})
}

// populate makes the objects that exist before the exporter starts.
func (l *lab) populate(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := l.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	configMaps := func(prefix string, n int) {
		for range n {
			group.Go(func() error { return l.create(ctx, prefix) })
		}
	}
	configMaps("many-", 100_100)
	configMaps("fails-", 14_400)
	configMaps("steady-", 500)
	configMaps(truncated+"a-", 20)
	configMaps(truncated+"b-", 20)
	for i := range 450 { // more prefixes than series
		configMaps(fmt.Sprintf("small-%03d-", i), 10)
	}
	for range 20 {
		group.Go(func() error {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "nightly-"}}
			job.Spec.Suspend = ptr.To(true)
			job.Spec.Template.Spec = corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "a", Image: "a"}},
			}
			_, err := l.client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}

// create tries again if the name is taken, because the server doesn't.
func (l *lab) create(ctx context.Context, prefix string) error {
	_, err := l.created(ctx, prefix)
	for apierrors.IsAlreadyExists(err) {
		_, err = l.created(ctx, prefix)
	}
	return err
}

func (l *lab) created(ctx context.Context, prefix string) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
	return l.client.CoreV1().ConfigMaps(namespace).Create(ctx, cm, metav1.CreateOptions{FieldManager: "lab"})
}

// load creates and deletes objects until stopLoad. It goes on when the API server is down.
func (l *lab) load(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	l.stopLoad = func() { cancel(); running.Wait() }
	each := func(d time.Duration, do func() error) {
		running.Go(func() {
			for range time.Tick(d) {
				if ctx.Err() != nil {
					return
				}
				_ = do() // an API server that is down is a disturbance
			}
		})
	}
	remove := func(name string) error {
		return l.client.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	}
	each(600*time.Millisecond, func() error { return l.create(ctx, "leak-") }) // 100 a minute
	each(200*time.Millisecond, func() error {                                  // 300 a minute
		cm, err := l.created(ctx, "churn-")
		if err != nil {
			return err
		}
		return remove(cm.Name)
	})
	var kept []string
	each(750*time.Millisecond, func() error { // 80 a minute, deleted each ten minutes
		cm, err := l.created(ctx, "sawtooth-")
		if err != nil {
			return err
		}
		if kept = append(kept, cm.Name); len(kept) == 800 {
			for _, name := range kept {
				err = errors.Join(err, remove(name))
			}
			kept = nil
		}
		return err
	})
}

// permitJobs gives the exporter the permission for Jobs, or takes it.
func (l *lab) permitJobs(ctx context.Context, permitted bool) error {
	roles := l.client.RbacV1().ClusterRoles()
	role, err := roles.Get(ctx, deployed, metav1.GetOptions{})
	if err != nil {
		return err
	}
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Resources, "jobs")
	})
	if permitted {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{
			APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"list", "watch"},
		})
	}
	_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
	return err
}

func (l *lab) startExporter() (err error) {
	host, _, _ := net.SplitHostPort(l.exporterAddress)
	l.exporter, err = controlplane.StartProcess(l.path("exporter.log"), l.path("kubectl-genname"), nil, "exporter",
		"--kubeconfig", l.path("exporter"), "configmaps,pods,jobs.batch", "--all-namespaces",
		"--web.listen-address", l.exporterAddress, "--health.listen-address", host+":0")
	return err
}

// startPrometheus starts Prometheus with the rules of deploy/exporter, and waits until it is ready.
func (l *lab) startPrometheus(ctx context.Context, path string) error {
	build, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the version of Prometheus: %w", err)
	}
	for _, m := range append(build.Deps, &build.Main) {
		if m.Path == "github.com/prometheus/prometheus" {
			l.version = m.Version
		}
	}
	text, err := os.ReadFile("deploy/exporter/prometheus-operator/prometheusrule.yaml")
	if err != nil {
		return err
	}
	var rule struct{ Spec map[string]any }
	if err := yaml.Unmarshal(text, &rule); err != nil {
		return err
	}
	rules, err := yaml.Marshal(rule.Spec)
	if err != nil {
		return err
	}
	const config = `
rule_files: [rules.yaml]
scrape_configs:
- job_name: genname-exporter
  scrape_interval: 30s
  honor_labels: true
  static_configs: [{targets: ["%s"]}]
`
	err = errors.Join(os.WriteFile(l.path("rules.yaml"), rules, 0o600),
		os.WriteFile(l.path("prometheus.yaml"), fmt.Appendf(nil, config, l.exporterAddress), 0o600))
	if err != nil {
		return err
	}
	l.prometheus, err = controlplane.StartProcess(l.path("prometheus.log"), path, nil, "--config.file", l.path("prometheus.yaml"),
		"--storage.tsdb.path", l.path("data"), "--web.listen-address", l.prometheusAddress)
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		err := firings{}.note(ctx, l, 0)
		if err == nil || ctx.Err() != nil || time.Since(began) > time.Minute {
			return err
		}
		_ = apistatus.Sleep(ctx, 200*time.Millisecond) // the loop reads ctx
	}
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
