// Command kube-apiserver is the real kube-apiserver of k8s.io/kubernetes. It ends with the test that started it. An
// environment variable shortens the random suffixes of generated names.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	_ "github.com/kubectl-genname/kubectl-genname/test/controlplane/servers/lifeline"
	_ "github.com/kubectl-genname/kubectl-genname/test/controlplane/servers/suffix"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
