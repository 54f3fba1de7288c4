// Package faults runs fault-injection tests. A test creates many objects through injected faults. It kills and
// restarts kube-apiserver and the client, and in the end counts the objects directly at the server. One client is the
// plugin with a key. Others are kubectl create and the plugin's --naming=server, in loops that repeat the documents
// that were not reported as created.
//
// The input (input.go), the faults (test/faultproxy) and the kills (trial.go) of a test follow from its settings,
// above all its seed. Only time is random. It decides which requests are in flight during a kill.
package faults
