package cmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// machinePrintFlags are kubectl's -o for an object of ours: json, yaml, kyaml,
// jsonpath and go-template. There is no -o name: a report has none.
func machinePrintFlags() *genericclioptions.PrintFlags {
	flags := genericclioptions.NewPrintFlags("")
	flags.NamePrintFlags = nil
	return flags
}

// wantsMachineOutput tells whether the user asked for one of those formats.
func wantsMachineOutput(flags *genericclioptions.PrintFlags) bool {
	return *flags.OutputFormat != "" || flags.OutputFlagSpecified() || *flags.TemplatePrinterFlags.TemplateArgument != ""
}

func printObject(flags *genericclioptions.PrintFlags, object runtime.Object, out io.Writer) error {
	printer, err := flags.ToPrinter()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, out)
}

// noArguments refuses what stands on the command line beside flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cmdutil.UsageErrorf(cmd, "Unexpected args: %v", args)
	}
	return nil
}

const wideFormat = "wide"

// addWide names the format wide, which a table has beside kubectl's formats.
func addWide(cmd *cobra.Command) {
	flag := cmd.Flags().Lookup("output")
	flag.Usage = strings.Replace(flag.Usage, "One of: (", "One of: ("+wideFormat+", ", 1)
}

// takeWide tells whether the user asked for the wide table. It is taken out of
// the flags then, so that what is left of them is for machines.
func takeWide(flags *genericclioptions.PrintFlags) bool {
	if *flags.OutputFormat != wideFormat {
		return false
	}
	*flags.OutputFormat = ""
	flags.OutputFlagSpecified = func() bool { return false }
	return true
}

// checkedWriter remembers the first error, because not every printer of
// kubectl's returns it: a result that is lost is no success.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
