package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	wholeObject = 12 << 10 // bytes of an object, most of which an audit does not request
	// betweenRequests is the time that the other client waits between two small requests.
	betweenRequests = 20 * time.Millisecond
	idleRequests    = 200
	// settled is the time without growth after which the memory of a new server counts as stable.
	settled = 3 * time.Second
	// mostGrowth is the bar of the server's growth, divided by that under kubectl. A growth is the garbage that the
	// server has at its next collection. So it varies by a factor of up to 7 between repetitions of the same requests.
	mostGrowth = 2.2
)

// inOneNamespace measures the load that an audit of large objects in one namespace causes on a server that reads
// pages from etcd. inManyNamespaces measures it with many namespaces.
func inOneNamespace(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	return b.manners(ctx, cp, 1)
}

func inManyNamespaces(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	return b.manners(ctx, cp, b.size(2_000))
}

// manners measures the load that the audit and kubectl cause, on the server and on the small requests of another
// client. No user is exempt from API Priority and Fairness. The server restarts before each run, so that earlier runs
// have no effect.
func (b *bench) manners(ctx context.Context, cp *controlplane.ControlPlane, namespaces int) (string, error) {
	user, err := ordinaryUser(ctx, cp)
	if err != nil {
		return "", err
	}
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), user); err != nil {
		return "", err
	}
	p := population{"configmaps", "ConfigMap", b.size(60_000), namespaces, 0, wholeObject, nil}
	if err := p.storeCold(ctx, cp); err != nil {
		return "", err
	}
	kubectl := b.command(func(stdout string) error {
		if lines := strings.Count(stdout, "nightly-report-"); lines != p.objects {
			return fmt.Errorf("%d lines, want %d", lines, p.objects)
		}
		return nil
	}, cp.Binaries.Kubectl, "get", "configmaps", "-A", "--chunk-size=500")
	ways := []*imposition{
		{name: "`kubectl get configmaps -A --chunk-size=500`", way: kubectl},
		{name: "`kubectl genname audit configmaps -A`", way: b.audits(p.objects, "configmaps", "-A")},
		{name: "`kubectl genname audit configmaps -A --polite`", way: b.audits(p.objects, "configmaps", "-A", "--polite")},
	}
	for n := range min(b.runs, 3) {
		for _, i := range ways {
			if err := i.measure(ctx, cp, user); err != nil {
				return "", fmt.Errorf("%s: %w", i.name, err)
			}
			logf("%d %s", n+1, i)
		}
	}
	where := "in one namespace"
	if namespaces > 1 {
		where = fmt.Sprintf("over %s namespaces", humanize.Grouped(namespaces))
	}
	return fmt.Sprintf("### %s ConfigMaps of 12 KB %s, kube-apiserver %s\n\n%s",
		humanize.Grouped(p.objects), where, b.old, b.mannersTable(ways)), nil
}

func (b *bench) mannersTable(ways []*imposition) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %d repetitions | time | growth of the server's memory | time of another client's small request | that time / the time on an idle server |\n|---|---|---|---|---|\n",
		len(ways[0].seconds))
	for _, i := range ways {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", i.name,
			i.seconds.in("%.1f", "s"), i.growth.in("%.0f", "MB"), i.wait.in("%.1f", "ms"), i.ofIdle.in("%.2f", "times"))
	}
	kubectl, audit, polite := ways[0], ways[1], ways[2]
	growth := func(of *imposition) float64 { return of.growth.median() / kubectl.growth.median() }
	return text.String() + "\n" + b.compare(
		comparison{"growth of kube-apiserver's memory, audit / kubectl", growth(audit), mostGrowth},
		comparison{"growth of kube-apiserver's memory, audit with `--polite` / kubectl", growth(polite), mostGrowth},
		comparison{"time of a small request, during the audit / on an idle server", audit.ofIdle.median(), 1.5},
		comparison{"time of a small request, during the audit with `--polite` / on an idle server", polite.ofIdle.median(), 1.5},
		comparison{"time, audit / kubectl", audit.seconds.median() / kubectl.seconds.median(), 1. / 5})
}

