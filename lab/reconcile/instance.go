package reconcile

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// instance is one process, and the proxy between it and the server.
type instance struct {
	trial    *trial
	scenario Scenario
	proxy    *faultproxy.Proxy
	command  *exec.Cmd
	output   io.Reader // the number of failed purposes, a line for each reconcile

	killed bool          // trial.mu guards it
	behind atomic.Bool   // its cache gets no events
	caught chan struct{} // closed when the cache gets events again
	catch  func()        // closes caught
	idle   *time.Timer   // calls catch if the process sends no more creates
}

// patience is the time without creates after which a stale cache gets events again.
const patience = time.Minute

// start starts a process in the scenario.
func (t *trial) start(ctx context.Context, s Scenario) (*instance, error) {
	i := &instance{trial: t, scenario: s, caught: make(chan struct{})}
	i.catch = sync.OnceFunc(func() { close(i.caught) })
	i.idle = time.AfterFunc(time.Hour, i.catch)
	var err error
	if i.proxy, err = faultproxy.Start(faultproxy.HTTP2, t.cp.Admin(), i.choose); err != nil {
		return nil, err
	}
	if err := i.launch(ctx); err != nil {
		i.proxy.Close()
		return nil, err
	}
	return i, nil
}

func (i *instance) launch(ctx context.Context) error {
	t := i.trial
	kubeconfig := filepath.Join(t.dir, fmt.Sprintf("kubeconfig-%d", t.processes.Add(1)))
	if err := controlplane.WriteKubeconfig(kubeconfig, i.proxy.Config); err != nil {
		return err
	}
	what, err := json.Marshal(task{
		Way: t.way, Kubeconfig: kubeconfig, Namespace: t.namespace, Purposes: t.Purposes, Rounds: i.scenario.Rounds,
	})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	i.command = exec.CommandContext(ctx, self)
	i.command.Env = append(os.Environ(), taskVariable+"="+string(what))
	i.command.Stderr = t.Log
	if i.output, err = i.command.StdoutPipe(); err != nil {
		return err
	}
	return i.command.Start()
}

// watch reads the output of the process until it has done its rounds. watch returns false if the process ended
// before. first is the number of failed purposes in the first reconcile.
func (i *instance) watch() (done bool, first int, err error) {
	lines, rounds, first := bufio.NewScanner(i.output), 0, -1
	for n := 1; rounds < i.scenario.Rounds && lines.Scan(); n++ {
		var failed int
		if _, err := fmt.Sscan(lines.Text(), &failed); err != nil {
			return false, first, fmt.Errorf("the process says %q: %w", lines.Text(), err)
		}
		if first < 0 {
			first = failed
		}
		if failed == 0 {
			rounds++
		}
		if n == 2 {
			i.catch()
		}
	}
	return rounds == i.scenario.Rounds, first, lines.Err()
}

// end kills the process and waits for requests in flight.
func (i *instance) end() {
	i.catch()
	i.idle.Stop()
	_ = i.command.Process.Kill()
	_ = i.command.Wait() // it was killed
	i.proxy.Close()
}

// choose returns the fault of a request.
func (i *instance) choose(r *http.Request) faultproxy.Fault {
	t := i.trial
	switch {
	case !strings.Contains(r.URL.Path, "/secrets"), r.URL.Path == t.path(ownerName):
		return nil
	case r.URL.Query().Get("watch") != "":
		return i.lag
	}
	creates := r.Method == http.MethodPost
	if creates && i.scenario.Behind {
		i.behind.Store(true)
		i.idle.Reset(patience)
	}
	t.count(r)
	fault := t.mix(i.scenario, r)
	return faultproxy.Observe(fault, func(code int) {
		if creates && code == http.StatusCreated {
			t.stored(i)
		} else if code == http.StatusConflict {
			t.conflicts.Add(1)
		}
	})
}

// lag delays the events of a watch while the test keeps the cache of the controller stale.
func (i *instance) lag(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&lagging{w, func() {
			if i.behind.Load() {
				select {
				case <-i.caught:
				case <-r.Context().Done():
				}
			}
		}}, r)
	})
}

// lagging waits before it writes.
type lagging struct {
	http.ResponseWriter
	wait func()
}

func (l *lagging) Write(b []byte) (int, error) {
	l.wait()
	return l.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (l *lagging) Unwrap() http.ResponseWriter { return l.ResponseWriter }
