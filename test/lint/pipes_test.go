//go:build unix

package lint

import (
	"bytes"
	"context"
	"io"
	"syscall"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// A pipe in a directory is skipped. A pipe that is named as an argument can be interrupted.
func TestPipes(t *testing.T) {
	tree(t, map[string]string{"a.yaml": configMap("generateName: a-")})
	if err := syscall.Mkfifo("pipe.yaml", 0o644); err != nil {
		t.Fatal(err)
	}
	if _, report := found(t); report.Summary.Objects != 1 || len(report.SkippedFiles) != 1 {
		t.Errorf("%+v", report)
	}
	never, end := io.Pipe()
	defer func() { _ = end.Close() }()
	for _, args := range [][]string{{"-f", "pipe.yaml"}, {"-f", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		code := make(chan int)
		var errOut bytes.Buffer
		go func() {
			code <- cmd.Execute(ctx, append([]string{"lint"}, args...),
				genericiooptions.IOStreams{In: never, Out: io.Discard, ErrOut: &errOut})
		}()
		time.AfterFunc(50*time.Millisecond, cancel)
		select {
		case got := <-code:
			if output := errOut.String(); got != 130 || output != "error: interrupted"+"\n" {
				t.Errorf("%v: code %d, stderr %q", args, got, output)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v: an interrupt does not end it", args)
		}
	}
}
