// Package campaign creates many objects through injured requests, with
// kube-apiserver and the client killed and started again on the way, and
// counts what is there in the end, straight from the server. It does so with
// the plugin and a key, and beside it with what else there is: kubectl create
// and the plugin's --naming=server in loops that repeat what was not reported
// created.
//
// A campaign's input (input.go), injuries (test/faultproxy) and kills
// (trial.go) follow from its settings, and above all from its seed. What is
// left to chance is time: which requests are under way when something is
// killed.
package campaign
