// Command published lints the manifests that others have published, and writes what
// each rule finds there to test/lint/published/findings.txt: a change of a rule is a
// change of that file. They come from Go modules at a version, so that all have the
// same: make published.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// modules are projects that publish manifests.
var modules = []string{
	"github.com/argoproj/argo-workflows/v3@v3.7.0",
	"github.com/tektoncd/pipeline@v1.6.0",
	"k8s.io/kubernetes@v1.34.4",
	"sigs.k8s.io/jobset@v0.10.1",
	"sigs.k8s.io/kueue@v0.14.0",
}

const (
	page  = "test/lint/published/findings.txt"
	minor = 37
)

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

// findings lints each of the modules, as -R does.
func findings(ctx context.Context) (string, error) {
	var out strings.Builder
	files, all := 0, 0
	for _, module := range modules {
		dir, err := download(ctx, module)
		if err != nil {
			return "", err
		}
		sources, err := manifests(dir)
		if err != nil {
			return "", err
		}
		result, err := lint.Run(ctx, sources, lint.Config{Minor: minor})
		if err != nil {
			return "", err
		}
		files, all = files+len(sources), all+len(result.Findings)
		fmt.Fprintf(&out, "\n%s: %d files, %d with %d objects\n", module, len(sources), len(result.Read), result.Objects)
		write(&out, result)
	}
	return fmt.Sprintf("%d findings in %d files\n", all, files) + out.String(), nil
}

// download has the go command fetch a module, and returns its folder.
func download(ctx context.Context, module string) (string, error) {
	var failure bytes.Buffer
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	command.Stderr = &failure
	said, err := command.Output()
	var found struct{ Dir, Error string }
	if err := errors.Join(json.Unmarshal(said, &found), err); err != nil || found.Error != "" {
		return "", fmt.Errorf("download %s: %s %s %w", module, found.Error, failure.String(), err)
	}
	return found.Dir, nil
}

// manifests returns the files of a module that can be manifests.
func manifests(dir string) ([]lint.Source, error) {
	var sources []lint.Source
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "vendor":
			return filepath.SkipDir
		case entry.IsDir(), !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)):
			return nil
		}
		name, err := filepath.Rel(dir, path)
		sources = append(sources, lint.Source{
			Name: filepath.ToSlash(name), Found: true,
			Read: func(context.Context) ([]byte, error) { return os.ReadFile(path) },
		})
		return err
	})
	return sources, err
}

// write writes how often each rule finds something, and where.
func write(out *strings.Builder, result *lint.Result) {
	found := slices.Clone(result.Findings)
	levels := []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning, v1alpha1.LintNote}
	slices.SortStableFunc(found, func(a, b lint.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)), cmp.Compare(a.Rule.Name, b.Rule.Name))
	})
	for _, f := range found {
		fmt.Fprintf(out, "  %s %s: %s:%d:%d: %s\n", f.Level, f.Rule.Name, f.Object.File, f.Line, f.Column, f.Message)
	}
	for _, u := range result.Unreadable {
		fmt.Fprintf(out, "  cannot be read: %s:%d: %v\n", u.File, u.Line, u.Err)
	}
}