// imposition is one way to read the objects, and the load that it causes on the server and on another client.
type imposition struct {
	name string
	way  func(context.Context) (sample, error)

	seconds, growth, wait, ofIdle series // s, MB, ms, 1
}

func (i *imposition) String() string {
	last := len(i.seconds) - 1
	return fmt.Sprintf("%-50s %7.2f s, the server grows by %5.0f MB, others wait %5.1f ms, %.2f of idle",
		i.name, i.seconds[last], i.growth[last], i.wait[last], i.ofIdle[last])
}

// measure measures the way once, on a server that has just started.
func (i *imposition) measure(ctx context.Context, cp *controlplane.ControlPlane, user *rest.Config) error {
	if err := errors.Join(cp.Servers[0].Kill(), cp.Servers[0].Start(ctx)); err != nil {
		return err
	}
	pid, err := serverProcess()
	if err != nil {
		return err
	}
	before, err := settledMemory(ctx, pid)
	if err != nil {
		return err
	}
	idle, _, err := waits(ctx, user, pid, idleRequests)
	if err != nil {
		return err
	}
	busy, stop := context.WithCancel(ctx)
	defer stop()
	var s sample
	done := make(chan error, 1)
	go func() {
		var err error
		s, err = i.way(ctx)
		stop()
		done <- err
	}()
	wait, most, err := waits(busy, user, pid, 0)
	if err := errors.Join(err, <-done); err != nil {
		return err
	}
	i.seconds = append(i.seconds, s.Seconds)
	i.growth = append(i.growth, (most-before)/1e6)
	i.wait = append(i.wait, wait.median())
	i.ofIdle = append(i.ofIdle, wait.median()/idle.median())
	return nil
}

// waits sends n small requests, or as many as it can until ctx is done if n is 0. waits returns the duration of each
// in milliseconds, and the peak memory of the server in that time.
func waits(ctx context.Context, user *rest.Config, pid, n int) (waits series, most float64, err error) {
	client, err := kubernetes.NewForConfig(user)
	if err != nil {
		return nil, 0, err
	}
	for (n == 0 || len(waits) < n) && ctx.Err() == nil {
		began := time.Now()
		_, err := client.CoreV1().Namespaces().Get(context.WithoutCancel(ctx), "default", metav1.GetOptions{})
		if err != nil {
			return nil, 0, err
		}
		waits = append(waits, float64(time.Since(began).Microseconds())/1e3)
		memory, err := residentMemory(pid)
		if err != nil {
			return nil, 0, err
		}
		most = max(most, memory)
		time.Sleep(betweenRequests)
	}
	return waits, most, nil
}

// settledMemory waits until the memory of a new server stops growing, and returns it.
func settledMemory(ctx context.Context, pid int) (memory float64, err error) {
	for since := time.Now(); time.Since(since) < settled && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		now, err := residentMemory(pid)
		if err != nil {
			return 0, err
		}
		if now > 1.01*memory {
			memory, since = now, time.Now()
		}
	}
	return memory, ctx.Err()
}

// residentMemory returns the resident memory of a process in bytes (proc(5): the second number of statm, in pages).
func residentMemory(pid int) (float64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(content))[1])
	return float64(pages * os.Getpagesize()), err
}

// serverProcess returns the ID of the kube-apiserver that this process has started.
func serverProcess() (int, error) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil { // it has ended
			continue
		}
		before, rest, _ := strings.Cut(string(content), ") ")
		id, name, _ := strings.Cut(before, " (")
		if fields := strings.Fields(rest); name == "kube-apiserver" && fields[0] != "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			return strconv.Atoi(id)
		}
	}
	return 0, errors.New("no kube-apiserver runs")
}

// ordinaryUser has permission for everything, and is not exempt from API Priority and Fairness.
func ordinaryUser(ctx context.Context, cp *controlplane.ControlPlane) (*rest.Config, error) {
	const name = "bench"
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return nil, err
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}, metav1.CreateOptions{})
	return cp.User(name), err
}
