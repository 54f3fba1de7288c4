// Package rules has the rules of lint. A rule is a file with its findings, the Kubernetes sources
// that explain it, and good and bad examples. The examples are its tests and are in its page under
// docs/rules. A rule gets objects of manifests. It reads no file and sends no request.
package rules
