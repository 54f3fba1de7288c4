// Command measure runs a command. It prints as JSON the elapsed time, the processor time, the peak memory and the
// output.
//
// It is a separate program because Linux counts the memory of the process that starts a child as the child's memory.
// The benchmarks, with their clients of Kubernetes and etcd, use more memory than the commands that they measure.
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
