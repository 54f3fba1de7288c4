package complete

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// completed returns the values that find offers for word, and the time that find needs by a fake clock.
func completed(t *testing.T, find finder, word string) (got []string, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		began := time.Now()
		got, _ = inTime(connection.New(genericiooptions.NewTestIOStreamsDiscard()), cobra.ShellCompDirectiveNoFileComp, find)(cmd, nil, word)
		took = time.Since(began)
	})
	return got, took
}

// Values that begin with the word are offered once and sorted, except those that a shell would execute or print. The completer
// prints no error.
func TestInTime(t *testing.T) {
	t.Setenv("KUBECTL_KUBERC", "false")
	got, _ := completed(t, func(_ context.Context, _ *connection.Connection, _ string, offer func(string)) error {
		for _, name := range []string{"run-b", "run-a", "other", "run-a", "run-$(id)", "run-`id`", "run-<(id)", "run-\x1b[2J"} {
			offer(name)
		}
		return errors.New("forbidden")
	}, "run")
	if !slices.Equal(got, []string{"run-a", "run-b"}) {
		t.Errorf("%q, want run-a and run-b", got)
	}
}

// If a cluster stops responding, the completer ends in time and offers the values that it has.
func TestInTimeWithoutResponse(t *testing.T) {
	t.Setenv("KUBECTL_KUBERC", "false")
	got, took := completed(t, func(ctx context.Context, _ *connection.Connection, _ string, offer func(string)) error {
		offer("run-a")
		<-ctx.Done()
		offer("run-b") // the completer has ended
		return nil
	}, "")
	if !slices.Equal(got, []string{"run-a"}) || took != completionTime {
		t.Errorf("%q after %s", got, took)
	}
}

func TestFromKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	t.Setenv("KUBECTL_KUBERC", "false")
	find := fromKubeconfig(func(clientcmdapi.Config) []string { return []string{"one", "two"} })
	if got, _ := completed(t, find, "t"); !slices.Equal(got, []string{"two"}) {
		t.Errorf("%q, want two", got)
	}
}
