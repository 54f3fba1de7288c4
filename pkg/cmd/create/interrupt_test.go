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

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
)

// An object is in progress under its last name until its result is printed.
func TestInProgress(t *testing.T) {
	d, p := demo(), inProgress{}
	expect := func(unknown, stored []string) {
		t.Helper()
		if u, s, _ := p.left(); !slices.Equal(u, unknown) || !slices.Equal(s, stored) {
			t.Errorf("unknown %q, stored %q, want %q, %q", u, s, unknown, stored)
		}
	}
	p.end(sent{d, "x"}) // of a dry run
	p.store(sent{d, "x"})
	expect(nil, nil)
	p.begin(sent{d, "b"})
	p.begin(sent{d, "a"})
	expect([]string{"configmap/a -n prod", "configmap/b -n prod"}, nil)
	p.rename(sent{d, "a"}, sent{d, "c"})
	p.store(sent{d, "c"})
	expect([]string{"configmap/b -n prod"}, []string{"configmap/c -n prod"})
	p.end(sent{d, "b"})
	p.end(sent{d, "c"})
	expect(nil, nil)
	for range 2 { // the server picks their names
		p.begin(sent{d, ""})
	}
	p.store(sent{d, ""})
	expect([]string{"configmap/demo- -n prod"}, nil)
	p.end(sent{d, ""})
	p.end(sent{d, ""})
	expect(nil, nil)
}

// giveUp prints the known state, and nothing is printed after it.
func TestGiveUp(t *testing.T) {
	for name, test := range map[string]struct {
		key     string
		unknown bool
		code    int
		last    string
	}{
		"nothing is unknown": {"", false, exitcode.Interrupted, ""},
		"unknown":            {"", true, exitcode.Unknown, fmt.Sprintf(messages.Check, fmt.Sprintf(messages.Get, "configmap/b -n prod"))},
		"with a key":         {"k", true, exitcode.Unknown, capital(messages.RunAgainWithKey)},
	} {
		var stderr strings.Builder
		d := demo()
		o := &options{CreateOptions: kubectlcreate.NewCreateOptions(genericiooptions.IOStreams{ErrOut: &stderr})}
		o.flags.key = test.key
		o.inProgress.begin(sent{d, "a"})
		o.inProgress.store(sent{d, "a"})
		o.inProgress.count(totals{created: 3})
		want, unknown := []string{"error: " + fmt.Sprintf(messages.NotPrinted, "configmap/a -n prod", messages.Interrupted)}, 0
		if test.unknown {
			o.inProgress.begin(sent{d, "b"})
			want, unknown = append(want, lost("b", messages.Interrupted)), 1
		}
		want = append(want, sum(messages.InterruptedTwice, 4, 0, 0, unknown, 0))
		if test.last != "" {
			want = append(want, test.last)
		}
		err := o.giveUp(messages.InterruptedTwice)
		o.printLine("later")
		var exit *exitcode.Error
		if !errors.As(err, &exit) || exit.Code != test.code || len(exit.Lines) > 0 || stderr.String() != lines(append(want, "")...) {
			t.Errorf("%s: %v\n%s", name, err, stderr.String())
		}
	}
}

// printLine doesn't block if stderr has no reader.
func TestPrintInTime(t *testing.T) {
	block := make(blocked)
	defer close(block)
	o := &options{CreateOptions: kubectlcreate.NewCreateOptions(genericiooptions.IOStreams{ErrOut: block})}
	began := time.Now()
	o.printInTime("a line")
	if took := time.Since(began); took < maxPrinting || took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}
