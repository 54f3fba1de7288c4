package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// conditions describes the machine, the date and the versions of a measurement.
func (b *bench) conditions(server string) string {
	command := "go run -C lab/bench . " + strings.Join(os.Args[1:], " ")
	return fmt.Sprintf("Measured on %s with `%s`, %d cores (%s), %s, commit %s. The machine ran kube-apiserver %s, and etcd. Its load average was %s before. "+
		"Numbers are medians, with the least and the greatest in brackets.\n",
		time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(command), runtime.NumCPU(), cpuModel(), runtime.Version(), b.commit, server, b.load)
}

// loadAverage is the load average of the last minute. Measurements on a busy machine should be repeated.
func loadAverage() string {
	data, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(data), " ")
	return load
}

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, " \t:\n")
		}
	}
	return runtime.GOARCH
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// writeSection replaces the text between the markers of the section called name.
func writeSection(path, name, text string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- %s: begin -->\n", name), fmt.Sprintf("<!-- %s: end -->", name)
	before, rest, ok1 := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no section %q between %q and %q", path, name, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(path, []byte(before+begin+strings.TrimSpace(text)+"\n"+end+after), 0o644)
}
