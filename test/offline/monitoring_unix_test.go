//go:build unix

package offline

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The script for node_exporter replaces its file by a complete output, with any exit code of the audit. It never
// installs a truncated output.
func TestTextfile(t *testing.T) {
	const old, whole = "old 1.0\n# EOF\n", "genname_audit_complete 0.0\n# EOF\n"
	for name, test := range map[string]struct {
		prints, exits, want string
		code                int
	}{
		"whole":                       {whole, "0", whole, 0},
		"not all could be read":       {whole, "1", whole, 1},
		"nothing":                     {"", "1", old, 1},
		"cut off":                     {"genname_audit_comp", "1", old, 1},
		"cut off at the end of a row": {"genname_audit_complete 1.0\n", "137", old, 137},
	} {
		t.Run(name, func(t *testing.T) {
			bin, directory := t.TempDir(), t.TempDir()
			file := filepath.Join(directory, "genname.prom")
			write(t, file, old)
			write(t, filepath.Join(bin, "kubectl-genname"), "#!/bin/sh\nprintf %s '"+test.prints+"'\nexit "+test.exits+"\n")
			script := exec.Command("sh", "../../examples/textfile-collector/textfile.sh", directory)
			script.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			_ = script.Run() // its exit code is checked below
			got, err := os.ReadFile(file)
			if left, _ := os.ReadDir(directory); err != nil || string(got) != test.want || script.ProcessState.ExitCode() != test.code || len(left) != 1 {
				t.Errorf("exit code %d, %v, %d files, and\n%s", script.ProcessState.ExitCode(), err, len(left), got)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}
