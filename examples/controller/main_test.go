package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedbatchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// TestMain also runs the controller.
func TestMain(m *testing.M) {
	if os.Getenv("CONTROLLER") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// workers is the number of Jobs. It is large enough for each fault to occur.
const workers = 20

// killer kills the controller after the server has stored as many Jobs as are due, and
// before the controller receives the response.
type killer struct {
	mu      sync.Mutex
	process *os.Process
	due     []int
	stored  int
}

func (k *killer) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(&observed{w, k}, r) })
}

type observed struct {
	http.ResponseWriter
	killer *killer
}

func (o *observed) WriteHeader(code int) {
	o.killer.observe(code)
	o.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (k *killer) observe(code int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if code != http.StatusCreated {
		return
	}
	k.stored++
	if len(k.due) > 0 && k.stored >= k.due[0] {
		k.due = k.due[1:]
		_ = k.process.Kill()
	}
}

// The controller creates each Job once, although 25% of its requests for Jobs have
// faults and it is killed three times.
func TestExactlyOnce(t *testing.T) {
	cp := controlplane.New(t)
	server, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for i := range workers {
		names = append(names, strconv.Itoa(i))
	}
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{label: ""}},
		Data:       map[string]string{"workers": strings.Join(names, " ")},
	}
	if _, err := server.CoreV1().ConfigMaps("default").Create(t.Context(), owner, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mix := &faultproxy.Mix{Seed: 1, Rate: 0.25, Of: faultproxy.FaultsBut("carried out after the deadline")} // a minute
	kills := &killer{due: []int{5, 10, 15}}
	proxy := faultproxy.New(t, cp.Admin(), func(r *http.Request) faultproxy.Fault {
		if !strings.Contains(r.URL.Path, "/jobs") || r.URL.Query().Get("watch") != "" {
			return nil
		}
		fault := mix.Choose(r)
		if r.Method != http.MethodPost {
			return fault
		}
		return func(next http.Handler) http.Handler {
			if fault == nil {
				return kills.watch(next)
			}
			return fault(kills.watch(next))
		}
	})
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, proxy.Config); err != nil {
		t.Fatal(err)
	}
	processes := 0
	for done := false; !done; processes++ {
		if processes > 3 {
			t.Fatal("the controller ends without being killed")
		}
		done = controlled(t, kubeconfig, kills, server.BatchV1().Jobs("default"))
	}
	proxy.Wait()
	found := map[string]int{}
	jobs := jobsOf(t, server.BatchV1().Jobs("default"), found)
	if jobs != workers || len(found) != workers {
		t.Errorf("%d Jobs for %d of %d workers", jobs, len(found), workers)
	}
	if _, faults := mix.Count(); processes != 4 || len(faults) == 0 {
		t.Errorf("%d processes, %v", processes, faults)
	}
}

// jobsOf counts the Jobs of each worker, and returns the number of all Jobs.
func jobsOf(t *testing.T, jobs typedbatchv1.JobInterface, found map[string]int) int {
	t.Helper()
	list, err := jobs.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range list.Items {
		found[job.Labels[label]]++
	}
	return len(list.Items)
}

// controlled runs the controller until each worker has a Job. It returns false if the
// controller was killed before.
func controlled(t *testing.T, kubeconfig string, kills *killer, jobs typedbatchv1.JobInterface) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, os.Args[0], "-kubeconfig="+kubeconfig, "-metrics=0")
	command.Env = append(os.Environ(), "CONTROLLER=1")
	command.Stderr = t.Output()
	found := map[string]int{}
	events, err := jobs.Watch(ctx, metav1.ListOptions{}) // with the Jobs that exist
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	kills.mu.Lock()
	err = command.Start()
	kills.process = command.Process
	kills.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it is killed
		close(ended)
	}()
	for len(found) < workers {
		select {
		case event := <-events.ResultChan():
			if job, ok := event.Object.(*batchv1.Job); ok {
				found[job.Labels[label]]++
			}
		case <-ended:
			return false
		}
	}
	_ = command.Process.Kill()
	<-ended
	return true
}
