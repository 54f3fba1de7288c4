// Command published lints the manifests of other projects, and writes the findings to
// test/lint/published/findings.txt. That file shows the effect of a changed rule. The manifests come from Go modules
// at fixed versions. "make -f lab/Makefile published" calls it.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// modules are projects that publish manifests.
var modules = []string{
	"github.com/argoproj/argo-cd/v3@v3.1.0",
	"github.com/argoproj/argo-events@v1.9.7",
	"github.com/argoproj/argo-rollouts@v1.8.3",
	"github.com/argoproj/argo-workflows/v3@v3.7.0",
	"github.com/cert-manager/cert-manager@v1.18.0",
	"github.com/crossplane/crossplane@v1.20.0",
	"github.com/fluxcd/flux2/v2@v2.6.0",
	"github.com/kedacore/keda/v2@v2.17.0",
	"github.com/kubeflow/mpi-operator@v0.6.0",
	"github.com/kubeflow/trainer/v2@v2.0.0",
	"github.com/kyverno/kyverno@v1.14.0",
	"github.com/prometheus-operator/prometheus-operator@v0.83.0",
	"github.com/tektoncd/pipeline@v1.6.0",
	"github.com/tektoncd/triggers@v0.32.0",
	"k8s.io/api@v0.37.2",
	"k8s.io/kubernetes@v1.34.4",
	"knative.dev/serving@v0.46.0",
	"kubevirt.io/kubevirt@v1.6.0",
	"sigs.k8s.io/cluster-api@v1.10.0",
	"sigs.k8s.io/jobset@v0.10.1",
	"sigs.k8s.io/kueue@v0.14.0",
	"sigs.k8s.io/kwok@v0.8.0",
}

const page = "test/lint/published/findings.txt"

func main() {
	text, err := findings(context.Background())
	if err == nil {
		err = os.WriteFile(page, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// findings lints each of the modules.
func findings(ctx context.Context) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	var all v1alpha1.LintSummary
	unreadable := 0
	for _, module := range modules {
		dir, err := download(ctx, module)
		if err != nil {
			return "", err
		}
		report, err := lint(ctx, dir)
		if err != nil {
			return "", fmt.Errorf("%s: %w", module, err)
		}
		add(&all, report.Summary)
		unreadable += len(report.Unreadable)
		fmt.Fprintf(&out, "\n%s: %s\n", module, counts(report.Summary))
		write(&out, report)
	}
	head := fmt.Sprintf("%d modules: %s\nCan't be read: %d documents\n", len(modules), counts(all), unreadable)
	return head + out.String(), os.Chdir(here)
}

// lint runs the command in a directory, as CI does.
func lint(ctx context.Context, dir string) (*v1alpha1.LintReport, error) {
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	var out, failure bytes.Buffer
	cmd.Execute(ctx, []string{"lint", "-R", "-f", ".", "--exclude=vendor", "-o", "json"},
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &failure})
	report := &v1alpha1.LintReport{}
	if err := json.Unmarshal(out.Bytes(), report); err != nil {
		return nil, fmt.Errorf("%w: %s", err, failure.String())
	}
	return report, nil
}

func add(all *v1alpha1.LintSummary, one v1alpha1.LintSummary) {
	all.Files += one.Files
	all.Objects += one.Objects
	all.Skipped += one.Skipped
	all.Exported += one.Exported
	all.Placeholders += one.Placeholders
	all.Findings.Error += one.Findings.Error
	all.Findings.Warning += one.Findings.Warning
	all.Findings.Note += one.Findings.Note
}

func counts(s v1alpha1.LintSummary) string {
	return fmt.Sprintf("%d objects in %d files (%d files skipped, %d exported objects, %d with placeholders); "+
		"%d errors, %d warnings, %d notes", s.Objects, s.Files, s.Skipped, s.Exported, s.Placeholders,
		s.Findings.Error, s.Findings.Warning, s.Findings.Note)
}

// download downloads a module with the go command, and returns its directory.
func download(ctx context.Context, module string) (string, error) {
	var failure bytes.Buffer
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	command.Dir = os.TempDir() // outside of the other modules
	command.Stderr = &failure
	output, err := command.Output()
	var found struct{ Dir, Error string }
	if err := errors.Join(json.Unmarshal(output, &found), err); err != nil || found.Error != "" {
		return "", fmt.Errorf("download %s: %s %s %w", module, found.Error, failure.String(), err)
	}
	return filepath.Clean(found.Dir), nil
}

// write writes the findings, the worst ones first, and the unreadable files.
func write(out *strings.Builder, report *v1alpha1.LintReport) {
	levels := []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning, v1alpha1.LintNote}
	slices.SortStableFunc(report.Items, func(a, b v1alpha1.LintItem) int {
		return cmp.Or(cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)), cmp.Compare(a.Rule, b.Rule))
	})
	for _, i := range report.Items {
		fmt.Fprintf(out, "  %s %s: %s:%d:%d: %s\n", i.Level, i.Rule, i.File, i.Line, i.Column, i.Message)
	}
	for _, u := range report.Unreadable {
		fmt.Fprintf(out, "  %s\n", u.Message)
	}
}
