// Package experiment measures conflicts of generated names on a real kube-apiserver and compares them with
// pkg/analyze. The server appends two random characters instead of five (controlplane.SuffixLength). A prefix then
// has 729 names, and conflicts are common. The rest of the server is unchanged.
//
// The tests are a small version of the experiment. "make -f lab/Makefile measure" runs the large one and writes
// README.md and measured/.
package experiment
