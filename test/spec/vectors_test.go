// Package spec tests the specification of creation IDs apart from the Go code.
package spec

import (
	"os"
	"os/exec"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

// A program in Python, written from the text of the derivation, computes the vectors that the Go code has
// written.
func TestVectorsInPython(t *testing.T) {
	// Not the python3 of PATH, which a version manager can replace by a script that needs the user's home.
	output, err := exec.Command("/usr/bin/python3", "vectors.py", "../../docs/spec/vectors.json").CombinedOutput()
	if err != nil {
		t.Fatalf("/usr/bin/python3, 3.8 or newer: %v\n%s", err, output)
	}
}
