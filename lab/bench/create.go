package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// created is the object of all contests of create except one.
const created = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"bench-","labels":{"app":"bench"}},"data":{"key":"value"}}`

// The bars of create. They are ratios to kubectl's time and memory. copiesBar is the share of the plugin in the
// processor time of an object. Memory for all copies is at most flat times the memory for a tenth of them.
const (
	oneBar     = 0.8
	orderBar   = 0.95
	copiesBar  = 0.2
	flat       = 1.1
	memoryBar  = 1
	concurrent = "--concurrency=16"
)

// create measures creating beside kubectl.
func create(ctx context.Context, b *bench) (string, error) {
	var text strings.Builder
	for _, part := range []func(context.Context, *bench, *controlplane.ControlPlane) (string, error){
		oneObject, manyDocuments, manyCopies,
	} {
		section, err := onControlPlane(ctx, b, part)
		if err != nil {
			return "", err
		}
		text.WriteString(section + "\n")
	}
	return text.String(), nil
}

// creates returns a function for contest.add. creates runs a program, which must print n lines of created or existing
// objects.
func (b *bench) creates(n int, args ...string) func(context.Context) (sample, error) {
	return b.command(func(stdout string) error {
		if lines := strings.Count(stdout, "/bench-"); lines != n {
			return fmt.Errorf("%d objects were printed, want %d", lines, n)
		}
		return nil
	}, args...)
}

// elsewhere keeps the objects of kubectl and of --naming=server in another namespace. They have no creation ID
// annotation. If the plugin met a recent one of the same name, it could not exclude that its own request had created
// it.
const elsewhere = "--namespace=kube-public"

// input writes a file of n documents.
func (b *bench) input(n int) (string, error) {
	path := filepath.Join(b.dir, fmt.Sprintf("%d.yaml", n))
	return path, os.WriteFile(path, []byte(strings.Repeat(created+"\n---\n", n)), 0o600)
}

// newContest returns a contest that triggers a garbage collection of the server before each run. By itself the server
// collects about once per 1,000 creates, which takes 0.2 s of a processor. Without the trigger, some ways would meet
// one collection and others two, in every repetition.
func newContest(cp *controlplane.ControlPlane) (*contest, error) {
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return nil, err
	}
	return &contest{before: func(ctx context.Context) error {
		_, err := client.RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx)
		return err
	}}, nil
}

func oneObject(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	path, err := b.input(1)
	if err != nil {
		return "", err
	}
	c, err := newContest(cp)
	if err != nil {
		return "", err
	}
	c.add("`kubectl create -f`", b.creates(1, cp.Binaries.Kubectl, "create", "-f", path, elsewhere))
	c.add("`kubectl genname create -f`", b.creates(1, b.plugin, "create", "-f", path))
	if err := c.run(ctx, 4*b.runs); err != nil {
		return "", err
	}
	return fmt.Sprintf("### One object\n\n%s\n%s", c.table(true), b.compare(
		comparison{"time, plugin / kubectl", c.seconds[1].median() / c.seconds[0].median(), oneBar}, peaks(c, 1))), nil
}

// peaks compares the peak memory of ways with the peak memory of the first way, which is kubectl.
func peaks(c *contest, ways ...int) comparison {
	var most float64
	for _, i := range ways {
		most = max(most, c.memory[i].median())
	}
	return comparison{"peak memory, plugin / kubectl", most / c.memory[0].median(), memoryBar}
}

func manyDocuments(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	n := b.size(1000)
	path, err := b.input(n)
	if err != nil {
		return "", err
	}
	c, err := newContest(cp)
	if err != nil {
		return "", err
	}
	c.add("`kubectl create -f`", b.creates(n, cp.Binaries.Kubectl, "create", "-f", path, elsewhere))
	c.add("`kubectl genname create -f`", b.creates(n, b.plugin, "create", "-f", path))
	c.add("the same, `"+concurrent+"`", b.creates(n, b.plugin, "create", "-f", path, concurrent))
	c.add("the same, `--naming=server`", b.creates(n, b.plugin, "create", "-f", path, elsewhere, "--naming=server"))
	c.add("the requests of the plugin in order, without the plugin", rawRequests(cp, n))
	if err := c.run(ctx, b.runs); err != nil {
		return "", err
	}
	kubectl, raw := c.seconds[0].median(), c.seconds[4].median()
	parallel := fmt.Sprintf("time of the plugin with `%s`", concurrent)
	return fmt.Sprintf("### A file of %s documents, strict validation\n\n%s\n%s", humanize.Grouped(n), c.table(true), b.compare(
		comparison{"time, plugin / kubectl", c.seconds[1].median() / kubectl, orderBar},
		comparison{"time of the plugin with `--naming=server`, so without an annotation / kubectl", c.seconds[3].median() / kubectl, 0},
		comparison{"time, plugin / its requests without the plugin", c.seconds[1].median() / raw, 0},
		comparison{"time, kubectl / the same requests", kubectl / raw, 0},
		comparison{parallel + " / kubectl", c.seconds[2].median() / kubectl, 0}, beyondBusy(parallel, c, 2), peaks(c, 1, 2))), nil
}

// rawRequests returns a function for contest.add. rawRequests creates n objects one after the other over one
// connection, with a name and an annotation like those of the plugin.
func rawRequests(cp *controlplane.ControlPlane, n int) func(context.Context) (sample, error) {
	url := cp.Admin().Host + "/api/v1/namespaces/kube-public/configmaps?fieldManager=bench&fieldValidation=Strict"
	return func(ctx context.Context) (sample, error) {
		client, err := rest.HTTPClientFor(cp.Admin())
		if err != nil {
			return sample{}, err
		}
		defer client.CloseIdleConnections()
		began := time.Now()
		for range n {
			fields := fmt.Sprintf(`"name":"bench-%s","annotations":{"genname.dev/creation-id":"%s"},"generateName"`,
				utilrand.String(10), uuid.NewUUID())
			if err := post(ctx, client, url, strings.Replace(created, `"generateName"`, fields, 1)); err != nil {
				return sample{}, err
			}
		}
		return sample{Seconds: time.Since(began).Seconds()}, nil
	}
}

// post creates an object.
func post(ctx context.Context, client *http.Client, url, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode == http.StatusCreated {
		return err
	}
	return errors.New(response.Status)
}

// manyCopies measures --count.
func manyCopies(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	n := b.size(10_000)
	path, err := b.input(1)
	if err != nil {
		return "", err
	}
	c, err := newContest(cp)
	if err != nil {
		return "", err
	}
	copies := func(n int) func(context.Context) (sample, error) {
		return b.creates(n, b.plugin, "create", "-f", path, "--count="+strconv.Itoa(n), concurrent)
	}
	c.add(fmt.Sprintf("`kubectl genname create -f --count=%d %s`", n, concurrent), copies(n))
	c.add("a tenth of the copies", copies(n/10))
	if err := c.run(ctx, b.runs); err != nil {
		return "", err
	}
	var rate series
	for _, s := range c.seconds[0] {
		rate = append(rate, float64(n)/s)
	}
	return fmt.Sprintf("### %s copies\n\n%s\nFrom its start to its end, the plugin created %s.\n\n%s",
		humanize.Grouped(n), c.table(true), rate.in("%.0f", "objects a second"), b.compare(
			beyondBusy("time", c, 0),
			comparison{"processor time of an object, plugin / all processes", c.client[0].median() / c.cpu[0].median(), copiesBar},
			comparison{"peak memory, all copies / a tenth of the copies", c.memory[0].median() / c.memory[1].median(), flat})), nil
}
