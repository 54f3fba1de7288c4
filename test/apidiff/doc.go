// Package apidiff tests .ci/apidiff, which says what a change means to programs
// that import the public packages.
package apidiff
