// Package lint checks the names in manifests. It reads the manifests (manifest), checks them by
// rules (rules), and finds the comments that disable findings. It opens no file itself and prints
// nothing.
package lint
