package controlplane

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
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

// A program has the version that its module pins.
func TestVersionsArePinned(t *testing.T) {
	t.Parallel()
	for file, pin := range map[string]string{
		"../../go.mod":   "k8s.io/kubectl v0" + strings.TrimPrefix(KubectlVersion, "v1"),
		"kubectl/go.mod": "k8s.io/kubectl v0" + strings.TrimPrefix(KubectlVersion, "v1"),
		"servers/go.mod": "k8s.io/kubernetes " + ServerVersion,
	} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "\t"+pin+"\n") {
			t.Errorf("%s lacks %q (%v): change the constant in build.go and the module together", file, pin, err)
		}
	}
}
