package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// earlierBar limits the processor time of the plugin, as a ratio to an earlier commit. timeBar limits the time of
// documents at once.
const earlierBar, timeBar = 1.1, 1

// besideEarlier measures create beside the plugin of an earlier commit, in turns.
func besideEarlier(ctx context.Context, b *bench) (string, error) {
	earlier, err := b.buildEarlier(ctx)
	if err != nil {
		return "", err
	}
	return onControlPlane(ctx, b, func(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
		return b.compareWith(ctx, cp, earlier)
	})
}

// buildEarlier builds the plugin of the earlier commit in a worktree, and returns its
// path.
func (b *bench) buildEarlier(ctx context.Context) (program string, err error) {
	program, tree := filepath.Join(b.dir, "earlier"), filepath.Join(b.dir, "worktree")
	git := func(args ...string) error {
		out, err := exec.CommandContext(ctx, "git", append([]string{"worktree"}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("git worktree %v: %w\n%s", args, err, out)
		}
		return nil
	}
	if err := git("add", "--detach", tree, b.earlier); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, git("remove", "--force", tree)) }()
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/kubectl-genname")
	build.Dir, build.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", b.earlier, err, out)
	}
	return program, nil
}

func (b *bench) compareWith(ctx context.Context, cp *controlplane.ControlPlane, earlier string) (string, error) {
	documents, copies := b.size(1000), b.size(5000)
	file, err := b.input(documents)
	if err != nil {
		return "", err
	}
	one, err := b.input(1)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "### Beside commit %s\n\n| | time | processor time of the client | memory |\n|---|--:|--:|--:|\n", b.earlier)
	worst, times := 0.0, []series{}
	for _, way := range []struct {
		name string
		n    int
		args []string
	}{
		{fmt.Sprintf("%s documents", humanize.Grouped(documents)), documents, []string{"create", "-f", file}},
		{fmt.Sprintf("the same, `%s`", concurrent), documents, []string{"create", "-f", file, concurrent}},
		{fmt.Sprintf("`--count=%d %s`", copies, concurrent), copies, []string{"create", "-f", one, "--count=" + strconv.Itoa(copies), concurrent}},
	} {
		c, err := newContest(cp)
		if err != nil {
			return "", err
		}
		// This program can't read the creation IDs of the earlier one, so elsewhere applies to them, too.
		c.add("earlier, "+way.name, b.creates(way.n, append([]string{earlier, elsewhere}, way.args...)...))
		c.add(way.name, b.creates(way.n, append([]string{b.plugin}, way.args...)...))
		if err := c.run(ctx, b.runs); err != nil {
			return "", err
		}
		client := ratios(c.client)
		worst, times = max(worst, client.median()), append(times, ratios(c.seconds))
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", way.name, times[len(times)-1].in("%.2f", "×"), client.in("%.2f", "×"), ratios(c.memory).in("%.2f", "×"))
	}
	fmt.Fprintf(&text, "\nThe two programs ran in turns. Each number is that of the measured commit, divided by that of %s in the same turn. Greatest ratio of processor times: %s. Time with `%s`: %s.\n",
		b.earlier, b.verdict(worst, earlierBar), concurrent, b.verdict(times[1].median(), timeBar))
	return text.String(), nil
}

// ratios returns the ratio of the second way's value to the first way's value for each turn.
func ratios(ways []series) (of series) {
	for i, value := range ways[1] {
		of = append(of, value/ways[0][i])
	}
	return of
}
