package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// The bars of wrap. The first two are ratios to the time without wrap.
const (
	wrappedCreateBar = 1.15
	wrappedListBar   = 1.2
	startBar         = 150 // milliseconds
	passingBar       = 60  // MiB
	passing          = 500 // MB
)

// wrapped measures kubectl under wrap beside kubectl without it, in turns, and the memory of wrap while a program
// downloads much.
func wrapped(ctx context.Context, b *bench) (string, error) {
	return onControlPlane(ctx, b, func(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
		listed := population{resource: "configmaps", kind: "ConfigMap", objects: b.size(100_000), namespaces: 1, perPrefix: 10}
		if err := store(ctx, cp, listed); err != nil {
			return "", err
		}
		creates, start, err := b.wrappedCreates(ctx, cp)
		if err != nil {
			return "", err
		}
		lists, err := b.wrappedLists(ctx, cp, listed.objects)
		if err != nil {
			return "", err
		}
		passed, err := b.wrappedDownload(ctx, cp)
		return creates + lists + "### Start and memory of wrap\n\n" + b.compare(append(start, passed)...), err
	})
}

func (b *bench) underWrap(args ...string) []string {
	return append([]string{b.plugin, "wrap", "--"}, args...)
}

func (b *bench) wrappedCreates(
	ctx context.Context, cp *controlplane.ControlPlane,
) (creates string, start []comparison, err error) {
	n := b.size(1000)
	path, err := b.input(n)
	if err != nil {
		return "", nil, err
	}
	c, err := newContest(cp)
	if err != nil {
		return "", nil, err
	}
	kubectl := []string{cp.Binaries.Kubectl, "create", "-f", path}
	c.add("`kubectl create -f`", b.creates(n, append(kubectl, elsewhere)...))
	c.add("`bare kubectl create -f`", b.creates(n, append(append([]string{b.bare}, kubectl...), elsewhere)...))
	c.add("`kubectl genname wrap -- kubectl create -f`", b.creates(n, b.underWrap(kubectl...)...))
	c.add("`kubectl genname wrap -- true`", b.creates(0, b.underWrap("true")...))
	if err := c.run(ctx, 2*b.runs); err != nil {
		return "", nil, err
	}
	creates = fmt.Sprintf("### A file of %s documents, under wrap\n\n%s\n%s\n",
		humanize.Grouped(n), c.table(false), b.besideBare(c, wrappedCreateBar))
	return creates, []comparison{
		{"time of `wrap -- true`, in ms", 1000 * c.seconds[3].median(), startBar},
		{"CPU of `wrap -- true`, in ms", 1000 * c.client[3].median(), startBar},
	}, nil
}

func (b *bench) wrappedLists(ctx context.Context, cp *controlplane.ControlPlane, objects int) (string, error) {
	var c contest
	list := []string{"sh", "-c", `"$1" get --raw "$2" | wc -c`, "-", cp.Binaries.Kubectl, wholeList}
	whole := func(stdout string) error {
		if bytes, err := strconv.Atoi(strings.TrimSpace(stdout)); err != nil || bytes < 100*objects {
			return fmt.Errorf("the list has %q bytes", stdout)
		}
		return nil
	}
	c.add("`kubectl get --raw`", b.command(whole, list...))
	c.add("`bare kubectl get --raw`", b.command(whole, append([]string{b.bare}, list...)...))
	c.add("`kubectl genname wrap -- kubectl get --raw`", b.command(whole, b.underWrap(list...)...))
	if err := c.run(ctx, b.runs); err != nil {
		return "", err
	}
	return fmt.Sprintf("### A list of %s ConfigMaps, under wrap\n\n%s\n%s\n", humanize.Grouped(objects), c.table(false),
		b.besideBare(&c, wrappedListBar)), nil
}

// besideBare compares wrap, the third way, with bare, the second one. bare shows the cost of any proxy, so its ratio to
// kubectl alone, the first way, has no bar. The processor time hardly depends on other programs of the machine.
func (b *bench) besideBare(c *contest, bar float64) string {
	ratio := func(of []series, way, to int) float64 { return ratios([]series{of[to], of[way]}).median() }
	return b.compare(
		comparison{"time, `wrap` / `bare` in the same turn", ratio(c.seconds, 2, 1), bar},
		comparison{"CPU with the servers, `wrap` / `bare` in the same turn", ratio(c.cpu, 2, 1), bar},
		comparison{"time, `bare` / kubectl alone", ratio(c.seconds, 1, 0), 0},
		comparison{"CPU with the servers, `bare` / kubectl alone", ratio(c.cpu, 1, 0), 0},
		comparison{"time, `wrap` / kubectl alone", ratio(c.seconds, 2, 0), 0},
		comparison{"CPU with the servers, `wrap` / kubectl alone", ratio(c.cpu, 2, 0), 0})
}

// wholeList is the path of a list in one response.
const wholeList = "/api/v1/namespaces/team-00/configmaps"

// downloads gets a list again until it has passed enough bytes. Then it prints the peak memory of its parent, which is
// wrap. Arguments: kubectl, the path of the list, and the bytes.
const downloads = `passed=0
while [ "$passed" -lt "$3" ]; do passed=$((passed + $("$1" get --raw "$2" | wc -c))); done
echo "$passed"; grep VmHWM "/proc/$PPID/status"`

var downloaded = regexp.MustCompile(`^(\d+)\nVmHWM:\s+(\d+) kB`)

func (b *bench) wrappedDownload(ctx context.Context, cp *controlplane.ControlPlane) (comparison, error) {
	var bytes, peak float64
	run := b.command(func(stdout string) error {
		found := downloaded.FindStringSubmatch(stdout)
		if found == nil {
			return fmt.Errorf("the script printed %q", stdout)
		}
		bytes, _ = strconv.ParseFloat(found[1], 64) // the expression has digits only
		peak, _ = strconv.ParseFloat(found[2], 64)
		return nil
	}, b.underWrap("sh", "-c", downloads, "-", cp.Binaries.Kubectl, wholeList,
		strconv.Itoa(b.size(passing*1_000_000)))...)
	_, err := run(ctx)
	return comparison{fmt.Sprintf("peak memory of `wrap` while %.0f MB pass through it, in MiB", bytes/1e6), peak / 1024, passingBar}, err
}
