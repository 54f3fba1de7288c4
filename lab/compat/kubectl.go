package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// kubectl is a kubectl binary that runs the plugin.
type kubectl struct {
	binary string
	env    []string
	dir    string // for the manifest
}

// underKubectls runs the plugin under each of controlplane.KubectlVersions on one control plane. underKubectls
// returns the results as a table.
func underKubectls(ctx context.Context, plugin string) (text string, err error) {
	cp, err := controlplane.Start(ctx, os.Stderr)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	kubeconfig := filepath.Join(cp.Dir, "kubeconfig")
	bin := filepath.Join(cp.Dir, "bin")
	if err := errors.Join(
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
		k := kubectl{binaries.Kubectl, []string{"PATH=" + bin, "HOME=" + cp.Dir, "KUBECONFIG=" + kubeconfig}, cp.Dir}
		seen, err := k.try(ctx, version)
		if err != nil {
			return "", fmt.Errorf("under kubectl %s: %w", version, err)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", version, strings.Join(seen, " | "))
	}
	return b.String(), nil
}

// try returns the cells of a row, or an error if the plugin misbehaves under this kubectl.
func (k kubectl) try(ctx context.Context, version string) (cells []string, err error) {
	prefix := "under-" + strings.ReplaceAll(version, ".", "-") + "-"
	file := filepath.Join(k.dir, "input.yaml")
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: " + prefix + "}\n"
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		return nil, err
	}
	create := "genname create -f " + file + " --idempotency-key=" + version
	for _, step := range []struct{ command, want, cell string }{ // want matches stdout and the exit code
		{"genname version -o jsonpath={.server.attempts}({.server.attemptsSource})", `^(\d+)(\(\w+\)) 0$`, "$1 $2"},
		{create, "^configmap/" + prefix + `\w{10} created\n 0$`, "created"},
		{create, "^configmap/" + prefix + `\w{10} exists\n 0$`, "exists"},
		{"genname audit configmaps/" + prefix + " -o jsonpath={.complete}{.items[*].names}", `^true1 0$`, "1 name"},
		{"__complete genname audit --sort-by=", "(?s)last-10m.* 0$", "values of flags"},
		{"genname audit --no-such-flag", `^ (1)$`, "$1"},
	} {
		got, err := k.run(ctx, strings.Fields(step.command)...)
		want := regexp.MustCompile(step.want)
		match := want.FindStringSubmatchIndex(got)
		if match == nil {
			return nil, fmt.Errorf("%s ends with %q instead of %s: %w", step.command, got, want, err)
		}
		cells = append(cells, string(want.ExpandString(nil, step.cell, got, match)))
	}
	return slices.Replace(cells, 1, 3, cells[1]+", "+cells[2]), nil
}

// run returns the stdout of kubectl and its exit code.
func (k kubectl) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, k.binary, args...)
	cmd.Env = k.env
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, &errOut)
	}
	return fmt.Sprintf("%s %d", &out, cmd.ProcessState.ExitCode()), err
}
