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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// The count finds objects that exist twice, are missing, were not reported, or were reported and don't exist.
func TestSettle(t *testing.T) {
	s := newStatement(want{"once-": 1, "twice-": 2, "lost-": 1, "double-": 1, "doubt-": 1})
	s.add(run{
		code:   4,
		stdout: "configmap/once-bbbbb created\nconfigmap/twice-bbbbb created\nconfigmap/gone-bbbbb created\n",
		stderr: "configmap/doubt-bbbbb: EOF (checking whether it exists)\n" +
			"error: outcome unknown: configmap/doubt-bbbbb -n ns: EOF\nerror: outcome unknown: configmap/twice-ccccc -n ns: EOF\n" +
			"error: not all objects were created: 3 created, 0 exist, 1 failed, 2 unknown, 0 not attempted\n",
	})
	s.add(run{
		code:   1,
		stdout: "configmap/twice-bbbbb " + exists + "\nconfigmap/twice-ccccc created\nconfigmap/double-bbbbb created\n",
		stderr: "error: stopped after a failure: 2 created, 1 exist, 7 failed, 0 unknown, 9 not attempted\n",
	})
	got := s.settle([]string{"once-bbbbb", "twice-bbbbb", "twice-ccccc", "double-bbbbb", "double-ccccc", "doubt-bbbbb"})
	want := &Result{
		Asked: 6, Reported: 5, Unknown: 1, Failed: 7, NotAttempted: 9, Present: 6, Duplicates: 1, Missing: 1,
		Unaccounted: 1, NotThere: 1, LastCode: 1,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Result{}), cmpopts.IgnoreFields(Result{}, "Client")); diff != "" {
		t.Error(diff)
	}
	if n := s.reportedAs(exists); n != 1 {
		t.Errorf("%d were found there", n)
	}
}

// The checks reject a Result that breaks a promise.
func TestCheck(t *testing.T) {
	kept := Result{Asked: 3, Reported: 3, Present: 3, Exist: 3}
	with := func(change func(*Result)) *Result {
		r := kept
		change(&r)
		return &r
	}
	for _, test := range []struct {
		name           string
		result         *Result
		keyed, keyless bool // promise kept
	}{
		{"all there", &kept, true, true},
		{"one twice", with(func(r *Result) { r.Present, r.Duplicates = 4, 1 }), false, false},
		{"one never reported", with(func(r *Result) { r.Unaccounted = 1 }), false, false},
		{"one reported and not there", with(func(r *Result) { r.NotThere = 1 }), false, false},
		{"one lost", with(func(r *Result) { r.Missing, r.Reported = 1, 2 }), false, false},
		{"one failed", with(func(r *Result) { r.Missing, r.Reported, r.Failed, r.LastCode = 1, 2, 1, 1 }), false, true},
		{"one not attempted", with(func(r *Result) { r.Missing, r.Reported, r.NotAttempted, r.LastCode = 1, 2, 1, 1 }), false, true},
		{"a failure though all is there", with(func(r *Result) { r.LastCode = 1 }), false, false},
		{"one unknown", with(func(r *Result) { r.Reported, r.Unknown, r.LastCode = 2, 1, 4 }), false, true},
		{"one unknown, and exit code 0", with(func(r *Result) { r.Reported, r.Unknown = 2, 1 }), false, false},
		{"a POST by the last run", with(func(r *Result) { r.PostsAgain = 1 }), false, true},
		{"not all found there", with(func(r *Result) { r.Exist = 2 }), false, true},
	} {
		if err := exact(test.result); (err == nil) != test.keyed {
			t.Errorf("%s, keyed: %v", test.name, err)
		}
		if err := neverTwo(test.result); (err == nil) != test.keyless {
			t.Errorf("%s, keyless: %v", test.name, err)
		}
	}
}
