package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// lintedFiles is the number of files in a directory to lint.
	lintedFiles = 1000
	// lintSeconds and lintMegabytes are the bars for 1,000 small files if kube-linter is not installed.
	lintSeconds, lintMegabytes = 0.20, 60
)

// lintedModules are the modules that contain the published manifests, as in make -f lab/Makefile published.
var lintedModules = []string{
	"github.com/argoproj/argo-workflows/v3@v3.7.0",
	"github.com/tektoncd/pipeline@v1.6.0",
	"k8s.io/kubernetes@v1.34.4",
}

// lint measures the plugin with 1,000 manifests. It also measures kube-linter if that is on the PATH.
func lint(ctx context.Context, b *bench) (string, error) {
	var text strings.Builder
	for _, corpus := range []struct {
		title string
		fill  func(ctx context.Context, dir string, files int) error
		finds int // the exit code of the plugin
	}{
		{"1,000 Jobs, a file each", writeJobs, 0},
		{"1,000 files that Argo Workflows, Tekton and Kubernetes have published", copyPublished, 3},
	} {
		dir := filepath.Join(b.dir, fmt.Sprint("lint-", corpus.finds))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
		if err := corpus.fill(ctx, dir, int(lintedFiles*b.scale)); err != nil {
			return "", err
		}
		var c contest
		c.add("`kubectl genname lint -f DIR`", ending(corpus.finds, b.plugin, "lint", "-f", dir))
		if linter, err := exec.LookPath("kube-linter"); err == nil {
			c.add("`kube-linter lint DIR`", ending(1, linter, "lint", dir))
		}
		if err := c.run(ctx, b.runs); err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "### %s\n\n%s\n%s\n\n", corpus.title, c.table(true), b.lintVerdict(c))
	}
	return text.String(), nil
}

// lintVerdict compares the plugin with kube-linter, or with fixed bars if kube-linter was not measured.
func (b *bench) lintVerdict(c contest) string {
	if len(c.names) == 1 {
		return fmt.Sprintf("Time in %.2f s: %s. Memory in %d MB: %s.", lintSeconds, b.verdict(c.seconds[0].median()/lintSeconds, 1),
			lintMegabytes, b.verdict(c.memory[0].median()/lintMegabytes, 1))
	}
	return fmt.Sprintf("Time in that of kube-linter: %s. Processor time: %.2f. Memory: %s.",
		b.verdict(c.seconds[0].median()/c.seconds[1].median(), 1), c.cpu[0].median()/c.cpu[1].median(),
		b.verdict(c.memory[0].median()/c.memory[1].median(), 1))
}

// ending returns a command that must exit with the code.
func ending(code int, args ...string) func(context.Context) (sample, error) {
	shell := []string{"sh", "-c", fmt.Sprintf(`"$@"; [ $? -eq %d ]`, code), "sh"}
	return func(ctx context.Context) (sample, error) { return child(ctx, nil, append(shell, args...)...) }
}

// writeJobs writes files with one Job each.
func writeJobs(_ context.Context, dir string, files int) error {
	for n := range files {
		job := fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  generateName: job-%d-
  labels: {app: demo}
spec:
  template:
    metadata: {labels: {app: demo}}
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/main:1
        command: [sleep, "1"]
`, n)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.yaml", n)), []byte(job), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copyPublished copies the first manifests of the modules.
func copyPublished(ctx context.Context, dir string, files int) error {
	n := 0
	for _, module := range lintedModules {
		out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
		if err != nil {
			return fmt.Errorf("download %s: %w", module, err)
		}
		var from struct{ Dir string }
		if err := json.Unmarshal(out, &from); err != nil {
			return err
		}
		err = filepath.WalkDir(from.Dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || n == files || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(text, []byte("\nkind:")) {
				return err
			}
			n++
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.yaml", n)), text, 0o644)
		})
		if err != nil {
			return err
		}
	}
	if n < files {
		return fmt.Errorf("only %d manifests were found", n)
	}
	return nil
}
