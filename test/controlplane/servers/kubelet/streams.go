package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"time"

	"k8s.io/apimachinery/pkg/types"
	protocol "k8s.io/apimachinery/pkg/util/remotecommand"
	client "k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// host runs the commands of containers on this machine, without a terminal, and forwards to its ports. It serves them
// as container runtimes do.
type host struct{}

// idle limits the time in which nothing passes.
const idle = time.Hour

func serveExec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, host{}, r.PathValue("pod"), "", r.PathValue("container"), r.URL.Query()["command"],
		options, idle, protocol.DefaultStreamCreationTimeout, protocol.SupportedStreamingProtocols)
}

func servePorts(w http.ResponseWriter, r *http.Request) {
	options, _ := portforward.BuildV4Options(nil) // only for WebSocket, which the API server doesn't use here
	portforward.ServePortForward(w, r, host{}, r.PathValue("pod"), "", options,
		idle, protocol.DefaultStreamCreationTimeout, portforward.SupportedProtocols)
}

func (host) ExecInContainer(
	ctx context.Context, _ string, _ types.UID, _ string, command []string, in io.Reader, out, errOut io.WriteCloser, _ bool,
	_ <-chan client.TerminalSize, _ time.Duration,
) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = out, errOut
	stdin, err := cmd.StdinPipe() // with a pipe, Wait doesn't wait for the end of in
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	go func() {
		if in != nil {
			_, _ = io.Copy(stdin, in) // fails if the command has ended
		}
		_ = stdin.Close()
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

func (host) PortForward(ctx context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, stream)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, conn)
	return err
}
