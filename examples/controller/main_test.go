package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/internal/testenv"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// TestMain is also the controller.
func TestMain(m *testing.M) {
	if os.Getenv("CONTROLLER") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(testenv.Run(m.Run))
}

// workers are enough for some to meet each kind of trouble.
const workers = 20

// killer kills the controller right after it has made as many Jobs as are due,
// before it hears of the last one.
type killer struct {
	mu      sync.Mutex
	process *os.Process
	due     []int
	stored  int
}

func (k *killer) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(&answered{w, k}, r) })
}

type answered struct {
	http.ResponseWriter
	killer *killer
}

func (a *answered) WriteHeader(code int) {
	a.killer.answer(code)
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (k *killer) answer(code int) {
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

// With a third of its requests for Jobs injured, and after three kills, the
// controller has made each worker once.
func TestExactlyOnce(t *testing.T) {
	cp := controlplane.New(t)
	server, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{label: ""}},
		Data:       map[string]string{"workers": strconv.Itoa(workers)},
	}
	if _, err := server.CoreV1().ConfigMaps("default").Create(t.Context(), owner, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mix := &faultproxy.Mix{Seed: 1, Rate: 0.3, Of: faultproxy.InjuriesBut("carried out after the deadline")} // a minute
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
		done = controlled(t, kubeconfig, kills)
	}
	jobs, err := server.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, job := range jobs.Items {
		found[job.Labels[label]]++
	}
	if len(jobs.Items) != workers || len(found) != workers {
		t.Errorf("%d Jobs for %d of %d workers", len(jobs.Items), len(found), workers)
	}
	if _, injuries := mix.Count(); processes != 4 || len(injuries) == 0 {
		t.Errorf("%d processes, %v", processes, injuries)
	}
}

// controlled runs the controller until all workers are there, and reports false
// if it was killed before.
func controlled(t *testing.T, kubeconfig string, kills *killer) (done bool) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-kubeconfig="+kubeconfig, "-metrics=0")
	command.Env = append(os.Environ(), "CONTROLLER=1")
	out, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	kills.mu.Lock()
	err = command.Start()
	kills.process = command.Process
	kills.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	tooLong := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
	defer tooLong.Stop()
	lines := bufio.NewScanner(io.TeeReader(out, t.Output()))
	for !done && lines.Scan() {
		done = strings.Contains(lines.Text(), "All workers are there")
	}
	_ = command.Process.Kill()
	_ = command.Wait() // it was killed
	return done
}
