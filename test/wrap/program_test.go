package wrap

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

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

// patience is the time of a client that doesn't give up.
const patience = 5 * time.Minute

// client sends requests over HTTP/2 without a library of Kubernetes.
type client struct {
	http            *http.Client
	url, collection string // collection is the path of the ConfigMaps of the namespace
	token           string
	connections     atomic.Int32
}

func newClient() *client {
	config, namespace := connection()
	settings, err := rest.TLSConfigFor(config)
	if err != nil {
		fail(err)
	}
	settings.NextProtos = []string{"h2"}
	c := &client{
		url: config.Host, collection: "/api/v1/namespaces/" + namespace + "/configmaps", token: config.BearerToken,
	}
	c.http = &http.Client{Transport: &http.Transport{
		TLSClientConfig: settings, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c.connections.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}
	return c
}

func (c *client) post(body string, within time.Duration) string {
	return c.send(http.MethodPost, c.collection, body, within)
}

func (c *client) get(path string) string { return c.send(http.MethodGet, path, "", patience) }

// send returns the status, and the name of the object or the reason of a refusal.
func (c *client) send(method, path, body string, within time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		fail(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + c.token}, "Content-Type": {"application/json"}}
	response, err := c.http.Do(r)
	if err != nil {
		return "error"
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return "error"
	}
	var object struct {
		Metadata struct{ Name string }
		Reason   string
	}
	_ = json.Unmarshal(data, &object) // not each response has an object
	return fmt.Sprint(response.StatusCode, " ", object.Metadata.Name+object.Reason)
}

// many is the number of objects of oneByOne.
const many = 200

// oneByOne creates objects, and prints a line about each.
func oneByOne() {
	c := newClient()
	for range many {
		fmt.Println(c.post(object, patience))
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
