// Package controlplane runs a real etcd and a real kube-apiserver on loopback for tests, the demo and benchmarks.
// Both are built from their Go modules (build.go) and have their own certificates (pki.go). They end with the process
// that started them, however it ends (process.go and servers/lifeline). There is one of each. With Replicated there
// are three members of etcd (etcd.go, network.go) and two kube-apiservers (apiserver.go).
//
// Controllers and nodes run only on request (controllers.go, nodes.go). Without them namespaces are not finalized,
// Jobs create no Pods, and no garbage is collected.
package controlplane
