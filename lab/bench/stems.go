package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// stems measure the memory and the time of audit, and of the first half minute of audit --watch, if names have no
// generateName.
var stems = []section{
	stemPart("fixed", "without a pattern", 80, func(i int) (string, string) { return "", letters(i) + "-settings" }),
	stemPart("own", "each with a stem of its own", 250, func(i int) (string, string) {
		return "", letters(i) + "-2026-11-28"
	}),
	stemPart("one", "under one stem", 80, func(i int) (string, string) { return "", fmt.Sprintf("nightly-%08d", 29_000_000+i) }),
	stemPart("mixed", "of four kinds: without a pattern, with a stem of its own, under one stem, with 12,500 prefixes",
		250, mixed),
}

const livePeak = 300 // MiB

func mixed(i int) (generateName, name string) {
	switch i % 4 {
	case 0:
		return "", letters(i) + "-settings"
	case 1:
		return "", letters(i) + "-2026-11-28"
	case 2:
		return "", fmt.Sprintf("nightly-%08d", 29_000_000+i)
	}
	generateName = letters(i/800) + "-" // twenty objects in each of ten namespaces
	return generateName, generateName + suffix(i)
}

// letters returns a different text for each i.
func letters(i int) string {
	n := i * 7919317 % (26 * 26 * 26 * 26 * 26)
	text := []byte("aaaaaa")
	for j := range 5 {
		text[j] += byte(n % 26)
		n /= 26
	}
	return string(text)
}

// stemPart returns a section about a million objects with names of one form. bar is the maximum of the memory of the
// audit in MiB. This program serves the objects, so the memory of a real server doesn't limit the machine.
func stemPart(name, title string, bar float64, names func(i int) (generateName, name string)) section {
	return section{name: "stems, " + name, isSynthetic: true, measure: func(ctx context.Context, b *bench) (string, error) {
		served := newSynthetic(population{"configmaps", "ConfigMap", b.size(1_000_000), 40, 0, 0, names})
		server := httptest.NewServer(served)
		defer func() {
			server.CloseClientConnections()
			server.Close()
		}()
		if err := controlplane.WriteKubeconfig(b.kubeconfig(), &rest.Config{Host: server.URL}); err != nil {
			return "", err
		}
		var c contest
		c.add("`kubectl genname audit configmaps -A --top=100`", b.audits(len(served.objects), "configmaps", "-A", "--top=100"))
		c.add("`kubectl genname audit configmaps -A --top=100 --watch`", b.command(func(stdout string) error {
			if !strings.Contains(stdout, ";") {
				return errors.New("the watch has printed no report")
			}
			return nil
		}, b.plugin, "audit", "configmaps", "-A", "--top=100", "--watch", "--duration=30s", "-o", "jsonpath={.summary.objects};"))
		if err := c.run(ctx, b.runs); err != nil {
			return "", err
		}
		return fmt.Sprintf("### %s ConfigMaps over 40 namespaces, %s\n\n%s\n%s",
			humanize.Grouped(len(served.objects)), title, c.table(true), b.compare(
				memory("peak memory of the audit", c.memory[0].median(), bar),
				memory("peak memory of the watch", c.memory[1].median(), livePeak))), nil
	}}
}
