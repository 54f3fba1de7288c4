// Package faults creates many objects through injected faults, with
// kube-apiserver and the client killed and started again on the way, and
// counts what is there in the end, straight from the server. It does so with
// the plugin and a key, and beside it with what else there is: kubectl create
// and the plugin's --naming=server in loops that repeat what was not reported
// created.
//
// A fault test's input (input.go), faults (test/faultproxy) and kills
// (trial.go) follow from its settings, and above all from its seed. What is
// left to chance is time: which requests are under way when something is
// killed.
package faults
