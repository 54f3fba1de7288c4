// Package kustomize holds -k to the library of kubectl: what comes of objects
// with generateName is what comes of the same with names. In cases are
// kustomizations, each with the objects or the error that internal/kustomize
// makes of it.
package kustomize
