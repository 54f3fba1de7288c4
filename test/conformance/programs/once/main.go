// Command once is pkg/once as a program of the conformance run. It calls Create again after an
// error that isn't permanent, as the work queue of a controller does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	result, err := create(ctx, os.Args[1], os.Args[2])
	claim := map[string]string{"name": result.Name}
	switch {
	case errors.Is(err, once.ErrUnknown), errors.Is(err, once.ErrInterrupted):
		claim["outcome"] = "unknown"
	case err != nil:
		claim["outcome"] = "failed"
	case result.Outcome == once.Found:
		claim["outcome"] = "exists"
	default:
		claim["outcome"] = "created"
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
	}
	_ = json.NewEncoder(os.Stdout).Encode(claim)
}

func create(ctx context.Context, kubeconfig, manifest string) (result once.Result, err error) {
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, nil)
	config, err := loaded.ClientConfig()
	if err != nil {
		return once.Result{}, err
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return once.Result{}, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return once.Result{}, err
	}
	discovered, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return once.Result{}, err
	}
	groups, err := restmapper.GetAPIGroupResources(discovered)
	if err != nil {
		return once.Result{}, err
	}
	object, err := read(manifest, namespace)
	if err != nil {
		return once.Result{}, err
	}
	id, err := once.FromKey(os.Getenv("GENNAME_IDEMPOTENCY_KEY"))
	if err != nil {
		return once.Result{}, err
	}
	var options []once.Option
	if secret, set := os.LookupEnv("GENNAME_IDEMPOTENCY_SECRET"); set {
		options = append(options, once.WithSecret([]byte(secret)))
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	creator := once.New(once.Dynamic(client, mapper), options...)
	var doubt error // of an earlier call
	for _, pause := range []time.Duration{time.Second, 3 * time.Second, 0} {
		result, err = creator.Create(ctx, object.DeepCopy(), id)
		if err == nil {
			return result, nil
		}
		if once.IsPermanent(err) || ctx.Err() != nil {
			break
		}
		if errors.Is(err, once.ErrUnknown) {
			doubt = err
		}
		time.Sleep(pause)
	}
	return result, errors.Join(err, doubt)
}

// read reads the manifest. namespace is for a manifest without one.
func read(manifest, namespace string) (*unstructured.Unstructured, error) {
	data, err := os.ReadFile(manifest)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &object.Object); err != nil {
		return nil, err
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	return object, nil
}
