package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// TestMain also runs the controller.
func TestMain(m *testing.M) {
	if os.Getenv("CONTROLLER") != "" {
		main()
	}
	os.Exit(m.Run())
}

// Two processes create each Job once, although 25% of their requests for Jobs have faults. When the server has stored
// a quarter of the Jobs, both are killed before one of them gets the response, and two others start.
func TestTwoProcesses(t *testing.T) {
	cp := controlplane.New(t)
	server := kubernetes.NewForConfigOrDie(cp.Admin())
	workers := strings.Fields("a b c d e f g h i j k l m n o p q r s t") // enough for each fault to occur
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: demo.Name, Labels: map[string]string{label: ""}},
		Data:       map[string]string{"workers": strings.Join(workers, " ")},
	}
	if _, err := server.CoreV1().ConfigMaps(demo.Namespace).Create(t.Context(), owner, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mix := &faultproxy.Mix{Seed: 1, Rate: 0.25, Of: faultproxy.FaultsBut("carried out after the deadline")} // a minute
	first, killFirst := context.WithTimeout(t.Context(), 5*time.Minute)
	defer killFirst()
	var stored atomic.Int32
	proxy := faultproxy.New(t, cp.Admin(), func(r *http.Request) faultproxy.Fault {
		if !strings.Contains(r.URL.Path, "/jobs") || r.URL.Query().Get("watch") != "" {
			return nil
		}
		return faultproxy.Observe(mix.Choose(r), func(code int) {
			if code == http.StatusCreated && stored.Add(1) == int32(len(workers)/4) {
				killFirst()
				<-r.Context().Done()
			}
		})
	})
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, proxy.Config); err != nil {
		t.Fatal(err)
	}
	start := func(ctx context.Context) *sync.WaitGroup {
		var processes sync.WaitGroup
		for range 2 {
			processes.Go(func() {
				command := exec.CommandContext(ctx, os.Args[0], "-kubeconfig="+kubeconfig, "-metrics=0")
				command.Env, command.Stderr = append(os.Environ(), "CONTROLLER=1"), t.Output()
				t.Log(command.Run()) // until it is killed
			})
		}
		return &processes
	}
	start(first).Wait()
	if n := int(stored.Load()); n < len(workers)/4 || n >= len(workers) {
		t.Fatalf("the first processes ended with %d Jobs", n)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	processes := start(ctx)
	found := map[string]int{}
	count := func(ctx context.Context) (all bool, err error) {
		jobs, err := server.BatchV1().Jobs(demo.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		clear(found)
		for _, job := range jobs.Items {
			found[job.Labels[label]]++
		}
		return len(found) == len(workers), nil
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, count)
	kill()
	processes.Wait()
	proxy.Wait()
	if _, err2 := count(t.Context()); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for worker, jobs := range found {
		if jobs != 1 {
			t.Errorf("worker %s has %d Jobs", worker, jobs)
		}
	}
	if _, faults := mix.Count(); len(faults) == 0 {
		t.Error("no request had a fault")
	}
}
