// Package reconcile has controllers create what an owner has for many purposes,
// on a real API server, while all goes wrong that can: caches that lag, answers
// that are lost, processes that are killed, two leaders, and strangers that take
// names. Afterwards it counts the objects. What goes wrong is a Scenario, and
// how a controller creates is a Way: that of pkg/once, and those that people
// have today. Each controller is a process of its own (process.go), behind a
// proxy of its own (instance.go).
package reconcile
