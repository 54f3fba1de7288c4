package controlplane

import (
	"cmp"
	"slices"
	"strconv"
)

// Option is a way in which a control plane differs from the ordinary one.
type Option struct {
	args, env        []string // of kube-apiserver
	members, servers int      // 0 for what it was
	version, kubectl string   // empty for what it was
}

// together is the ordinary control plane with the options.
func together(options []Option) Option {
	all := Option{members: 1, servers: 1, version: ServerVersion, kubectl: KubectlVersion}
	for _, o := range options {
		all = all.with(o)
	}
	return all
}

// with returns both options together; of two numbers, the later one.
func (o Option) with(other Option) Option {
	return Option{
		args:    slices.Concat(o.args, other.args),
		env:     slices.Concat(o.env, other.env),
		members: cmp.Or(other.members, o.members),
		servers: cmp.Or(other.servers, o.servers),
		version: cmp.Or(other.version, o.version),
		kubectl: cmp.Or(other.kubectl, o.kubectl),
	}
}

// Replicated has three members of etcd, of which one may fail, and two
// kube-apiservers.
var Replicated = Option{members: 3, servers: 2}

// Version has a kube-apiserver of another version, one of ServerVersions.
func Version(version string) Option { return Option{version: version} }

// Kubectl has a kubectl of another version, one of KubectlVersions.
func Kubectl(version string) Option { return Option{kubectl: version} }

// WithoutServerRetries switches the server's own retries of generated names off
// (KEP-4420): the gate is not locked at the emulated version 1.31.
var WithoutServerRetries = APIServerArgs("--emulated-version=1.31", "--feature-gates=RetryGenerateName=false")

// SuffixLength makes the server append n random characters (1 to 5) to
// generateName instead of 5, so that a prefix has 27^n names (see
// servers/suffix).
func SuffixLength(n int) Option {
	return Option{env: []string{"KUBECTL_GENNAME_SUFFIX_LENGTH=" + strconv.Itoa(n)}}
}

// APIServerArgs adds arguments to kube-apiserver's.
func APIServerArgs(args ...string) Option { return Option{args: args} }
