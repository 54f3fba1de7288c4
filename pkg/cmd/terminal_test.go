package cmd_test

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// A plot is as wide as its terminal, and not wider.
func TestPlotFitsTheTerminal(t *testing.T) {
	for _, columns := range []uint16{60, 80, 160} {
		ptmx, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		shown := make(chan string)
		go func() {
			all, _ := io.ReadAll(ptmx) // ends with an error after the other end is closed
			shown <- string(all)
		}()
		code := cmd.Execute(t.Context(), []string{"report", "--plot", "--kubeconfig=/nonexistent"},
			genericiooptions.IOStreams{In: strings.NewReader(""), Out: tty, ErrOut: tty})
		_ = tty.Close()
		got := <-shown
		_ = ptmx.Close()
		widest := 0
		for line := range strings.Lines(got) {
			if strings.ContainsAny(line, "┤└") { // the legend below the plot can be wider
				widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\r\n")))
			}
		}
		if code != 0 || widest > int(columns) || widest < int(columns)-8 { // the last label stands over
			t.Errorf("exit code %d, and %d columns of %d are drawn:\n%s", code, widest, columns, got)
		}
	}
}
