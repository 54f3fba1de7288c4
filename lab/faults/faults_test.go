package faults

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// seeds returns GENNAME_SEED, or the seeds of testdata/seeds, which include those that have failed before. The seeds
// are fixed, so that a blocking check fails because of a change and not by chance.
func seeds(t *testing.T) (seeds []uint64) {
	t.Helper()
	text := os.Getenv("GENNAME_SEED")
	if text == "" {
		kept, err := os.ReadFile("testdata/seeds")
		if err != nil {
			t.Fatal(err)
		}
		text = string(kept)
	}
	for _, field := range strings.Fields(text) {
		seed, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

const pluginName = "kubectl-genname"

// TestMain also runs the plugin that is killed, if this program is started under the plugin's name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != pluginName {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cmd.Execute(ctx, os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	stop()
	os.Exit(code)
}

func plugin(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), pluginName)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// keepsPromises runs a client, which must keep its promises.
func keepsPromises(t *testing.T, cp *controlplane.ControlPlane, s Settings, name string) *Result {
	t.Helper()
	c := Clients[slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name })]
	r, err := c.Run(t.Context(), cp, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if err := c.Check(r); err != nil {
		t.Error(err)
	}
	return r
}

// All clients keep their promises in short fault-injection tests. kubectl, which promises nothing, creates duplicates.
// That shows that the test injects faults. "make -f lab/Makefile chance" runs it with another seed.
func TestFaults(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	for _, seed := range seeds(t) {
		t.Logf("GENNAME_SEED=%d", seed)
		s := Full()
		s.Plugin, s.Kubectl, s.Seed, s.Log = plugin(t), cp.Binaries.Kubectl, seed, t.Output()
		short(t, cp, s)
	}
}

// short runs three clients through short fault-injection tests.
func short(t *testing.T, cp *controlplane.ControlPlane, s Settings) {
	for _, test := range []struct {
		client   string
		protocol faultproxy.Protocol
		settings func(*Settings)
		broken   bool
	}{
		{"keyed", faultproxy.HTTP2, func(s *Settings) { s.Documents, s.Count = 30, 20 }, false},
		{"keyless", faultproxy.HTTP1, func(s *Settings) { s.Documents, s.Count, s.ServerKills = 10, 20, 1 }, false},
		{"kubectl", faultproxy.HTTP2, func(s *Settings) { s.Documents, s.Count, s.Rate, s.ServerKills, s.ClientKills = 60, 1, 0.4, 0, 1 }, true},
	} {
		t.Run(fmt.Sprint(test.client, s.Seed), func(t *testing.T) {
			s := s
			s.Protocol = test.protocol
			test.settings(&s)
			if r := keepsPromises(t, cp, s, test.client); (r.Duplicates > 0) != test.broken {
				t.Errorf("%d objects too many", r.Duplicates)
			}
		})
	}
}
