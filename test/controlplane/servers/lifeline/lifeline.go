// Package lifeline ends a test server when the process that started it ends. The package works for a normal exit, a
// panic, Ctrl-C and SIGKILL.
//
// The starter sets KUBECTL_GENNAME_LIFELINE=1 and keeps the write end of the server's standard input open. The kernel
// closes it when the starter ends. Importing the package is enough.
package lifeline

import (
	"io"
	"os"
)

func init() {
	if os.Getenv("KUBECTL_GENNAME_LIFELINE") == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}
