// Package manifest reads manifests as kubectl create does, and knows where in
// them each field stands. The objects come from the very decoders that kubectl
// uses (k8s.io/apimachinery, sigs.k8s.io/yaml: YAML 1.1); a second parser is only
// asked for lines, columns and comments, and only where somebody wants to know
// one. The package opens no file, and has no opinion on what it reads.
package manifest
