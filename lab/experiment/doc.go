// Package experiment measures conflicts of generated names on a real
// kube-apiserver and compares them with the model of pkg/analyze. The server
// appends two random characters instead of five (controlplane.SuffixLength), so
// that a prefix has 729 names and conflicts are common; all else is
// Kubernetes'.
//
// The tests are a small version of the experiment. "make measure" runs the
// large one and writes docs/internals/measured.md and docs/measured/.
package experiment
