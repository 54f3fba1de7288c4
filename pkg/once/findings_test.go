package once

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Each response of docs/spec/findings.json, read by client-go, gets the finding in that file.
func TestFindings(t *testing.T) {
	text, err := os.ReadFile("../../docs/spec/findings.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Comment, Request, ContentType, Body, Finding string
		Status                                       int
		NotServed                                    bool
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 80 {
		t.Fatalf("%d responses, %v", len(vectors), err)
	}
	for _, v := range vectors {
		server := oncetest.NewServer()
		server.Always("*", "*", oncetest.Respond(v.Status, v.ContentType, v.Body))
		o := sending(t, server.Config())
		o.unserved = v.NotServed
		send := o.post
		if v.Request == http.MethodGet {
			send = o.get
		}
		seen := send(t.Context())
		if v.Request == http.MethodGet && seen.Finding == protocol.Unauthorized { // the rules treat it as Unread
			seen.Finding = protocol.Unread
		}
		if seen.Finding.String() != v.Finding {
			t.Errorf("%s: %s: %s, want %s (%v)", v.Request, v.Comment, seen.Finding, v.Finding, seen.Err)
		}
	}
}

// sending returns an operation whose requests have the response given.
func sending(t *testing.T, config *rest.Config) *operation {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetName("once-bcdfghjklm")
	object.SetNamespace("default")
	return &operation{
		client: Dynamic(client, mapper), object: object, generateName: "once-", name: object.GetName(),
		identity:   derive.Object{Kind: "ConfigMap", Namespace: "default", GenerateName: "once-"},
		annotation: "v1-00112233445566778899aabbccddeeff-0-0",
	}
}
