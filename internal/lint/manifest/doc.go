// Package manifest reads manifests as kubectl create does, and finds the position of each field.
// The objects come from the decoders that kubectl uses (k8s.io/apimachinery, sigs.k8s.io/yaml: YAML
// 1.1). A second parser finds lines, columns and comments, and runs only if a caller needs them.
// The package opens no file, and doesn't evaluate the objects.
package manifest
