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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// offered returns the values that a flag offers after Tab without a request.
func offered(t *testing.T, cmd *cobra.Command, flag, word string) ([]string, cobra.ShellCompDirective) {
	t.Helper()
	complete, has := cmd.GetFlagCompletionFunc(flag)
	if !has {
		t.Fatalf("--%s has no completion", flag)
	}
	return complete(cmd, nil, word)
}

// A flag with a list of words offers them. Other flags complete by their names, also on
// subcommands. A completer that a command registers itself stays.
func TestFlags(t *testing.T) {
	root, child := &cobra.Command{Use: "root"}, &cobra.Command{Use: "child"}
	root.AddCommand(child)
	color := flagvalue.NewEnum("red", "red", "green")
	root.Flags().Var(&color, "dry-run", "")
	child.Flags().String("validate", "", "")
	child.Flags().String("from", "", "")
	child.Flags().String("cache-dir", "", "")
	child.Flags().String("kubeconfig", "", "")
	child.Flags().Int("count", 0, "One of: (not, words).")
	child.Flags().String("output", "", "")
	own := cobra.FixedCompletions([]string{"wide"}, cobra.ShellCompDirectiveNoSpace)
	if err := child.RegisterFlagCompletionFunc("output", own); err != nil {
		t.Fatal(err)
	}
	Flags(connection.New(genericiooptions.NewTestIOStreamsDiscard()), root)
	for _, test := range []struct {
		cmd       *cobra.Command
		flag      string
		want      []string
		directive cobra.ShellCompDirective
	}{
		{root, "dry-run", []string{"red", "green"}, cobra.ShellCompDirectiveNoFileComp},
		{child, "validate", []string{"strict", "warn", "ignore"}, cobra.ShellCompDirectiveNoFileComp},
		{child, "from", []string{"json"}, cobra.ShellCompDirectiveFilterFileExt},
		{child, "cache-dir", nil, cobra.ShellCompDirectiveFilterDirs},
		{child, "kubeconfig", nil, cobra.ShellCompDirectiveDefault},
		{child, "count", nil, cobra.ShellCompDirectiveNoFileComp},
		{child, "output", []string{"wide"}, cobra.ShellCompDirectiveNoSpace},
	} {
		if got, directive := offered(t, test.cmd, test.flag, ""); !slices.Equal(got, test.want) || directive != test.directive {
			t.Errorf("--%s: %q %d, want %q %d", test.flag, got, directive, test.want, test.directive)
		}
	}
}

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
