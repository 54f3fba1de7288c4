// Command controller-runtime creates an object with controller-runtime's client as a program of the
// conformance run. It has no keys. It claims created without an error, and failed after any.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	c, err := client.New(config, client.Options{})
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
	object.SetNamespace("default")
	return object, c.Create(context.Background(), object)
}
