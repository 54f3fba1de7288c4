package cmd

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

const (
	// completionTime is what a user waits for at most after Tab. What has been
	// found until then is offered.
	completionTime = 1500 * time.Millisecond
	// completionPage is the number of objects asked for in one request.
	completionPage = 2_000
)

// finder offers what could stand in the place of word.
type finder func(ctx context.Context, word string, offer func(string)) error

// inTime makes a completer of find. It takes completionTime at most and never
// complains: a cluster that does not answer has nothing to offer. The
// credential plugins that the user's kuberc forbids are not run for it either.
func (c *connection) inTime(directive cobra.ShellCompDirective, find finder) completer {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		c.keepQuiet()
		found := make(chan string)
		go func() {
			defer close(found)
			if c.readPluginPolicy(cmd) == nil {
				_ = find(ctx, word, func(s string) {
					select {
					case found <- s:
					case <-ctx.Done():
					}
				})
			}
		}()
		return gather(ctx, found, word), directive
	}
}

// keepQuiet keeps client-go from asking for a user name, which it does on
// stdout where a password could be given, and from logging what fails.
func (c *connection) keepQuiet() {
	klog.SetLogger(logr.Discard())
	if c.flags.Password != nil && *c.flags.Password == "" {
		c.flags.Password = nil
	}
}

// gather takes what starts with word, until there is no more or ctx is done.
func gather(ctx context.Context, found <-chan string, word string) []cobra.Completion {
	offered := map[string]bool{}
	for {
		select {
		case s, more := <-found:
			if !more {
				return slices.Sorted(maps.Keys(offered))
			}
			if strings.HasPrefix(s, word) {
				offered[s] = true
			}
		case <-ctx.Done():
			return slices.Sorted(maps.Keys(offered))
		}
	}
}

// completeTypes completes TYPE[,TYPE...].
func (c *connection) completeTypes() completer {
	return c.inTime(cobra.ShellCompDirectiveNoFileComp, func(_ context.Context, word string, offer func(string)) error {
		before := word[:strings.LastIndex(word, ",")+1]
		return c.findTypes(func(resource string) { offer(before + resource) })
	})
}

// completePrefixes completes TYPE/PREFIX.
func (c *connection) completePrefixes() completer {
	types := c.inTime(cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace,
		func(_ context.Context, _ string, offer func(string)) error {
			return c.findTypes(func(resource string) { offer(resource + "/") })
		})
	prefixes := c.inTime(cobra.ShellCompDirectiveNoFileComp, c.findPrefixes)
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.Contains(word, "/") {
			return prefixes(cmd, args, word)
		}
		return types(cmd, args, word)
	}
}

// findTypes offers the types that an audit counts.
func (c *connection) findTypes(offer func(string)) error {
	discovery, err := c.factory.ToDiscoveryClient()
	if err != nil {
		return err
	}
	resources, _, err := census.Discover(discovery)
	for _, r := range resources {
		offer(r.GroupResource().String())
	}
	return err
}

// findPrefixes offers what generateName the objects of a type have.
func (c *connection) findPrefixes(ctx context.Context, word string, offer func(string)) error {
	resource, _, _ := strings.Cut(word, "/")
	mapper, err := c.factory.ToRESTMapper()
	if err != nil {
		return err
	}
	found, _, err := census.Resolve(mapper, []string{resource})
	if err != nil || len(found) == 0 {
		return err
	}
	namespace, _, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	if !found[0].Namespaced {
		namespace = metav1.NamespaceNone
	}
	return c.eachObject(ctx, found[0].GroupVersionResource, namespace, func(o *metav1.PartialObjectMetadata) {
		if o.GenerateName != "" {
			offer(resource + "/" + o.GenerateName)
		}
	})
}

// findNamespaces offers the cluster's namespaces.
func (c *connection) findNamespaces(ctx context.Context, _ string, offer func(string)) error {
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	return c.eachObject(ctx, namespaces, metav1.NamespaceNone, func(o *metav1.PartialObjectMetadata) { offer(o.Name) })
}

// eachObject reads the metadata of objects, page by page.
func (c *connection) eachObject(ctx context.Context, resource schema.GroupVersionResource, namespace string, visit func(*metav1.PartialObjectMetadata)) error {
	config, err := c.factory.ToRESTConfig()
	if err != nil {
		return err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	page := metav1.ListOptions{Limit: completionPage}
	for {
		list, err := client.Resource(resource).Namespace(namespace).List(ctx, page)
		if err != nil {
			return err
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
		if page.Continue = list.Continue; page.Continue == "" {
			return nil
		}
	}
}

// fromKubeconfig makes a finder of the names that are in the kubeconfig.
func (c *connection) fromKubeconfig(names func(clientcmdapi.Config) []string) finder {
	return func(_ context.Context, _ string, offer func(string)) error {
		config, err := c.factory.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return err
		}
		for _, name := range names(config) {
			offer(name)
		}
		return nil
	}
}
