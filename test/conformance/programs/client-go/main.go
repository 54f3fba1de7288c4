// Command client-go creates an object with client-go's dynamic client as a program of the conformance
// run. It has no keys. It claims created without an error, and failed after any.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func main() {
	claim := map[string]string{"outcome": "created"}
	object, err := create(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		claim["outcome"] = "failed"
	} else {
		claim["name"] = object.GetName()
	}
	_ = json.NewEncoder(os.Stdout).Encode(claim)
}

func create(kubeconfig, manifest string) (*unstructured.Unstructured, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(manifest)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &object.Object); err != nil {
		return nil, err
	}
	configMaps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	return configMaps.Create(context.Background(), object, metav1.CreateOptions{})
}
