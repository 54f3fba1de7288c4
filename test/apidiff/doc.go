// Package apidiff tests .ci/apidiff, which reports how a change affects programs that import the public packages.
package apidiff
