package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// kubectl is a kubectl binary that runs the plugin.
type kubectl struct {
	binary string
	env    []string
	dir    string // for the manifest
}

// underKubectls runs the plugin under each of controlplane.KubectlVersions on one control plane. It returns the
// results as a table.
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
func (k kubectl) try(ctx context.Context, version string) (seen []string, err error) {
	var report v1alpha1.VersionReport
	if err := k.decode(ctx, &report, "genname", "version", "-o", "json"); err != nil {
		return nil, err
	}
	if report.Server == nil || report.Server.Attempts == nil {
		return nil, errors.New("version does not report how many names the server tries")
	}
	prefix := "under-" + strings.ReplaceAll(version, ".", "-") + "-"
	file := filepath.Join(k.dir, "input.yaml")
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: " + prefix + "}\n"
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		return nil, err
	}
	create := []string{"genname", "create", "-f", file, "--idempotency-key=" + version}
	first, _, err := k.run(ctx, create...)
	if err != nil {
		return nil, err
	}
	second, _, err := k.run(ctx, create...)
	if err != nil {
		return nil, err
	}
	name, _ := strings.CutSuffix(first, " created\n")
	if !strings.HasPrefix(name, "configmap/"+prefix) || second != name+" exists\n" {
		return nil, fmt.Errorf("create says %q, and then %q", first, second)
	}
	var audit v1alpha1.AuditReport
	if err := k.decode(ctx, &audit, "genname", "audit", "configmaps/"+prefix, "-o", "json"); err != nil {
		return nil, err
	}
	if !audit.Complete || len(audit.Items) != 1 || audit.Items[0].Names != 1 {
		return nil, fmt.Errorf("the audit counts %+v", audit.Items)
	}
	offered, _, err := k.run(ctx, "__complete", "genname", "audit", "--sort-by", "")
	if err != nil {
		return nil, err
	}
	if !strings.Contains(offered, "last-10m") {
		return nil, fmt.Errorf("completion offers %q", offered)
	}
	_, code, err := k.run(ctx, "genname", "audit", "--no-such-flag")
	if err == nil || code != 1 {
		return nil, fmt.Errorf("bad usage ends with %d", code)
	}
	return []string{
		reportedAttempts{*report.Server.Attempts, report.Server.AttemptsSource}.String(), "created, exists", "1 name", "values of flags", fmt.Sprint(code),
	}, nil
}

// decode runs kubectl and decodes its output.
func (k kubectl) decode(ctx context.Context, into any, args ...string) error {
	out, _, err := k.run(ctx, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), into)
}

func (k kubectl) run(ctx context.Context, args ...string) (stdout string, code int, err error) {
	cmd := exec.CommandContext(ctx, k.binary, args...)
	cmd.Env = k.env
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, &errOut)
	}
	return out.String(), cmd.ProcessState.ExitCode(), err
}
