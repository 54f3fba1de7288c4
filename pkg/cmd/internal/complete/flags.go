// Package complete owns the values that Tab offers for flags and arguments: fixed values, files, and values from the
// kubeconfig or the cluster. The package never prints an error, and it always ends in time.
package complete

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
)

// enum is a flag that lists its own values.
type enum interface{ Words() []string }

// kubectlFlagValues are the values of kubectl's flags, which don't list them, and the usual values of
// --server-attempts.
var kubectlFlagValues = map[string][]string{
	"dry-run":         {"none", "client", "server"},
	"server-attempts": {"auto", "1", "8"},
	"validate":        {"strict", "warn", "ignore"},
}

// fileExtensions are the extensions of the files that flags name. A nil value allows any file.
var fileExtensions = map[string][]string{
	"certificate-authority": nil,
	"client-certificate":    nil,
	"client-key":            nil,
	"from":                  {"json"},
	"kubeconfig":            nil,
	"kuberc":                nil,
	"web.config.file":       {"yml", "yaml"},
}

// dirFlags are the flags that name a directory.
var dirFlags = map[string]bool{"cache-dir": true, "kustomize": true}

// Flags adds completion to the flags of cmd and of all commands below it. The completer depends only on the name
// of the flag, so a flag completes in the same way everywhere.
func Flags(conn *connection.Connection, cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if _, has := cmd.GetFlagCompletionFunc(flag.Name); has || flag.Annotations[cobra.BashCompFilenameExt] != nil {
			return
		}
		// An error means that the flag is unknown, or has a completer already.
		_ = cmd.RegisterFlagCompletionFunc(flag.Name, completerOf(conn, flag))
	})
	for _, child := range cmd.Commands() {
		Flags(conn, child)
	}
}

func completerOf(conn *connection.Connection, flag *pflag.Flag) cobra.CompletionFunc {
	if e, is := flag.Value.(enum); is {
		return cobra.FixedCompletions(e.Words(), cobra.ShellCompDirectiveNoFileComp)
	}
	if extensions, is := fileExtensions[flag.Name]; is {
		return completeFiles(extensions)
	}
	if dirFlags[flag.Name] {
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	if find := finderOf(flag.Name); find != nil {
		return inTime(conn, cobra.ShellCompDirectiveNoFileComp, find)
	}
	return cobra.FixedCompletions(kubectlFlagValues[flag.Name], cobra.ShellCompDirectiveNoFileComp)
}

func completeFiles(extensions []string) cobra.CompletionFunc {
	if extensions == nil {
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// finderOf returns the finder of a flag whose values are in the cluster or in the kubeconfig. The result is nil for
// other flags.
func finderOf(flag string) finder {
	switch flag {
	case "namespace":
		return findNamespaces
	case "context":
		return fromKubeconfig(func(k clientcmdapi.Config) []string { return slices.Collect(maps.Keys(k.Contexts)) })
	case "cluster":
		return fromKubeconfig(func(k clientcmdapi.Config) []string { return slices.Collect(maps.Keys(k.Clusters)) })
	case "user":
		return fromKubeconfig(func(k clientcmdapi.Config) []string { return slices.Collect(maps.Keys(k.AuthInfos)) })
	}
	return nil
}
