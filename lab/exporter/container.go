package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// readyTimeout limits the time of a first count.
const readyTimeout = 5 * time.Minute

// exporter is a container of the image, as in the Deployment.
type exporter struct {
	lab   *lab
	spec  corev1.Container
	flags []string // of the container runtime
	name  string   // name of the container; empty before its start
}

func newExporter(l *lab) (*exporter, error) {
	pod := l.deployment.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		return nil, errors.New("the Deployment has more than one container")
	}
	return &exporter{lab: l, spec: pod.Containers[0], flags: runFlags(pod)}, nil
}

// runFlags returns the flags of a container runtime for the settings of a Pod.
func runFlags(pod corev1.PodSpec) (flags []string) {
	user := ptr.Deref(pod.SecurityContext, corev1.PodSecurityContext{})
	flags = append(flags, fmt.Sprintf("--user=%d:%d", ptr.Deref(user.RunAsUser, 0), ptr.Deref(user.RunAsGroup, 0)))
	c := pod.Containers[0]
	for _, env := range c.Env {
		flags = append(flags, "--env="+env.Name+"="+env.Value)
	}
	if limit := c.Resources.Limits.Memory(); !limit.IsZero() {
		flags = append(flags, "--memory="+strconv.FormatInt(limit.Value(), 10), "--memory-swap="+strconv.FormatInt(limit.Value(), 10))
	}
	security := ptr.Deref(c.SecurityContext, corev1.SecurityContext{})
	if ptr.Deref(security.ReadOnlyRootFilesystem, false) {
		flags = append(flags, "--read-only")
	}
	if !ptr.Deref(security.AllowPrivilegeEscalation, true) {
		flags = append(flags, "--security-opt=no-new-privileges")
	}
	for _, capability := range ptr.Deref(security.Capabilities, corev1.Capabilities{}).Drop {
		flags = append(flags, "--cap-drop="+string(capability))
	}
	return flags
}

// start starts a new container.
func (e *exporter) start(ctx context.Context) error {
	e.name = fmt.Sprintf("genname-exporter-%d", os.Getpid())
	server, err := url.Parse(e.lab.Servers[0].URL)
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"run", "--detach", "--name=" + e.name, "--pull=never", "--network=host"}, e.flags, []string{
		"--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096",
		"--env=KUBERNETES_SERVICE_HOST=" + server.Hostname(), "--env=KUBERNETES_SERVICE_PORT=" + server.Port(),
		"--volume=" + e.lab.account + ":/var/run/secrets/kubernetes.io/serviceaccount:ro", e.spec.Image,
	}, e.spec.Args)
	logf("%s %s", e.lab.container, strings.Join(args, " "))
	_, err = e.runtime(ctx, args...)
	return err
}

// runtime runs podman or docker, and returns its output.
func (e *exporter) runtime(ctx context.Context, args ...string) (string, error) {
	if strings.HasSuffix(e.lab.container, "podman") {
		args = append([]string{"--cgroup-manager=cgroupfs"}, args...)
	}
	out, err := exec.CommandContext(ctx, e.lab.container, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", e.lab.container, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// stop ends the container by SIGTERM, as a kubelet does, and checks that it exits with 0.
func (e *exporter) stop(ctx context.Context) error {
	if _, err := e.runtime(ctx, "stop", "--time=30", e.name); err != nil {
		return err
	}
	code, err := e.runtime(ctx, "inspect", "--format={{.State.ExitCode}}", e.name)
	if err == nil && code != "0" {
		err = errors.New("the exporter exited with code " + code)
	}
	return err
}

// remove removes the container, and keeps its log.
func (e *exporter) remove() error {
	if e == nil || e.name == "" {
		return nil
	}
	logs, _ := e.runtime(context.Background(), "logs", e.name)
	_, err := e.runtime(context.Background(), "rm", "--force", e.name)
	return errors.Join(err, os.WriteFile(e.lab.path(e.name+".log"), []byte(logs), 0o600))
}

// get requests a path of a named port.
func (e *exporter) get(ctx context.Context, port, path string) ([]byte, error) {
	at := slices.IndexFunc(e.spec.Ports, func(p corev1.ContainerPort) bool { return p.Name == port })
	address := fmt.Sprintf("http://127.0.0.1:%d%s", e.spec.Ports[at].ContainerPort, path)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status code %d", address, response.StatusCode)
	}
	return body, err
}

// waitReady polls the probes as a kubelet does until they succeed, and returns the duration.
func (e *exporter) waitReady(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := eventually(ctx, readyTimeout, func() (err error) {
		for _, p := range []*corev1.Probe{e.spec.LivenessProbe, e.spec.ReadinessProbe} {
			_, failed := e.get(ctx, p.HTTPGet.Port.StrVal, p.HTTPGet.Path)
			err = errors.Join(err, failed)
		}
		return err
	})
	return time.Since(began), err
}

// scrape returns the metrics, and the duration of the scrape.
func (e *exporter) scrape(ctx context.Context) ([]byte, time.Duration, error) {
	began := time.Now()
	text, err := e.get(ctx, "metrics", "/metrics")
	return text, time.Since(began), err
}

// highWater returns the maximum of the container's resident memory so far, in bytes.
func (e *exporter) highWater(ctx context.Context) (int64, error) {
	pid, err := e.runtime(ctx, "inspect", "--format={{.State.Pid}}", e.name)
	if err != nil {
		return 0, err
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	_, err = fmt.Sscan(rest, &kilobytes)
	return kilobytes << 10, err
}

// eventually calls try until it succeeds, for at most the duration most.
func eventually(ctx context.Context, most time.Duration, try func() error) error {
	for began := time.Now(); ; {
		err := try()
		if err == nil || ctx.Err() != nil || time.Since(began) > most {
			return errors.Join(err, ctx.Err())
		}
		_ = apistatus.Sleep(ctx, 200*time.Millisecond)
	}
}
