package faultproxy

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// backend is a server that counts the requests that it has read completely.
type backend struct {
	*httptest.Server
	carriedOut atomic.Int32
}

const stored = `{"kind":"ConfigMap","metadata":{"name":"x"}}`

func newBackend(t *testing.T) *backend {
	b := &backend{}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return
		}
		b.carriedOut.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, stored)
	}))
	b.EnableHTTP2 = true
	b.Config.ErrorLog = log.New(io.Discard, "", 0)
	b.StartTLS()
	t.Cleanup(b.Close)
	return b
}

func (b *backend) user() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Certificate().Raw})
	return &rest.Config{Host: b.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

// send sends one POST and returns the response.
func send(ctx context.Context, t *testing.T, config *rest.Config) (response string, err error) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, config.Host+"/api/v1/namespaces/ns/configmaps", strings.NewReader(stored))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, body), err
}

// Every fault works as documented: the server carries out the request the right number of times, and the client gets
// the right result.
func TestFaults(t *testing.T) {
	for _, protocol := range []Protocol{HTTP1, HTTP2} {
		for _, fault := range Faults {
			if fault.HTTP2Only && protocol == HTTP1 {
				continue
			}
			t.Run(protocol.String()+"/"+fault.Name, func(t *testing.T) {
				t.Parallel()
				b := newBackend(t)
				ctx, giveUp := context.WithCancel(t.Context())
				var done atomic.Bool
				p, err := Start(protocol, b.user(), func(r *http.Request) Fault {
					if strings.HasSuffix(fault.Name, "after the deadline") {
						giveUp()
					}
					if r.ProtoMajor != int(protocol) {
						t.Errorf("the client speaks %s", r.Proto)
					}
					if done.Swap(true) {
						return nil
					}
					return fault.Fault
				})
				if err != nil {
					t.Fatal(err)
				}
				response, err := send(ctx, t, p.Config)
				p.Close()
				if want := carriedOut(fault); int(b.carriedOut.Load()) != want {
					t.Errorf("the request was carried out %d times, want %d", b.carriedOut.Load(), want)
				}
				if whole := err == nil && response == "201 "+stored; whole != unnoticed[fault.Name] {
					t.Errorf("the client is left with %q, %v", response, err)
				}
			})
		}
	}
}

// unnoticed are the faults that this client doesn't notice.
var unnoticed = map[string]bool{
	"repeated and the first response passed on":  true,
	"repeated and the second response passed on": true, // only with this backend, which has no conflicts
	"GOAWAY":        true,
	"GOAWAY before": true, // net/http sent it again
}

func carriedOut(fault NamedFault) int {
	switch {
	case strings.HasPrefix(fault.Name, "repeated"):
		return 2
	case fault.Carried, fault.Name == "GOAWAY before":
		return 1
	}
	return 0
}

// decision returns the name of the fault that the mix chooses.
func decision(mix *Mix, method, path, body string) string {
	_, before := mix.Count()
	mix.Choose(withBody(httptest.NewRequest(method, path, nil), []byte(body)))
	_, after := mix.Count()
	for name := range after {
		if after[name] != before[name] {
			return name + ";"
		}
	}
	return ";"
}

// The same seed gives an object the same faults in any order of requests. Another seed gives it other faults.
func TestMixFollowsItsSeed(t *testing.T) {
	decided := func(seed uint64, backwards bool) map[string]string {
		mix, faults := &Mix{Seed: seed, Rate: 0.5}, map[string]string{}
		for i := range 100 {
			if backwards {
				i = 99 - i
			}
			body := fmt.Sprintf(`{"metadata":{"name":"a-%d"}}`, i/2)
			faults[body] += decision(mix, http.MethodPost, "/api/v1/namespaces/ns/configmaps", body)
		}
		return faults
	}
	if first, again := decided(1, false), decided(1, true); !maps.Equal(first, again) {
		t.Errorf("%v is not %v", again, first)
	}
	if maps.Equal(decided(1, false), decided(2, false)) {
		t.Error("another seed decides the same")
	}
}

// Names that a client picks at random make no difference. The n-th object of a generateName gets the same faults when
// it is sent, sent again, and read.
func TestMixTakesNoNoticeOfRandomNames(t *testing.T) {
	const path = "/api/v1/namespaces/ns/configmaps"
	follow := func(names ...string) (decided []string) {
		mix := &Mix{Seed: 1, Rate: 0.5}
		for _, name := range names {
			body := fmt.Sprintf(`{"metadata":{"generateName":"a-","name":"a-%s"}}`, name)
			decided = append(decided,
				decision(mix, http.MethodPost, path, body),
				decision(mix, http.MethodGet, path+"/a-"+name, ""),
				decision(mix, http.MethodPost, path, body))
		}
		return decided
	}
	first, again := follow("x", "y", "z", "x"), follow("1", "2", "3", "1")
	if !slices.Equal(first, again) {
		t.Errorf("%v is not %v", again, first)
	}
	if slices.Equal(first[:3], first[3:6]) && slices.Equal(first[:3], first[6:9]) {
		t.Errorf("all objects meet the same faults: %v", first)
	}
}

// docs/internals/fault-tests.md documents every fault.
func TestDocumentedFaults(t *testing.T) {
	doc, err := os.ReadFile("../../docs/internals/fault-tests.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range Faults {
		carriedOut := map[bool]string{true: "yes", false: "no"}[i.Carried]
		if row := fmt.Sprintf("\n| %s | %s | ", i.Name, carriedOut); !strings.Contains(string(doc), row) {
			t.Errorf("docs/internals/fault-tests.md lacks the row %q", row)
		}
	}
}

// Requests go to all servers in turn.
func TestStartBalancer(t *testing.T) {
	t.Parallel()
	a, b := newBackend(t), newBackend(t)
	user := a.user()
	user.CAData = append(user.CAData, b.user().CAData...)
	p, err := StartBalancer(HTTP2, user, []string{a.URL, b.URL}, func(*http.Request) Fault { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 4 {
		if _, err := send(t.Context(), t, p.Config); err != nil {
			t.Fatal(err)
		}
	}
	if atA, atB := a.carriedOut.Load(), b.carriedOut.Load(); atA != 2 || atB != 2 {
		t.Errorf("%d and %d requests", atA, atB)
	}
}
