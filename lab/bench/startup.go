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
	// startupBar is how long what needs no cluster may take, as a multiple of
	// kubectl's own "version --client".
	startupBar = 1.5
	// sizeBar is how big the program of a release may be, in MiB.
	sizeBar = 60
	// startsPerRun is how often a program is started per repetition: it takes
	// some hundredths of a second only.
	startsPerRun = 10
)

// startup measures how long the program of a release takes for what needs no
// cluster, beside kubectl, and how big both are.
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

// startupTable compares the median of every way with that of the first.
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
			compared = fmt.Sprintf("%.2f, bar %.1f: %s", ratio, startupBar, kept(ratio <= startupBar))
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", name, milliseconds.in("%.0f", "ms"), compared)
	}
	return text.String()
}

// sizes tells how big the programs are.
func sizes(plugin, kubectl string) (string, error) {
	var mebibytes [2]float64
	for i, path := range []string{plugin, kubectl} {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		mebibytes[i] = float64(info.Size()) / (1 << 20)
	}
	return fmt.Sprintf("\nThe program of a release, stripped, has %.1f MiB, bar %d MiB: %s. kubectl, stripped too, has %.1f MiB.\n",
		mebibytes[0], sizeBar, kept(mebibytes[0] <= sizeBar), mebibytes[1]), nil
}

func kept(is bool) string {
	if is {
		return "kept"
	}
	return "**missed**"
}
