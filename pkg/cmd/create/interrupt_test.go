package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
)

// giveUp prints the known state, and nothing is printed after it.
func TestGiveUp(t *testing.T) {
	var stderr strings.Builder
	for name, test := range map[string]struct {
		key     string
		unknown bool
		code    int
		last    string
	}{
		"nothing is unknown": {"", false, exitcode.Interrupted, ""},
		"unknown":            {"", true, exitcode.Unknown, fmt.Sprintf(textCheck, fmt.Sprintf(textGet, "configmap/b -n prod"))},
		"with a key":         {"k", true, exitcode.Unknown, capital(textRunAgainWithKey)},
	} {
		o, totals := &options{}, create.Totals{Created: 4}
		o.flags.key = test.key
		want, unknown := []string{"error: " + fmt.Sprintf(textNotPrinted, "configmap/a -n prod", textInterrupted)}, []string(nil)
		if test.unknown {
			totals.Unknown++
			want, unknown = append(want, lost("b", textInterrupted)), []string{"configmap/b -n prod"}
		}
		want = append(want, sum("interrupted again", 4, 0, 0, len(unknown), 0))
		if test.last != "" {
			want = append(want, test.last)
		}
		got, code := o.lastLines("interrupted again", unknown, []string{"configmap/a -n prod"}, totals)
		if code != test.code || !slices.Equal(got, want) {
			t.Errorf("%s: %d\n%s", name, code, lines(got...))
		}
	}
	o := &options{CreateOptions: kubectlcreate.NewCreateOptions(genericiooptions.IOStreams{ErrOut: &stderr})}
	err := o.giveUp("interrupted again")
	printed := stderr.String()
	o.printLine("later")
	var exit *exitcode.Error
	if !errors.As(err, &exit) || exit.Code != exitcode.Interrupted || len(exit.Lines) > 0 || stderr.String() != printed {
		t.Errorf("%v\n%s", err, stderr.String())
	}
}

// printLine doesn't block if stderr has no reader.
func TestPrintInTime(t *testing.T) {
	block := make(blocked)
	defer close(block)
	o := &options{CreateOptions: kubectlcreate.NewCreateOptions(genericiooptions.IOStreams{ErrOut: block})}
	began := time.Now()
	o.printInTime("a line")
	if took := time.Since(began); took < maxPrinting {
		t.Errorf("it took %s", took)
	}
}

type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}
