package e2e

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// A prefix with a lint error causes one warning, even if the server accepts the object.
func TestCreateWarnsOfPrefixes(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	of := func(prefix string) string { return strings.ReplaceAll(configMap, "demo-", prefix) }
	long := strings.Repeat("a", 60)
	warning := func(prefix, rule string) string {
		return harness.Printed("Warning: "+"%s: %s. To fix this, %s (lint rule %s).", "configmap/"+prefix, `[^\n]*`, `[^\n]*`, rule)
	}
	input := harness.File(t, "in.yaml", of(long+"-one-")+"---"+of(long+"-two-")+"---"+of(long+"-two-"))
	u.Run("create", "-n", ns, "-f", input, "--count=2").Expect(t, 0, `(configmap/a{58}\w{5} created\n){6}`, warning(long+"-two-", "truncated-prefix"))
	u.Run("create", "-n", ns, "-f", harness.File(t, "bad.yaml", of("Bad-")), "--count=3").Expect(t, 1, ``,
		warning("Bad-", "invalid-prefix")+`.*Invalid.*`)
	u.Run("create", "-n", ns, "-f", input, "--naming=server", "--attempts=1").Expect(t, 0, `(configmap/a{58}\w{5} created\n){3}`, ``)
	u.Run("create", "-n", ns, "-f", harness.File(t, "fine.yaml", configMap)).Expect(t, 0, oneCreated, ``)
}
