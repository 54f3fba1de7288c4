package wrap

import (
	"context"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// argo is the variable that makes this test binary stand for argo submit. Its value is a namespace.
const argo = "WRAP_TEST_ARGO"

var workflows = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}

// submit creates a Workflow with the fields that argo's typed client writes.
func submit(namespace string) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fail(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	made, err := client.Resource(workflows).Namespace(namespace).Create(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
		"metadata": map[string]any{"generateName": "hello-", "creationTimestamp": nil},
		"spec":     map[string]any{"entrypoint": "hello", "arguments": map[string]any{}},
		"status":   map[string]any{"startedAt": nil, "finishedAt": nil},
	}}, metav1.CreateOptions{})
	if err != nil {
		fail(err)
	}
	fmt.Println("workflow/" + made.GetName())
}
