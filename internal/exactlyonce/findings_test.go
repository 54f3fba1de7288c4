package exactlyonce

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// Each response of docs/spec/findings.json has its finding.
func TestSpecifiedFindings(t *testing.T) {
	text, err := os.ReadFile("../../docs/spec/findings.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Comment, Request, ContentType, Body, Finding string
		Status                                       int
		NotServed                                    bool // then kube-apiserver sent the response
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 80 {
		t.Fatalf("%d responses, %v", len(vectors), err)
	}
	const name = "once-bcdfghjklm"
	for _, v := range vectors {
		fault := oncetest.Respond(v.Status, v.ContentType, v.Body)
		if v.NotServed {
			fault = withHeader(fault, "Audit-Id", "1")
		}
		c := creatorFor(t, always(fault).Config())
		client, err := c.clientFor(configMapMapping.GroupVersionKind.GroupVersion())
		if err != nil {
			t.Fatal(err)
		}
		r := &request{client: client, mapping: configMapMapping, settings: c.settings}
		r.settings.Encode = encoderOf(configMapObject())
		r.sent = findings.Sent{
			GroupKind: configMapKind, Resource: "configmaps", Namespace: "default", Prefix: "once-",
			ID: "v1-00112233445566778899aabbccddeeff-0-0",
		}
		var seen response
		if v.Request == http.MethodPost {
			seen = r.post(t.Context(), t.Context(), name)
		} else if seen = r.get(t.Context(), name); seen.Finding == protocol.Unauthorized { // the rules read it as unread
			seen.Finding = protocol.Unread
		}
		if seen.Finding.String() != v.Finding {
			t.Errorf("%s: %s: %s, want %s (%v)", v.Request, v.Comment, seen.Finding, v.Finding, seen.Err)
		}
	}
}
