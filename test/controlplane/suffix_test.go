package controlplane

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// The server appends the configured number of characters, also for custom resources, and 5 by default. It truncates
// prefixes at the usual length.
func TestSuffixLength(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		name    string
		options []Option
		suffix  string
	}{
		{"the usual", nil, "{5}"},
		{"2", []Option{SuffixLength(2)}, "{2}"},
		{"2, without retries", []Option{WithoutServerRetries, SuffixLength(2)}, "{2}"},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			cp := New(t, server.options...)
			long := strings.Repeat("x", 62) + "-"
			cp.create(t, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", widgets)
			for _, gvr := range []schema.GroupVersionResource{
				{Version: "v1", Resource: "configmaps"},
				{Group: "example.com", Version: "v1", Resource: "widgets"},
			} {
				kind := map[string]string{"configmaps": "ConfigMap", "widgets": "Widget"}[gvr.Resource]
				for generateName, stem := range map[string]string{"a-": "a-", long: long[:58]} {
					name := cp.create(t, gvr, "default",
						"{apiVersion: "+gvr.GroupVersion().String()+", kind: "+kind+", metadata: {generateName: "+generateName+"}}")
					if !regexp.MustCompile("^" + stem + "[bcdfghjklmnpqrstvwxz2456789]" + server.suffix + "$").MatchString(name) {
						t.Errorf("a %s %q is called %q, want %s random characters", kind, generateName, name, server.suffix)
					}
				}
			}
		})
	}
}

// A server with an invalid length does not start.
func TestSuffixLengthRefused(t *testing.T) {
	t.Parallel()
	SkipIfShort(t)
	cp, err := Start(t.Context(), os.Stderr, SuffixLength(6))
	if err == nil {
		_ = cp.Stop()
		t.Fatal("it started")
	}
	if want := `KUBECTL_GENNAME_SUFFIX_LENGTH is "6": want a number from 1 to 5`; !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// create creates an object and returns its name. It waits up to 30 s for a namespace or resource type that does not
// exist yet.
func (cp *ControlPlane) create(t *testing.T, gvr schema.GroupVersionResource, namespace, object string) string {
	t.Helper()
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(object), &content); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		var made *unstructured.Unstructured
		made, err = client.Resource(gvr).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		if err == nil {
			return made.GetName()
		}
		if !apierrors.IsNotFound(err) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(err)
	return ""
}
