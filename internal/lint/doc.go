// Package lint checks the names in manifests: it reads them (manifest), checks them by
// rules (rules), and finds the comments that disable findings. It opens no file by
// itself and prints nothing.
package lint
