package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Targets beside each other print one after the other. If one fails, the others still end, and the error names it.
func TestBeside(t *testing.T) {
	const fails = "#!/bin/bash\n" + `echo "make ${*: -1}"; case "${*: -1}" in $BAD) exit 2 ;; esac` + "\n"
	bin := programs(t, map[string]string{"make": fails})
	for bad, ending := range map[string]string{"none": "", "a": "error: failed: a\n", "[bc]": "error: failed: b c\n"} {
		command := exec.CommandContext(t.Context(), root+".ci/beside", "a", "b", "c")
		command.Env = append(os.Environ(), "MAKE="+filepath.Join(bin, "make"), "BAD="+bad)
		out, err := command.CombinedOutput()
		if want := "make a\n== b\nmake b\n== c\nmake c\n" + ending; string(out) != want || (err != nil) != (bad != "none") {
			t.Errorf("%s: %v, and it printed\n%s", bad, err, out)
		}
	}
}
