package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// audit compares the audit with a bare download of the same objects. audit also measures the load that the audit
// causes on an old server, beside kubectl. Each part is a section.
var audit = []section{
	auditPart("namespaces", manyNamespaces),
	auditPart("namespace", oneNamespace),
	auditPart("ownprefixes", ownPrefixes),
	auditPart("old", inOneNamespace),
	auditPart("oldtenants", inManyNamespaces),
}

// auditPart returns a section of the audit, which runs on a fresh control plane.
func auditPart(name string, part func(context.Context, *bench, *controlplane.ControlPlane) (string, error)) section {
	s := section{name: "audit, " + name, old: strings.HasPrefix(name, "old")}
	s.measure = func(ctx context.Context, b *bench) (string, error) {
		if s.old {
			return onControlPlane(ctx, b, part, controlplane.Version(b.old))
		}
		return onControlPlane(ctx, b, part)
	}
	return s
}

// onControlPlane runs part on a fresh control plane. Its version is b.server unless the options set another one.
func onControlPlane(
	ctx context.Context, b *bench, part func(context.Context, *bench, *controlplane.ControlPlane) (string, error),
	options ...controlplane.Option,
) (text string, err error) {
	cp, err := controlplane.Start(ctx, os.Stderr, append([]controlplane.Option{controlplane.Version(b.server)}, options...)...)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), cp.Admin()); err != nil {
		return "", err
	}
	return part(ctx, b, cp)
}

func (b *bench) kubeconfig() string { return filepath.Join(b.dir, "kubeconfig") }

func (b *bench) size(objects int) int { return max(1, int(float64(objects)*b.scale)) }

// command returns a function for contest.add. command runs a program with the kubeconfig, and right checks the
// output.
func (b *bench) command(right func(stdout string) error, args ...string) func(context.Context) (sample, error) {
	return func(ctx context.Context) (sample, error) {
		s, err := child(ctx, []string{"KUBECONFIG=" + b.kubeconfig(), "KUBECACHEDIR=" + b.dir}, args...)
		if err == nil {
			err = right(s.Stdout)
		}
		return s, err
	}
}

// ownObjects is the largest number of ConfigMaps and Secrets that a new server makes.
const ownObjects = 10

// audits returns a function for contest.add. audits runs an audit, which must find the given number of names.
func (b *bench) audits(names int, args ...string) func(context.Context) (sample, error) {
	args = append([]string{b.plugin, "audit", "-o", "json"}, args...)
	return b.command(func(stdout string) error {
		var report v1alpha1.AuditReport
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			return err
		}
		found := report.Hidden.Names
		for _, item := range report.Items {
			found += item.Names
		}
		for _, fold := range report.Folded {
			found += fold.Names
		}
		if found < int64(names) || found > int64(names)+ownObjects || !report.Complete {
			return fmt.Errorf("found %d names, want %d", found, names)
		}
		return nil
	}, args...)
}

const (
	pageOfBar   = 10_000 // for the bare download that the bar refers to
	pageOfAudit = 25_000 // for the later pages of the audit
	mebibyte    = float64(1<<20) / 1e6
)

// manyNamespaces measures a million objects in 40 namespaces, under 10,000 prefixes.
func manyNamespaces(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	many := population{"configmaps", "ConfigMap", b.size(1_000_000), 40, 100, 0, nil}
	few := population{"secrets", "Secret", b.size(100_000), 40, 10, 0, nil}
	if err := store(ctx, cp, many, few); err != nil {
		return "", err
	}
	var c contest
	c.add("bare download, pages of 10,000", func(ctx context.Context) (sample, error) {
		return download(ctx, cp.Admin(), "/api/v1/configmaps", pageOfBar)
	})
	c.add("`kubectl genname audit configmaps -A`", b.audits(many.objects, "configmaps", "-A"))
	c.add("a tenth of the objects (secrets)", b.audits(few.objects, "secrets", "-A"))
	if err := c.run(ctx, b.runs); err != nil {
		return "", err
	}
	return fmt.Sprintf("### %s ConfigMaps over 40 namespaces, under 10,000 prefixes\n\n%s\n%s",
		humanize.Grouped(many.objects), c.table(true), b.compare(
			comparison{"time, audit / bare download", c.seconds[1].median() / c.seconds[0].median(), 0},
			beyondBusy("time of the audit", &c, 1), memory("peak memory", c.memory[1].median(), 80),
			comparison{"peak memory, all objects / a tenth of the objects", c.memory[1].median() / c.memory[2].median(), 1.1})), nil
}

// oneNamespace measures a million objects in one namespace, each with another prefix.
func oneNamespace(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	p := population{"configmaps", "ConfigMap", b.size(1_000_000), 1, 1, 0, nil}
	if err := store(ctx, cp, p); err != nil {
		return "", err
	}
	var c contest
	c.add("bare download, pages of 25,000", func(ctx context.Context) (sample, error) {
		return download(ctx, cp.Admin(), "/api/v1/namespaces/team-00/configmaps", pageOfAudit)
	})
	c.add("`kubectl genname audit configmaps -n team-00`", b.audits(p.objects, "configmaps", "-n", "team-00"))
	c.add("`kubectl genname audit configmaps -n team-00 --min-count=1 --top=100`", b.audits(p.objects, "configmaps", "-n", "team-00", "--min-count=1", "--top=100"))
	if err := c.run(ctx, b.runs); err != nil {
		return "", err
	}
	return fmt.Sprintf("### %s ConfigMaps in one namespace, each with a prefix of its own\n\n%s\n%s",
		humanize.Grouped(p.objects), c.table(true), b.compare(
			comparison{"time, audit / bare download of the same pages", c.seconds[1].median() / c.seconds[0].median(), 1.5},
			memory("peak memory", max(c.memory[1].median(), c.memory[2].median()), 250))), nil
}

// ownPrefixes measures the memory of the audit of a million objects in 900 namespaces, each with another prefix. The
// audit shows 100 of the prefixes.
func ownPrefixes(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	p := population{"configmaps", "ConfigMap", b.size(1_000_000), b.size(900), 1, 0, nil}
	if err := store(ctx, cp, p); err != nil {
		return "", err
	}
	var c contest
	c.add("`kubectl genname audit configmaps -A --min-count=1 --top=100`",
		b.audits(p.objects, "configmaps", "-A", "--min-count=1", "--top=100"))
	if err := c.run(ctx, min(b.runs, 3)); err != nil {
		return "", err
	}
	return fmt.Sprintf("### %s ConfigMaps over %s namespaces, each with a prefix of its own\n\n%s\n%s",
		humanize.Grouped(p.objects), humanize.Grouped(p.namespaces), c.table(true),
		b.compare(memory("peak memory", c.memory[0].median(), 250))), nil
}

// memory compares the peak memory in MB with a limit in MiB. of names the memory.
func memory(of string, peak, limit float64) comparison {
	return comparison{fmt.Sprintf("%s / %.0f MiB", of, limit), peak / (limit * mebibyte), 1}
}

// table formats the contest in Markdown.
func (c *contest) table(memory bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %d repetitions | time | CPU | CPU, servers included | peak memory |\n|---|---|---|---|---|\n", len(c.seconds[0]))
	cell := func(s series, format, unit string) string {
		if s.median() == 0 { // not measured
			return ""
		}
		return s.in(format, unit)
	}
	for i, name := range c.names {
		used := ""
		if memory {
			used = cell(c.memory[i], "%.1f", "MB")
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", name,
			c.seconds[i].in("%.2f", "s"), cell(c.client[i], "%.2f", "s"), c.cpu[i].in("%.2f", "s"), used)
	}
	return text.String()
}
