// Package lint says what will go wrong with the names of manifests: it reads them
// (manifest), looks at them by rules (rules), and takes out what their authors
// silence. It opens no file by itself and prints nothing.
package lint
