package controlplane

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Option is a difference from the default control plane.
type Option struct {
	args, env        []string // of kube-apiserver
	members, servers int      // 0 for no change
	version          string   // empty for no change
}

// together returns the default control plane with all options.
func together(options []Option) Option {
	all := Option{members: 1, servers: 1, version: ServerVersion}
	for _, o := range options {
		all = all.with(o)
	}
	return all
}

// with combines both options. If both set a number or the version, the value of other counts.
func (o Option) with(other Option) Option {
	return Option{
		args:    slices.Concat(o.args, other.args),
		env:     slices.Concat(o.env, other.env),
		members: cmp.Or(other.members, o.members),
		servers: cmp.Or(other.servers, o.servers),
		version: cmp.Or(other.version, o.version),
	}
}

// Replicated runs three members of etcd, of which one can fail, and two kube-apiservers.
var Replicated = Option{members: 3, servers: 2}

// Version sets the version of kube-apiserver, one of ServerVersions.
func Version(version string) Option { return Option{version: version} }

// WithoutServerRetries switches off the server's own retries of generated names (KEP-4420). WithoutServerRetries
// emulates version 1.31, in which the gate is not locked.
var WithoutServerRetries = APIServerArgs("--emulated-version=1.31", "--feature-gates=RetryGenerateName=false")

// SuffixLength makes the server append n random characters (1 to 5) to generateName instead of 5. A prefix then has
// 27^n names (see servers/suffix).
func SuffixLength(n int) Option {
	return Option{env: []string{"KUBECTL_GENNAME_SUFFIX_LENGTH=" + strconv.Itoa(n)}}
}

// APIServerArgs adds arguments to kube-apiserver.
func APIServerArgs(args ...string) Option { return Option{args: args} }

// SkipIfShort skips a test that needs a control plane in "go test -short".
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: needs a control plane")
	}
}

// New starts a control plane for one test, which "go test -short" skips. It ends with the test. If the test fails,
// its directory with the logs remains.
func New(t testing.TB, options ...Option) *ControlPlane {
	t.Helper()
	SkipIfShort(t)
	cp, err := Start(t.Context(), os.Stderr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("logs are in %s", cp.Dir)
		} else if err := cp.Remove(); err != nil {
			t.Error(err)
		}
	})
	return cp
}
