package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// section carries out a part, prints its result, and writes it between the markers of the
// part in the document. Results of a part that failed are printed only.
func (s settings) section(part string, measure func() (string, error)) error {
	if s.write != "" {
		if _, _, err := around(s.write, part); err != nil {
			return err
		}
	}
	at := conditions()
	text, err := measure()
	if text != "" {
		text = at + "\n\n" + text
		fmt.Print(text)
	}
	if err != nil || s.write == "" {
		return err
	}
	before, after, err := around(s.write, part)
	if err != nil {
		return err
	}
	return os.WriteFile(s.write, []byte(before+text+after), 0o644)
}

// around is the document before the section of a part and after it.
func around(path, part string) (before, after string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	begin, end := "<!-- "+part+": begin -->\n", "<!-- "+part+": end -->\n"
	before, rest, opened := strings.Cut(string(data), begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", "", fmt.Errorf("%s has no section between %q and %q", path, begin, end)
	}
	return before + begin, end + after, nil
}

// conditions returns the date, the commit, the versions and the machine of a measurement.
func conditions() string {
	commit := "unknown"
	if out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output(); err == nil {
		commit = strings.TrimSpace(string(out))
	}
	average, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(average), " ")
	return fmt.Sprintf("Measured on %s at commit %s with kube-apiserver %s. The machine has %d cores. "+
		"Its load average was %s at the start.",
		time.Now().UTC().Format(time.DateOnly), commit, controlplane.ServerVersion, runtime.NumCPU(), load)
}

// grouped is a number with commas.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
