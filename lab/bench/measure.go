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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// created is one document of the file to create.
const created = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"bench-","labels":{"app":"bench"}},"data":{"key":"value"}}` + "\n---\n"

// sample is one run of a command.
type sample struct {
	Seconds float64
	CPU     float64 // seconds of all processors
	MaxRSS  int64   // bytes, of the command's largest process
	Stdout  string

	withServers float64 // CPU and that of the servers
	grows       float64 // bytes of the memory of kube-apiserver
	waits       series  // milliseconds of small requests of another client
}

// series is a list of repeated measurements of one value.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// measure runs the ways in turns, so that other load on the machine affects all of them. It drops the first turn,
// because a server that has just started reads the first lists from etcd.
func (b *bench) measure(ctx context.Context, m measurement) (r results, err error) {
	cp, err := controlplane.Start(ctx, os.Stderr, controlplane.Version(m.version))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	other, err := b.prepare(ctx, cp)
	if err != nil {
		return nil, err
	}
	m.objects.Prefixes = max(1, int(float64(m.objects.Prefixes)*b.scale))
	n := m.objects.N()
	if n > 0 {
		err = m.objects.Store(ctx, cp)
	} else {
		n = int(float64(m.documents) * b.scale)
		err = os.WriteFile(b.paths["FILE"], []byte(strings.Repeat(created, n)), 0o600)
	}
	if err != nil {
		return nil, err
	}
	r = make(results, len(m.ways))
	for turn := range b.runs + 1 {
		for i, way := range m.ways {
			s, err := b.sample(ctx, cp, m, way, other)
			if found := way.count(s.Stdout); err == nil && (found < n || found > n+ownObjects) {
				err = fmt.Errorf("%d objects were found, want %d", found, n)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			fmt.Fprintf(os.Stderr, "%-60s %7.2f s\n", way.name, s.Seconds)
			if turn > 0 {
				r[i] = append(r[i], s)
			}
		}
	}
	return r, nil
}

// ownObjects is the largest number of ConfigMaps that a new server makes.
const ownObjects = 10

// prepare writes the kubeconfig of a user with permission for everything. Unlike an administrator, the user is not
// exempt from API Priority and Fairness. prepare returns another client of this user.
func (b *bench) prepare(ctx context.Context, cp *controlplane.ControlPlane) (kubernetes.Interface, error) {
	const name = "bench"
	admin, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return nil, err
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	b.paths["kubectl"] = cp.Binaries.Kubectl
	user := cp.User(name)
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), user); err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(user)
}

func (b *bench) kubeconfig() string { return filepath.Join(b.dir, "kubeconfig") }

// sample runs a way once. If the section measures the load on the server, the server has just started. Otherwise sample
// collects its garbage, because a collection takes 0.2 s of a processor, and happens about once per 1,000 creates.
func (b *bench) sample(ctx context.Context, cp *controlplane.ControlPlane, m measurement, way way, other kubernetes.Interface) (sample, error) {
	if slices.ContainsFunc(m.columns, func(c column) bool { return c.title == growth.title }) {
		if err := errors.Join(cp.Servers[0].Kill(), cp.Servers[0].Start(ctx)); err != nil {
			return sample{}, err
		}
		return b.observed(ctx, way, other)
	}
	if _, err := other.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		return sample{}, err
	}
	before := cpuSeconds()
	s, err := b.child(ctx, way)
	s.withServers = cpuSeconds() - before
	return s, err
}

// child runs the command of a way, and measures it.
func (b *bench) child(ctx context.Context, way way) (s sample, err error) {
	var args []string
	for word := range strings.FieldsSeq(way.line) {
		if path, is := b.paths[word]; is {
			word = path
		}
		args = append(args, word)
	}
	cmd := exec.CommandContext(ctx, b.measurer, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig(), "KUBECACHEDIR="+b.dir)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return s, fmt.Errorf("%w\n%s", err, errOut.String())
	}
	return s, json.Unmarshal(out.Bytes(), &s)
}

const (
	betweenRequests = 20 * time.Millisecond // of the other client
	settled         = 3 * time.Second       // without growth, after which the memory of a new server counts as stable
)

// observed runs a way beside another client, which sends small requests. It also measures the memory of the server. The
// growth includes garbage that the server collects later. So it varies by a factor of up to 7 between repetitions.
func (b *bench) observed(ctx context.Context, way way, other kubernetes.Interface) (s sample, err error) {
	var before, most float64
	for since := time.Now(); time.Since(since) < settled && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if now := serverMemory(); now > 1.01*before {
			before, since = now, time.Now()
		}
	}
	done := make(chan error, 1)
	go func() {
		var err error
		s, err = b.child(ctx, way)
		done <- err
	}()
	var waits series
	for {
		began := time.Now()
		if _, err := other.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return s, errors.Join(err, <-done)
		}
		waits, most = append(waits, float64(time.Since(began).Microseconds())/1e3), max(most, serverMemory())
		select {
		case err := <-done:
			s.waits, s.grows = waits, most-before
			return s, err
		case <-time.After(betweenRequests):
		}
	}
}

// process is a child of this process that runs.
type process struct {
	name    string
	seconds float64 // of all processors
	memory  float64 // resident bytes
}

// children reads /proc/PID/stat of all children. In proc(5), field 4 is the parent, 14 and 15 are the times in
// hundredths of a second, and 24 is the resident memory in pages.
func children() (found []process) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		content, _ := os.ReadFile(path) // empty if it has ended
		before, rest, _ := strings.Cut(string(content), ") ")
		_, name, _ := strings.Cut(before, " (")
		fields := strings.Fields(rest) // from the third
		if len(fields) < 22 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		number := func(field int) float64 { value, _ := strconv.ParseFloat(fields[field-3], 64); return value }
		found = append(found, process{name, (number(14) + number(15)) / 100, number(24) * float64(os.Getpagesize())})
	}
	return found
}

func serverMemory() (bytes float64) {
	for _, p := range children() {
		if p.name == "kube-apiserver" {
			bytes = max(bytes, p.memory)
		}
	}
	return bytes
}

// cpuSeconds returns the processor time that all children have used, including children that have ended. Other load on
// the machine increases processor time a little and elapsed time a lot.
func cpuSeconds() float64 {
	var ended syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ended) // fails only for a wrong argument
	total := float64(ended.Utime.Sec+ended.Stime.Sec) + float64(ended.Utime.Usec+ended.Stime.Usec)/1e6
	for _, p := range children() {
		total += p.seconds
	}
	return total
}
