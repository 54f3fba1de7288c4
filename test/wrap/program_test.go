package wrap

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// asProgram is the variable that makes this test binary one of the programs.
const asProgram = "WRAP_TEST_PROGRAM"

// program returns a program.
func program(name string) func() {
	for _, a := range adversities {
		if a.name == name {
			return a.program
		}
	}
	return map[string]func(){"typed": createTyped, "signals": printSignals, "one by one": oneByOne}[name]
}

const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"demo-"},"data":{"a":"b"}}`

// client sends requests without a library of Kubernetes.
type client struct {
	http            *http.Client
	url, collection string // collection is the path of the ConfigMaps of the namespace
	header          http.Header
	patience        time.Duration

	connections *atomic.Int32
	continued   *atomic.Bool // the server asked for the body
}

func newClient(protocol string) *client {
	config, namespace := connection()
	settings, err := rest.TLSConfigFor(config)
	if err != nil {
		fail(err)
	}
	settings.NextProtos = []string{protocol}
	return &client{
		http: &http.Client{Transport: &http.Transport{
			TLSClientConfig: settings, ForceAttemptHTTP2: protocol == "h2", ExpectContinueTimeout: time.Minute,
		}},
		url: config.Host, collection: "/api/v1/namespaces/" + namespace + "/configmaps", patience: 5 * time.Minute,
		header:      http.Header{"Authorization": {"Bearer " + config.BearerToken}, "Content-Type": {"application/json"}},
		connections: new(atomic.Int32), continued: new(atomic.Bool),
	}
}

// within returns a client that gives up early.
func (c *client) within(d time.Duration) *client {
	other := *c
	other.patience = d
	return &other
}

func (c *client) post(body io.Reader) string { return c.send(http.MethodPost, c.collection, body) }

func (c *client) get(path string) string { return c.send(http.MethodGet, path, nil) }

// send returns the status, and the name of the object or the reason of a refusal.
func (c *client) send(method, path string, body io.Reader) string {
	response, err := c.do(method, path, body)
	if err != nil {
		return "error"
	}
	var object struct {
		Metadata struct{ Name string }
		Reason   string
	}
	_ = json.Unmarshal(response.body, &object) // not each response has an object
	return fmt.Sprint(response.code, " ", object.Metadata.Name+object.Reason)
}

type response struct {
	code int
	body []byte
}

func (c *client) do(method, path string, body io.Reader) (response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				c.connections.Add(1)
			}
		},
		Got100Continue: func() { c.continued.Store(true) },
	})
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		fail(err)
	}
	r.Header = c.header.Clone()
	got, err := c.http.Do(r)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = got.Body.Close() }()
	data, err := io.ReadAll(got.Body)
	return response{got.StatusCode, data}, err
}

// await waits until the namespace has an object, and returns its name.
func (c *client) await() string {
	for {
		got, err := c.do(http.MethodGet, c.collection, nil)
		var list corev1.ConfigMapList
		if err == nil {
			err = json.Unmarshal(got.body, &list)
		}
		if err != nil {
			fail(err)
		}
		for _, each := range list.Items {
			if each.GenerateName != "" {
				return each.Name
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// oneByOne creates an object for each line of stdin, and prints a line about it.
func oneByOne() {
	c := newClient("h2")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if method, path, is := strings.Cut(lines.Text(), " "); is {
			fmt.Println(c.send(method, path, nil))
		} else {
			fmt.Println(c.post(strings.NewReader(object)))
		}
	}
}

// connection returns the connection of a program, and the namespace of its context.
func connection() (*rest.Config, string) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		fail(err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		fail(err)
	}
	return config, namespace
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	syscall.Exit(1)
}
