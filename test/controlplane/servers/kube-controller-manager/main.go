// Command kube-controller-manager is the real kube-controller-manager of k8s.io/kubernetes. It ends with the test
// that started it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	_ "github.com/kubectl-genname/kubectl-genname/test/controlplane/servers/lifeline"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
