package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	// startupBar limits the time of commands that need no cluster, as a multiple of kubectl's "version --client".
	startupBar = 1.5
	// sizeBar is the maximum size of the released program in MiB.
	sizeBar = 60
	// startsPerRun is the number of starts per repetition, because one start takes less than 0.1 s.
	startsPerRun = 10
)

// startup measures the time of commands that need no cluster, beside kubectl, and the sizes of both programs.
func startup(ctx context.Context, b *bench) (string, error) {
	binaries, err := controlplane.Build(ctx, os.Stderr)
	if err != nil {
		return "", err
	}
	shim := filepath.Join(b.dir, "kubectl_complete-genname")
	if err := os.Symlink(filepath.Base(b.plugin), shim); err != nil {
		return "", err
	}
	var c contest
	for _, words := range [][]string{
		{binaries.Kubectl, "version", "--client"},
		{b.plugin, "version", "--client"},
		{b.plugin, "--help"},
		{b.plugin, "create", "--help"},
		{shim, "create", "--"},
		{shim, "audit", "--sort-by", ""},
	} {
		shown := strings.Join(append([]string{filepath.Base(words[0])}, words[1:]...), " ")
		c.add(strings.TrimSpace(shown), func(ctx context.Context) (sample, error) {
			return child(ctx, []string{"KUBECONFIG=" + filepath.Join(b.dir, "none"), "HOME=" + b.dir}, words...)
		})
	}
	if err := c.run(ctx, startsPerRun*b.runs); err != nil {
		return "", err
	}
	size, err := sizes(b.plugin, binaries.Kubectl)
	return c.startupTable() + size, err
}

// startupTable compares the median of every way with the median of the first way.
func (c *contest) startupTable() string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %d repetitions | time | of kubectl's |\n|---|---|---|\n", len(c.seconds[0]))
	for i, name := range c.names {
		milliseconds := make(series, len(c.seconds[i]))
		for n, seconds := range c.seconds[i] {
			milliseconds[n] = 1000 * seconds
		}
		compared := ""
		if i > 0 {
			ratio := c.seconds[i].median() / c.seconds[0].median()
			compared = fmt.Sprintf("%.2f (bar %.1f, %s)", ratio, startupBar, kept(ratio <= startupBar))
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", name, milliseconds.in("%.0f", "ms"), compared)
	}
	return text.String()
}

// sizes reports the sizes of the programs.
func sizes(plugin, kubectl string) (string, error) {
	var mebibytes [2]float64
	for i, path := range []string{plugin, kubectl} {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		mebibytes[i] = float64(info.Size()) / (1 << 20)
	}
	return fmt.Sprintf("\nThe program of a release, stripped, has %.1f MiB (bar %d MiB, %s). kubectl, stripped too, has %.1f MiB.\n",
		mebibytes[0], sizeBar, kept(mebibytes[0] <= sizeBar), mebibytes[1]), nil
}

func kept(is bool) string {
	if is {
		return "kept"
	}
	return "**missed**"
}
