// Command kubectl-genname is a kubectl plugin for objects created with metadata.generateName.
// kubectl runs it as "kubectl genname".
package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // OIDC and other auth providers of a kubeconfig

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), cmd.Signals()...)
	// A second signal ends the program at once. It must come at least a second after the first,
	// because some runners signal all processes.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	// cli-runtime always reads -f URL with this client, while create already creates the first objects of the page.
	http.DefaultClient.Timeout, http.DefaultClient.Transport = time.Minute, apistatus.ReadWhole(http.DefaultTransport)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(cmd.Execute(ctx, cmd.Arguments(os.Args), streams))
}
