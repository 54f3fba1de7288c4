package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Process is a running program. A server also ends when the process that started it ends (see servers/lifeline).
type Process struct {
	cmd     *exec.Cmd
	exited  chan struct{}
	logPath string
}

// StartProcess runs path with args and with env added to the environment. It appends the output to the file logPath.
func StartProcess(logPath, path string, env []string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(path, args...)
	cmd.Env = slices.Concat(os.Environ(), []string{"KUBECTL_GENNAME_LIFELINE=1"}, env)
	cmd.Stdout, cmd.Stderr = log, log
	if _, err := cmd.StdinPipe(); err != nil { // its write end is the lifeline
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, exited: make(chan struct{}), logPath: logPath}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// Kill ends the process immediately, like a crash, and waits for it. A test server needs no graceful end.
func (p *Process) Kill() error {
	if p == nil {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.exited
	return nil
}

// freeze pauses the process, and thaw lets it continue.
func (p *Process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *Process) thaw() error   { return p.cmd.Process.Signal(syscall.SIGCONT) }

// death returns the error of a process that ended by itself, with the end of its log.
func (p *Process) death() error {
	return fmt.Errorf("%s ended: %v; the end of %s:\n%s", p.cmd.Path, p.cmd.ProcessState, p.logPath, tail(p.logPath, 20))
}

func tail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
