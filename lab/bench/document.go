package main

import (
	"fmt"
	"os"
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

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, " \t:\n")
		}
	}
	return runtime.GOARCH
}
