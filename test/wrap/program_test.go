package wrap

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// asProgram is the variable that makes this test binary one of the programs.
const asProgram = "WRAP_TEST_PROGRAM"

var programs = map[string]func(){"typed": createTyped, "signals": printSignals}

// connection returns the connection of a program, and the namespace of its context.
func connection() (*rest.Config, string) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		fail(err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		fail(err)
	}
	return config, namespace
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
