package audit

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// A prefix that the server has truncated inside a character is compared with the same prefix, and not with
// a prefix truncated inside another character.
func TestPrefixesTruncatedInsideACharacter(t *testing.T) {
	pods := resource("", "pods")
	audit := func(config Config) *v1alpha1.AuditReport {
		c := building(config)
		for i, prefix := range []string{"x\xc3", "x\xc4", "x\xe2\x82", "x\ufffd"} {
			s := pool(prefix, int64(20+i))
			s.GroupResource = pods.GroupResource()
			c.add(s)
		}
		result, err := c.report(Counted{
			Types:  []census.Resource{pods},
			Server: v1alpha1.AuditServer{Retries: v1alpha1.Retries{AttemptsSource: v1alpha1.SourceVersion}},
		})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(result.Report)
		if err != nil {
			t.Fatal(err)
		}
		report, err := v1alpha1.ReadAuditReport(data)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	now := audit(Config{Old: audit(Config{MinCount: 1}), MinCount: 1, AsOf: began.Add(24 * time.Hour)})
	found := map[string]bool{}
	for _, item := range now.Items {
		found[item.Prefix] = true
		if item.Growth == nil || item.Growth.Names == nil || *item.Growth.Names != 0 {
			t.Errorf("%q: growth %+v, want 0 names", item.Prefix, item.Growth)
		}
	}
	if len(found) != 4 || len(now.Gone) > 0 || !found[`x\xe2\x82`] {
		t.Errorf("%v, gone: %+v", found, now.Gone)
	}
}
