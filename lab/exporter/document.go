package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// section carries out a part, prints its result, and writes it between the markers of the
// part in the document. Results of a part that failed are printed only.
func (s settings) section(part string, measure func() (string, error)) error {
	if s.write != "" {
		if err := document.Check(s.write, part); err != nil {
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
	return document.Write(s.write, part, text)
}

// conditions returns the date, the commit, the versions and the machine of a measurement.
func conditions() string {
	return fmt.Sprintf("Measured on %s at commit %s with kube-apiserver %s. The machine has %d cores. "+
		"Its load average was %s at the start.",
		time.Now().UTC().Format(time.DateOnly), document.Commit(), controlplane.ServerVersion, runtime.NumCPU(), document.LoadAverage())
}
