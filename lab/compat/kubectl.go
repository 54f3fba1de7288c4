package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// underKubectls runs the plugin under each of controlplane.KubectlVersions on one control plane, by the script kubectl
// of this directory. underKubectls returns the results as a table.
func underKubectls(ctx context.Context, plugin string) (text string, err error) {
	cp, err := controlplane.Start(ctx, os.Stderr)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	script, err := filepath.Abs("lab/compat/kubectl")
	kubeconfig, bin := filepath.Join(cp.Dir, "kubeconfig"), filepath.Join(cp.Dir, "bin")
	if err := errors.Join(
		err,
		controlplane.WriteKubeconfig(kubeconfig, cp.Admin()),
		os.Mkdir(bin, 0o755),
		os.Symlink(plugin, filepath.Join(bin, "kubectl-genname")),
		os.Symlink(plugin, filepath.Join(bin, "kubectl_complete-genname")),
	); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| kubectl | `genname version` prints | `create` with a key prints, twice | `audit` counts | Tab completes | exit code for an unknown flag |\n")
	b.WriteString("|---|---|---|---|---|--:|\n")
	for _, version := range controlplane.KubectlVersions {
		fmt.Fprintf(os.Stderr, "kubectl %s\n", version)
		binaries, err := controlplane.Build(ctx, os.Stderr, controlplane.Kubectl(version))
		if err != nil {
			return "", err
		}
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, script, "under-"+strings.ReplaceAll(version, ".", "-")+"-")
		cmd.Dir, cmd.Stderr = cp.Dir, &stderr
		path := strings.Join([]string{filepath.Dir(binaries.Kubectl), bin, os.Getenv("PATH")}, string(os.PathListSeparator))
		cmd.Env = append(os.Environ(), "PATH="+path, "HOME="+cp.Dir, "KUBECONFIG="+kubeconfig)
		cells, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("under kubectl %s: %w: %s%s", version, err, cells, &stderr)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", version, strings.TrimSpace(string(cells)))
	}
	return b.String(), nil
}
