// Package rules is what lint looks for: a rule is a file, with what it finds, the
// place in Kubernetes that says so, and examples of both kinds, which are its tests
// and its page under docs/rules. A rule sees objects of manifests; it reads no file
// and asks no server.
package rules
