// Command kubelet serves the logs of containers as the kubelet does, with its reader of log files, and kubectl exec, cp
// and port-forward (streams.go). A test writes the log files: DIRECTORY/NAMESPACE_POD_CONTAINER has N.log for each run N, and N.done if the run has ended.
//
// Arguments: the address to listen at, and the directory.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/logs"
)

func main() {
	listener, err := (&net.ListenConfig{Control: share}).Listen(context.Background(), "tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", kubelet{os.Args[2]}.serve)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", serveExec)
	mux.HandleFunc("/portForward/{namespace}/{pod}", servePorts)
	server := httptest.NewUnstartedServer(mux)
	_ = server.Listener.Close()
	server.Listener = listener
	server.StartTLS()                    // the API server doesn't check the certificate
	_, _ = io.Copy(io.Discard, os.Stdin) // until the process that started it ends
}

// share lets the listener use a port that the program's parent reserves.
func share(_, _ string, socket syscall.RawConn) error {
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	return errors.Join(err, failed)
}

// kubelet has the directory of the logs.
type kubelet struct{ dir string }

// serve responds with the statuses of getContainerLogs in k8s.io/kubernetes/pkg/kubelet/server.
func (k kubelet) serve(w http.ResponseWriter, r *http.Request) {
	pod, container := r.PathValue("pod"), r.PathValue("container")
	dir := filepath.Join(k.dir, r.PathValue("namespace")+"_"+pod+"_"+container)
	run, err := k.run(dir)
	if err != nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", pod), http.StatusNotFound)
		return
	}
	options := parse(r)
	if options.Previous {
		run--
	}
	if run < 0 {
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod), http.StatusBadRequest)
		return
	}
	path := filepath.Join(dir, strconv.Itoa(run))
	w.WriteHeader(http.StatusOK)
	var out io.Writer = w
	if options.Follow {
		out = flusher{w}
	}
	read := logs.NewLogOptions(options, time.Now())
	if err := logs.ReadLogs(r.Context(), nil, path+".log", path, read, runtimeService{}, out, out); err != nil {
		fmt.Fprint(out, err) // the status is sent
	}
}

// run returns the last run of a container.
func (k kubelet) run(dir string) (int, error) {
	for run := 0; ; run++ {
		if _, err := os.Stat(filepath.Join(dir, strconv.Itoa(run)+".log")); err != nil {
			if run == 0 {
				return 0, err
			}
			return run - 1, nil
		}
	}
}

// parse returns the options of a request.
func parse(r *http.Request) *corev1.PodLogOptions {
	query := r.URL.Query()
	since, _ := time.Parse(time.RFC3339, query.Get("sinceTime"))
	options := &corev1.PodLogOptions{
		Follow:     query.Get("follow") == "true",
		Previous:   query.Get("previous") == "true",
		Timestamps: query.Get("timestamps") == "true",
		SinceTime:  &metav1.Time{Time: since},
	}
	if lines, err := strconv.ParseInt(query.Get("tailLines"), 10, 64); err == nil {
		options.TailLines = &lines
	}
	return options
}

// flusher sends each write at once.
type flusher struct{ http.ResponseWriter }

func (f flusher) Write(data []byte) (int, error) {
	n, err := f.ResponseWriter.Write(data)
	f.ResponseWriter.(http.Flusher).Flush()
	return n, err
}

// runtimeService knows whether a run has ended. ReadLogs asks nothing else.
type runtimeService struct{ internalapi.RuntimeService }

func (runtimeService) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	state := runtimeapi.ContainerState_CONTAINER_RUNNING
	if _, err := os.Stat(id + ".done"); !errors.Is(err, os.ErrNotExist) {
		state = runtimeapi.ContainerState_CONTAINER_EXITED
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{Id: id, State: state}}, nil
}
