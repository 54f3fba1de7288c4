// Package kustomize compares -k with the library of kubectl. Objects with generateName give the same result as
// objects with names. The directory cases contains kustomizations. Each has the objects or the error that
// internal/kustomize returns for it.
package kustomize
