// Package reconcile runs controllers that create objects for many purposes of an owner, on a real API server. It
// injects faults. Caches lag, responses are lost, processes are killed, two leaders run, and other clients take
// names. In the end it counts the objects. A Scenario is a set of faults. A Way is how a controller creates, with
// pkg/once or with the means that people have today. Each controller is a process (process.go) behind its own proxy
// (instance.go).
package reconcile
