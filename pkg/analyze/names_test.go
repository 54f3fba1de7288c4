package analyze_test

import (
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Package analyze imports no package of Kubernetes, so it has its own copy of the number of names.
func TestMathematicsIsOfTheseNames(t *testing.T) {
	if analyze.AlphabetSize != len(names.Alphabet) || analyze.SuffixLength != names.SuffixLength {
		t.Errorf("pkg/analyze counts %d characters of %d", analyze.SuffixLength, analyze.AlphabetSize)
	}
}
