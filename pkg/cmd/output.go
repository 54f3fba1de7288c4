package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// machineFlags are kubectl's -o for an object of ours: json, yaml, kyaml,
// jsonpath, go-template and custom-columns, and wide where the command has a
// table. There is no -o name: a report has none.
type machineFlags struct {
	*genericclioptions.PrintFlags
	columns *get.CustomColumnsPrintFlags
}

func machinePrintFlags() *machineFlags {
	flags := genericclioptions.NewPrintFlags("")
	flags.NamePrintFlags = nil
	return &machineFlags{flags, get.NewCustomColumnsPrintFlags()}
}

// AddFlags gives the command -o and its companions.
func (f *machineFlags) AddFlags(cmd *cobra.Command) {
	f.PrintFlags.AddFlags(cmd)
	flag := cmd.Flags().Lookup("output")
	formats := strings.Join(append(f.AllowedFormats(), f.columns.AllowedFormats()...), ", ")
	flag.Usage = fmt.Sprintf("Output format. One of: (%s).", formats)
}

// wantsMachineOutput tells whether the user asked for one of those formats.
func wantsMachineOutput(flags *machineFlags) bool {
	return *flags.OutputFormat != "" || flags.OutputFlagSpecified() || *flags.TemplatePrinterFlags.TemplateArgument != ""
}

// checkFormat refuses a format that there is not, before any work is done.
func checkFormat(flags *machineFlags) error {
	if !wantsMachineOutput(flags) {
		return nil
	}
	_, err := flags.printer()
	return err
}

func printObject(flags *machineFlags, object runtime.Object, out io.Writer) error {
	printer, err := flags.printer()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, out)
}

func (f *machineFlags) printer() (printers.ResourcePrinter, error) {
	f.columns.TemplateArgument = *f.TemplatePrinterFlags.TemplateArgument
	columns, err := f.columns.ToPrinter(*f.OutputFormat)
	if !genericclioptions.IsNoCompatiblePrinterError(err) {
		return contentPrinter{columns}, err
	}
	printer, err := f.ToPrinter()
	var none genericclioptions.NoCompatiblePrinterError
	switch {
	case errors.As(err, &none):
		none.AllowedFormats = append(none.AllowedFormats, f.columns.AllowedFormats()...)
		return nil, none
	case strings.HasPrefix(*f.OutputFormat, "jsonpath"):
		return contentPrinter{printer}, err
	}
	return printer, err
}

// contentPrinter prints the content of an object of ours as kubectl's printers
// print what a cluster has: integers have all their digits in jsonpath, and
// custom columns have a row for each item.
type contentPrinter struct{ printers.ResourcePrinter }

func (p contentPrinter) PrintObj(object runtime.Object, out io.Writer) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	items, ok := content["items"].([]any)
	if !ok {
		return p.ResourcePrinter.PrintObj(&unstructured.Unstructured{Object: content}, out)
	}
	list := &unstructured.UnstructuredList{Object: content}
	for _, item := range items {
		list.Items = append(list.Items, unstructured.Unstructured{Object: item.(map[string]any)})
	}
	return p.ResourcePrinter.PrintObj(list, out)
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
func takeWide(flags *machineFlags) bool {
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
