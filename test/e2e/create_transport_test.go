package e2e

import (
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// With REFUSED_STREAM, HTTP/2 reports that a request was not processed, and Go sends it again. If a
// proxy reports this about a request that was carried out, the object conflicts with itself. HTTP/1.1
// and HTTP/2 have interim responses (100 Continue, 103 Early Hints).
func TestCreateThroughOtherTransports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		protocol faultproxy.Protocol
		fault    faultproxy.Fault
	}{
		"stream refused":                  {faultproxy.HTTP2, faultproxy.RefuseStream},
		"stream refused after storage":    {faultproxy.HTTP2, faultproxy.RefuseStreamAfter},
		"interim responses":               {faultproxy.HTTP2, faultproxy.Interim},
		"interim responses over HTTP 1.1": {faultproxy.HTTP1, faultproxy.Interim},
	} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			proxy, err := faultproxy.Start(test.protocol, single.Admin(), harness.First(1, test.fault)())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(proxy.Close)
			harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)).Outputs(t, oneCreated) // another request may be refused, too
			harness.ExpectConfigMaps(t, single, ns, 1)
		})
	}
}
