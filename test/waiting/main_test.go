// Package waiting runs create --wait against a real kube-apiserver. The real Job controller creates Pods, and KWOK
// runs them.
package waiting

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var server *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Server{
		ControlPlane: &server, Controllers: "job-controller,ttl-after-finished-controller",
	}))
}

// job returns a Job whose Pod succeeds, or runs without an end.
func job(pod string) string {
	label := "{}"
	if pod != succeeds {
		label = "{genname.test/pod: " + pod + "}"
	}
	return `---
apiVersion: batch/v1
kind: Job
metadata: {generateName: ` + pod + `-}
spec:
  backoffLimit: 0
  template:
    metadata: {labels: ` + label + `}
    spec:
      nodeName: ` + controlplane.Node + `
      restartPolicy: Never
      containers: [{name: main, image: example.com/main}]
`
}

const (
	succeeds = "succeeds"
	runs     = "runs"
)

// waitIn runs create --wait.
func waitIn(u harness.User, namespace, input string, args ...string) harness.Result {
	u.T.Helper()
	file := harness.File(u.T, "input.yaml", input)
	return u.Run(append([]string{"create", "-n", namespace, "-f", file, "--wait"}, args...)...)
}
