package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	atOnce     = 16
	concurrent = "--concurrency=16"
)

// create measures creating beside kubectl and beside wrk, a load generator.
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
	return fmt.Sprintf("### One object\n\n%s\nTime, divided by kubectl's: %s. %s", c.table(true),
		b.verdict(c.seconds[1].median()/c.seconds[0].median(), oneBar), b.peaks(c, 1)), nil
}

// peaks compares the peak memory of ways with the peak memory of the first way, which is kubectl.
func (b *bench) peaks(c *contest, ways ...int) string {
	var most float64
	for _, i := range ways {
		most = max(most, c.memory[i].median())
	}
	return fmt.Sprintf("Peak memory, divided by kubectl's: %s.\n", b.verdict(most/c.memory[0].median(), memoryBar))
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
	return fmt.Sprintf("### A file of %s documents, strict validation\n\n%s\nTime, divided by kubectl's: %s. "+
		"With `--naming=server`, where objects carry no annotation: %.2f. Divided by that of the requests alone: %.2f. The same ratio of kubectl: %.2f.\n\n"+
		"With `%s`, time divided by kubectl's: %.2f, and %s.\n\n%s",
		humanize.Grouped(n), c.table(true), b.verdict(c.seconds[1].median()/kubectl, orderBar), c.seconds[3].median()/kubectl,
		c.seconds[1].median()/raw, kubectl/raw, concurrent, c.seconds[2].median()/kubectl, b.beyondBusy(c, 2), b.peaks(c, 1, 2)), nil
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

// manyCopies measures --count beside wrk, which posts the same object.
func manyCopies(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	n := b.size(10_000)
	path, err := b.input(1)
	if err != nil {
		return "", err
	}
	wrk, err := b.besideWrk(ctx, cp)
	if err != nil {
		return "", err
	}
	copies := func(n int) func(context.Context) (sample, error) {
		return b.creates(n, b.plugin, "create", "-f", path, "--count="+strconv.Itoa(n), concurrent)
	}
	var load series
	c, err := newContest(cp)
	if err != nil {
		return "", err
	}
	c.add(fmt.Sprintf("wrk, %d connections, 5 s", atOnce), func(ctx context.Context) (sample, error) {
		rate, s, err := wrk(ctx)
		load = append(load, rate)
		return s, err
	})
	c.add(fmt.Sprintf("`kubectl genname create -f --count=%d %s`", n, concurrent), copies(n))
	c.add("a tenth of the copies", copies(n/10))
	if err := c.run(ctx, b.runs); err != nil {
		return "", err
	}
	var rate series
	for _, s := range c.seconds[1] {
		rate = append(rate, float64(n)/s)
	}
	growth := c.memory[1].median() / c.memory[2].median()
	return fmt.Sprintf("### %s copies\n\n%s\nwrk: %s. The plugin, from its start to its end: %s, or %.2f of the rate of wrk. Its time, %s.\n\n"+
		"The plugin's share in the processor time of an object: %s. The share of wrk: %.3f. The servers' time for an object of the plugin, "+
		"divided by that for an object of wrk: %.2f.\n\nMemory, divided by that for a tenth of the copies: %s.\n",
		humanize.Grouped(n), c.table(true), load.in("%.0f", "objects a second"), rate.in("%.0f", "objects a second"),
		rate.median()/load.median(), b.beyondBusy(c, 1), b.verdict(c.client[1].median()/c.cpu[1].median(), copiesBar),
		c.client[0].median()/c.cpu[0].median(), c.ofServers(1)/float64(n)/(c.ofServers(0)/(load.median()*c.seconds[0].median())),
		b.verdict(growth, flat)), nil
}

var requestsPerSecond = regexp.MustCompile(`Requests/sec: +([0-9.]+)`)

// besideWrk returns a load generator that posts the object for 5 seconds. wrk supports no client certificates, which
// the server verifies with every request. The plugin therefore gets the same token.
func (b *bench) besideWrk(ctx context.Context, cp *controlplane.ControlPlane) (func(context.Context) (float64, sample, error), error) {
	program, err := exec.LookPath("wrk")
	if err != nil {
		return nil, fmt.Errorf("wrk is needed, from the Debian package of that name: %w", err)
	}
	token, err := serviceAccountToken(ctx, cp)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(cp.Admin())
	config.BearerToken = token
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), config); err != nil {
		return nil, err
	}
	script := filepath.Join(b.dir, "post.lua")
	lua := fmt.Sprintf("wrk.method = 'POST'\nwrk.body = [==[%s]==]\nwrk.headers['Content-Type'] = 'application/json'\nwrk.headers['Authorization'] = 'Bearer %s'\n", created, token)
	if err := os.WriteFile(script, []byte(lua), 0o600); err != nil {
		return nil, err
	}
	url := cp.Admin().Host + "/api/v1/namespaces/kube-public/configmaps?fieldValidation=Strict"
	return func(ctx context.Context) (float64, sample, error) {
		s, err := child(ctx, nil, program, "--threads=2", fmt.Sprintf("--connections=%d", atOnce), "--duration=5s", "--script="+script, url)
		if err != nil {
			return 0, s, err
		}
		found := requestsPerSecond.FindStringSubmatch(s.Stdout)
		if found == nil || strings.Contains(s.Stdout, "Non-2xx") {
			return 0, s, errors.New(s.Stdout)
		}
		rate, err := strconv.ParseFloat(found[1], 64)
		return rate, s, err
	}, nil
}

// serviceAccountToken returns a token of a user with permission for everything.
func serviceAccountToken(ctx context.Context, cp *controlplane.ControlPlane) (string, error) {
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return "", err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bench"}}
	_, err = client.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
	_, err2 := client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bench"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "bench", Namespace: "default"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	if err := errors.Join(err, err2); err != nil {
		return "", err
	}
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(ctx, "bench", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return token.Status.Token, nil
}
