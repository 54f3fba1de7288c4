// Command measure runs a command, and prints as JSON how long it took, how
// much processor time and, at most, memory, and what it printed.
//
// It is a small program of its own because Linux counts the memory of the
// process that starts a child as the child's: the benchmarks, with their
// clients of Kubernetes and etcd, have more than what they measure.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	var out, errOut bytes.Buffer
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	began := time.Now()
	err := cmd.Run()
	seconds := time.Since(began).Seconds()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, errOut.String())
		os.Exit(1)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"Seconds": seconds, "CPU": (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		"MaxRSS": usage.Maxrss << 10, "Stdout": out.String(), "Stderr": errOut.String(),
	})
}
