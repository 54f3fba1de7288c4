package wrap

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"
)

// pipeTime limits the time for copying the rest of the program's output if stdout or stderr is no file.
const pipeTime = time.Second

var errInterrupted = errors.New("interrupted before the command started")

// runProgram runs the program with the streams of this process, and returns its exit code. It forwards signals.
func (o *options) runProgram(ctx context.Context, program string, environment []string) (int, error) {
	// An interrupt of ctx is a signal, which the program gets itself.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, o.arguments[1:]...)
	cmd.Args[0] = o.arguments[0]
	cmd.Env, cmd.WaitDelay = environment, pipeTime
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.streams.In, o.streams.Out, o.streams.ErrOut
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded()...)
	defer signal.Stop(signals)
	if ctx.Err() != nil {
		return 0, errInterrupted
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if in, ok := o.streams.In.(*os.File); ok {
		_ = in.Close() // the program has its own, so whatever writes to it sees that the program closes it
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if !slices.Contains(ofTerminal, s) || !inForeground() {
				_ = cmd.Process.Signal(s) // the program might have ended
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
				return 0, err
			}
			return codeOf(cmd.ProcessState), nil
		}
	}
}
