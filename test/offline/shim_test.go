package offline

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// playsPlugin makes the program of this test print its arguments instead.
const playsPlugin = "GENNAME_PRINTS_ARGUMENTS"

func init() {
	if os.Getenv(playsPlugin) != "" {
		_, _ = os.Stdout.WriteString(strings.Join(os.Args[1:], "\n"))
		os.Exit(0)
	}
}

// The shim that kubectl runs for completion calls the plugin of PATH, with the words of the command line.
func TestCompletionShim(t *testing.T) {
	bin, shim, suffix := t.TempDir(), "../../packaging/kubectl_complete-genname", ""
	if runtime.GOOS == "windows" {
		shim, suffix = shim+".cmd", ".exe"
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "kubectl-genname"+suffix), self, 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(shim)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, "create", "--idem")
	command.Env = append(os.Environ(), playsPlugin+"=1", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := command.CombinedOutput(); err != nil || string(out) != "__complete\ncreate\n--idem" {
		t.Errorf("%v, %q", err, out)
	}
}
