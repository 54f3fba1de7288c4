package connection

import (
	"net/http"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
)

// When a request for the server's types times out, client-go's cache logs an error, unless the outermost wrapper has a
// method CancelRequest.
func TestTimeoutIsNotLogged(t *testing.T) {
	config := New(genericiooptions.NewTestIOStreamsDiscard()).configure(&rest.Config{Host: "https://example.com"})
	outermost := config.WrapTransport(http.DefaultTransport)
	if _, can := outermost.(interface{ CancelRequest(*http.Request) }); !can {
		t.Errorf("%T can't cancel requests", outermost)
	}
}

// A server repeats texts of manifests and webhooks in its warnings. A CI system must not take them for commands.
func TestWarnings(t *testing.T) {
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	New(streams).warnings.HandleWarningHeader(299, "-", `unknown field "##vso[task.complete]a"`)
	if want := "Warning: unknown field \"\\u0023#vso[task.complete]a\"\n"; errOut.String() != want {
		t.Errorf("%q, want %q", errOut.String(), want)
	}
}

// A suggested command has the flags of the cluster and the user, without secrets.
func TestReaching(t *testing.T) {
	genname, cmd := &cobra.Command{Use: "genname"}, &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	New(genericiooptions.NewTestIOStreamsDiscard()).AddTo(genname)
	genname.AddCommand(cmd)
	if err := cmd.ParseFlags([]string{
		"--token=secret", "--password=secret", "--proxy-url=http://secret:secret@proxy", "--context=it's prod", "--as=alice",
		"--as-group=a", "--as-group=b", "--as-user-extra=k=v", "-n", "x", "--insecure-skip-tls-verify", "--request-timeout=5s",
		"--client-key=k.pem",
	}); err != nil {
		t.Fatal(err)
	}
	want := `--as alice --as-group a --as-group b --as-user-extra k=v --client-key k.pem --context 'it'\''s prod' ` +
		`--insecure-skip-tls-verify --proxy-url http://REDACTED@proxy`
	if got := Reaching(cmd); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
