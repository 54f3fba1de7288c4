package complete

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
)

// completionTime is the longest time that a user waits after Tab. After it, the values found so far are offered.
const completionTime = 1500 * time.Millisecond

// finder offers the values that can replace word.
type finder func(ctx context.Context, conn *connection.Connection, word string, offer func(string)) error

// inTime returns a completer that calls find, for at most completionTime. inTime prints no error. If the cluster
// doesn't respond, the completer offers nothing. The completer doesn't run credential plugins that the user's kuberc
// forbids.
func inTime(conn *connection.Connection, directive cobra.ShellCompDirective, find finder) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		conn.DisablePrompts()
		var mu sync.Mutex // guards offered, because find can continue after ctx is done
		offered, done := map[string]bool{}, make(chan struct{})
		go func() {
			defer close(done)
			if conn.ReadPluginPolicy(cmd) == nil {
				_ = find(ctx, conn, word, func(s string) {
					mu.Lock()
					defer mu.Unlock()
					if strings.HasPrefix(s, word) && !strings.ContainsFunc(s, unsafe) {
						offered[s] = true
					}
				})
			}
		}()
		select {
		case <-done:
		case <-ctx.Done():
		}
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(maps.Keys(offered)), directive
	}
}

// unsafe reports whether a shell might execute or print a character of an offered value. The completion script of
// kubectl 1.33 and earlier lets bash expand the values, so it would execute $(…) in a name of another user.
func unsafe(r rune) bool { return strings.ContainsRune("$`(", r) || !unicode.IsPrint(r) }

// Types returns the completer of TYPE[,TYPE...].
func Types(conn *connection.Connection) cobra.CompletionFunc {
	return inTime(conn, cobra.ShellCompDirectiveNoFileComp,
		func(ctx context.Context, conn *connection.Connection, word string, offer func(string)) error {
			before := word[:strings.LastIndex(word, ",")+1]
			return findTypes(ctx, conn, func(resource string) { offer(before + resource) })
		})
}

// Prefixes returns the completer of TYPE/PREFIX.
func Prefixes(conn *connection.Connection) cobra.CompletionFunc {
	return orPrefixes(conn, inTime(conn, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace,
		func(ctx context.Context, conn *connection.Connection, _ string, offer func(string)) error {
			return findTypes(ctx, conn, func(resource string) { offer(resource + "/") })
		}))
}

// TypesOrPrefixes returns the completer of TYPE[,TYPE...] and TYPE/PREFIX.
func TypesOrPrefixes(conn *connection.Connection) cobra.CompletionFunc {
	return orPrefixes(conn, Types(conn))
}

// orPrefixes returns a completer that completes a type with types, and a prefix after TYPE/.
func orPrefixes(conn *connection.Connection, types cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		resource, _, isPrefix := strings.Cut(word, "/")
		if !isPrefix {
			return types(cmd, args, word)
		}
		find := func(ctx context.Context, conn *connection.Connection, _ string, offer func(string)) error {
			return findPrefixes(ctx, conn, cmd, []string{resource}, func(prefix string) {
				offer(resource + "/" + prefix)
			})
		}
		return inTime(conn, cobra.ShellCompDirectiveNoFileComp, find)(cmd, args, word)
	}
}

// PrefixesOfTypes returns the completer of a flag PREFIX[,PREFIX...]. PrefixesOfTypes offers the prefixes of the
// types in the arguments, or of all types.
func PrefixesOfTypes(conn *connection.Connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		find := func(ctx context.Context, conn *connection.Connection, word string, offer func(string)) error {
			before := word[:strings.LastIndex(word, ",")+1]
			return findPrefixes(ctx, conn, cmd, args, func(prefix string) { offer(before + prefix) })
		}
		return inTime(conn, cobra.ShellCompDirectiveNoFileComp, find)(cmd, args, word)
	}
}

func findTypes(ctx context.Context, conn *connection.Connection, offer func(string)) error {
	resources, err := typesOf(ctx, conn, nil)
	for _, r := range resources {
		offer(r.GroupResource().String())
	}
	return err
}

// findPrefixes offers the generateNames of objects in the command's namespace. The objects have the types that the
// user has named, or any type.
func findPrefixes(
	ctx context.Context, conn *connection.Connection, cmd *cobra.Command, types []string, offer func(string),
) error {
	found, err := typesOf(ctx, conn, types)
	if err != nil {
		return err
	}
	namespace, _, err := conn.Factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	if all, _ := cmd.Flags().GetBool("all-namespaces"); all {
		namespace = metav1.NamespaceAll
	}
	for _, r := range found {
		in := namespace
		if !r.Namespaced {
			in = metav1.NamespaceNone
		}
		err = eachObject(ctx, conn, r, in, func(o *object.Object) {
			if o.GenerateName != "" {
				offer(o.GenerateName)
			}
		})
		if err != nil && len(types) > 0 {
			return err
		}
	}
	return nil
}

func typesOf(ctx context.Context, conn *connection.Connection, named []string) ([]census.Resource, error) {
	if len(named) == 0 {
		client, err := conn.Factory.ToDiscoveryClient()
		if err != nil {
			return nil, err
		}
		found, _, err := census.Discover(ctx, discovery.ToDiscoveryInterfaceWithContext(client))
		return found, err
	}
	mapper, err := conn.Factory.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	found, _, err := census.Resolve(mapper, named)
	return found, err
}

func findNamespaces(ctx context.Context, conn *connection.Connection, _ string, offer func(string)) error {
	namespaces := census.Resource{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("namespaces")}
	return eachObject(ctx, conn, namespaces, metav1.NamespaceNone, func(o *object.Object) { offer(o.Name) })
}

func eachObject(
	ctx context.Context, conn *connection.Connection, of census.Resource, namespace string, visit func(*object.Object),
) error {
	config, err := conn.Factory.ToRESTConfig()
	if err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // completion has no line for warnings
	reader, err := (&census.Scanner{Config: config}).Reader()
	if err != nil {
		return err
	}
	each := census.VisitFunc(func(o *object.Object) error {
		visit(o)
		return nil
	})
	return reader.List(ctx, of, namespace, decode.Options{NoLabels: true}, func() census.Visitor { return each })
}

func fromKubeconfig(names func(clientcmdapi.Config) []string) finder {
	return func(_ context.Context, conn *connection.Connection, _ string, offer func(string)) error {
		config, err := conn.Factory.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return err
		}
		for _, name := range names(config) {
			offer(name)
		}
		return nil
	}
}
