// Package kustomize holds what -k makes of kustomizations: a folder of cases,
// each with the objects or the error that came.
package kustomize
