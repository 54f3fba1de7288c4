package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

)

const starterEnv = "GENNAME_TEST_STARTER"

// TestMain also runs the process that a test below kills. The process starts a control plane, prints its address, and
// waits.
func TestMain(m *testing.M) {
	if os.Getenv(starterEnv) == "" {
		os.Exit(m.Run())
	}
	cp, err := Start(context.Background(), os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cp.Servers[0].URL, cp.Dir)
	select {}
}

// Servers end with the process that started them, even if that process has no chance to stop them.
func TestServersEndWithTheirStarter(t *testing.T) {
	t.Parallel()
	SkipIfShort(t)
	starter := exec.CommandContext(t.Context(), os.Args[0])
	starter.Env = append(os.Environ(), starterEnv+"=1")
	starter.Stderr = os.Stderr
	stdout, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil || !ok {
		t.Fatalf("the starter said %q: %v", line, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	address := strings.TrimPrefix(url, "https://")
	if !listening(address) {
		t.Fatalf("nobody listens on %s", address)
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	for range 300 {
		if !listening(address) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("kube-apiserver still listens on %s", address)
}

func listening(address string) bool {
	conn, err := net.DialTimeout("tcp", address, 30*time.Second) // refused immediately if no server listens
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// A server that cannot start reports why, and leaves no process running.
func TestStartFails(t *testing.T) {
	t.Parallel()
	SkipIfShort(t)
	cp, err := Start(t.Context(), os.Stderr, APIServerArgs("--no-such-flag"))
	if err == nil {
		_ = cp.Stop()
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("the error is %v", err)
	}
}

// kube-apiserver can be killed. After a restart it serves the stored objects again.
func TestRestartAPIServer(t *testing.T) {
	t.Parallel()
	cp := New(t)
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	configMaps := client.CoreV1().ConfigMaps("default")
	if _, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := cp.Servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := configMaps.Get(t.Context(), "kept", metav1.GetOptions{}); err == nil {
		t.Error("a dead server responds")
	}
	if err := cp.Servers[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := configMaps.Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// A cached program is found only while all of its inputs are unchanged.
func TestHashCoversTheSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		hash, err := apiServer.hash(dir)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	first := write("go.mod", "module a")
	changed := write("go.mod", "module b")
	added := write("main.go", "package main")
	if first == changed || changed == added || write("go.mod", "module b") != added {
		t.Errorf("hashes %s, %s, %s", first, changed, added)
	}
	if other, err := etcd.hash(dir); err != nil || other == added {
		t.Errorf("two programs share the hash %s: %v", other, err)
	}
}

// Parallel tests that need a program which is not there yet have it built once.
func TestBuildInParallel(t *testing.T) {
	dir, log := t.TempDir(), &bytes.Buffer{}
	for name, content := range map[string]string{"go.mod": "module a", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, path := program{name: "a", pkg: "."}, filepath.Join(t.TempDir(), "a")
	var tests errgroup.Group
	for range 4 {
		tests.Go(func() error { return p.ensure(t.Context(), log, dir, path) })
	}
	if err := tests.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "building a"); n != 1 {
		t.Errorf("built %d times:\n%s", n, log)
	}
}

// The server appends the configured number of characters, also for custom resources, and 5 by default. It truncates
// prefixes at the usual length.
func TestSuffixLength(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		name    string
		options []Option
		suffix  string
	}{
		{"the usual", nil, "{5}"},
		{"2", []Option{SuffixLength(2)}, "{2}"},
		{"2, without retries", []Option{WithoutServerRetries, SuffixLength(2)}, "{2}"},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			cp := New(t, server.options...)
			long := strings.Repeat("x", 62) + "-"
			cp.create(t, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", widgets)
			for _, gvr := range []schema.GroupVersionResource{
				{Version: "v1", Resource: "configmaps"},
				{Group: "example.com", Version: "v1", Resource: "widgets"},
			} {
				kind := map[string]string{"configmaps": "ConfigMap", "widgets": "Widget"}[gvr.Resource]
				for generateName, stem := range map[string]string{"a-": "a-", long: long[:58]} {
					name := cp.create(t, gvr, "default",
						"{apiVersion: "+gvr.GroupVersion().String()+", kind: "+kind+", metadata: {generateName: "+generateName+"}}")
					if !regexp.MustCompile("^" + stem + "[bcdfghjklmnpqrstvwxz2456789]" + server.suffix + "$").MatchString(name) {
						t.Errorf("a %s %q is called %q, want %s random characters", kind, generateName, name, server.suffix)
					}
				}
			}
		})
	}
}

// A server with an invalid length does not start.
func TestSuffixLengthRefused(t *testing.T) {
	t.Parallel()
	SkipIfShort(t)
	cp, err := Start(t.Context(), os.Stderr, SuffixLength(6))
	if err == nil {
		_ = cp.Stop()
		t.Fatal("it started")
	}
	if want := `KUBECTL_GENNAME_SUFFIX_LENGTH is "6": want a number from 1 to 5`; !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// create creates an object and returns its name. It waits up to 30 s for a namespace or resource type that does not
// exist yet.
func (cp *ControlPlane) create(t *testing.T, gvr schema.GroupVersionResource, namespace, object string) string {
	t.Helper()
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(object), &content); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		var made *unstructured.Unstructured
		made, err = client.Resource(gvr).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		if err == nil {
			return made.GetName()
		}
		if !apierrors.IsNotFound(err) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(err)
	return ""
}

// A failure happens to the leader of etcd or to one of two servers. Another member leads, creates are stored, and the
// failed one recovers.
func TestReplicated(t *testing.T) {
	t.Parallel()
	cp := New(t, Replicated)
	if len(cp.Members) != 3 || len(cp.Servers) != 2 {
		t.Fatalf("%d members and %d servers", len(cp.Members), len(cp.Servers))
	}
	for name, fault := range map[string]struct{ begin, end func(*Member) error }{
		"killed": {(*Member).Kill, (*Member).Start},
		"frozen": {(*Member).Freeze, (*Member).Thaw},
		"cut off": {
			func(m *Member) error { return m.CutOff(t.Context()) },
			func(m *Member) error { m.Rejoin(); return nil },
		},
	} {
		t.Run("the leader is "+name, func(t *testing.T) {
			before := leader(t, cp)
			if err := fault.begin(before); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() error {
				if after := leader(t, cp); after == before {
					return fmt.Errorf("it still leads")
				}
				return nil
			})
			eventually(t, func() error { return storedEverywhere(t.Context(), cp) })
			if err := fault.end(before); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() error {
				_, err := before.status(t.Context())
				return err
			})
		})
	}
	t.Run("a server is killed", func(t *testing.T) {
		if err := cp.Servers[0].Kill(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { return stored(t.Context(), cp, cp.Servers[1]) })
		if err := cp.Servers[0].Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { return storedEverywhere(t.Context(), cp) })
	})
}

func leader(t *testing.T, cp *ControlPlane) *Member {
	t.Helper()
	m, err := cp.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// storedEverywhere creates an object at each server.
func storedEverywhere(ctx context.Context, cp *ControlPlane) error {
	for _, s := range cp.Servers {
		if err := stored(ctx, cp, s); err != nil {
			return fmt.Errorf("%s: %w", s.URL, err)
		}
	}
	return nil
}

func stored(ctx context.Context, cp *ControlPlane, at *Server) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	config := rest.CopyConfig(cp.Admin())
	config.Host = at.URL
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "stored-"}}
	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, object, metav1.CreateOptions{})
	return err
}

func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
