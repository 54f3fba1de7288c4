package controlplane

import "strconv"

// Option is a way in which a control plane differs from the ordinary one.
type Option struct {
	args, env []string // of kube-apiserver
}

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
