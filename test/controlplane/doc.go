// Package controlplane runs a real etcd and a real kube-apiserver on loopback
// for tests, the demo and benchmarks: built from their Go modules (build.go),
// with certificates of their own (pki.go), and ended with the process that
// started them, whatever ends that (process.go and servers/lifeline). There is
// one of each, or with Replicated three members of etcd (etcd.go, network.go)
// under two kube-apiservers (apiserver.go).
//
// There are no controllers and no nodes: namespaces are not finalized, Jobs
// make no Pods, nothing is garbage-collected.
package controlplane
