package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	guidePage = "docs/guides/monitor.md"
	guideTime = 30 * time.Minute // until its alert
)

// guide runs the commands of the guide that create a leak, waits for the alert, and runs the
// command that deletes the objects. Nothing may be left.
func guide(ctx context.Context, s settings) error {
	commands, err := guideCommands(guidePage)
	if err != nil {
		return err
	}
	return onLab(ctx, s, func(l *lab) (err error) {
		if err := l.exporter.start(ctx); err != nil {
			return err
		}
		if _, err := l.exporter.waitReady(ctx); err != nil {
			return err
		}
		p, err := startPrometheus(ctx, l, l.exporter.address())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.stop()) }()
		began := time.Now()
		leak, end := context.WithTimeout(ctx, guideTime)
		defer end()
		leaking := l.bash(leak, commands[0])
		if err := leaking.Start(); err != nil {
			return err
		}
		err = p.awaitAlert(ctx, alert{growsFast, "default"}, began, guideTime)
		end()
		_ = leaking.Wait() // it was killed
		if err != nil {
			return err
		}
		n, err := l.jobs(ctx)
		sleep(ctx, 2*time.Second) // prune leaves objects of the present second
		logf("guide: the alert fired after %s, with %d objects", time.Since(began).Round(time.Second), n)
		return errors.Join(err, l.cleanUp(ctx, commands[1]))
	})
}

// jobs counts the objects of the leak.
func (l *lab) jobs(ctx context.Context) (int, error) {
	list, err := l.client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// cleanUp runs the guide's last command.
func (l *lab) cleanUp(ctx context.Context, command string) error {
	out, err := l.bash(ctx, command).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	logf("%s", out)
	n, err := l.jobs(ctx)
	if err == nil && n != 0 {
		err = fmt.Errorf("%d objects are left after %s", n, command)
	}
	return err
}

var block = regexp.MustCompile("(?ms)^ *```\n(.*?)^ *```$")

// guideCommands returns the blocks of commands in the section that shows an alert.
func guideCommands(path string) ([]string, error) {
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(page), "\n## See an alert\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var commands []string
	for _, match := range block.FindAllStringSubmatch(section, -1) {
		commands = append(commands, match[1])
	}
	if len(commands) != 2 {
		return nil, fmt.Errorf("%s has %d blocks of commands in the section about an alert, not 2", path, len(commands))
	}
	return commands, nil
}

// bash is a shell of a user of the cluster, with kubectl and the plugin. All that it starts
// ends with it.
func (l *lab) bash(ctx context.Context, command string) *exec.Cmd {
	plugin, err := filepath.Abs("bin")
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Err = errors.Join(cmd.Err, err)
	path := []string{filepath.Dir(l.Binaries.Kubectl), plugin, os.Getenv("PATH")}
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.kubeconfig, "HOME="+l.dir, "PATH="+strings.Join(path, string(os.PathListSeparator)))
	cmd.Dir = l.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
