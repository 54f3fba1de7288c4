// Package output owns how results are printed for machines: kubectl's -o for
// objects of ours, and the writer that notices a result that is lost. It has no
// text for people.
package output

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
)

// Flags are kubectl's -o for an object of ours: json, yaml, kyaml,
// jsonpath, go-template and custom-columns, and wide where the command has a
// table. There is no -o name: a report has none.
type Flags struct {
	*genericclioptions.PrintFlags
	columns *get.CustomColumnsPrintFlags
}

// NewFlags are the flags as they are before the command line is read.
func NewFlags() *Flags {
	flags := genericclioptions.NewPrintFlags("")
	flags.NamePrintFlags = nil
	return &Flags{flags, get.NewCustomColumnsPrintFlags()}
}

// AddFlags gives the command -o and its companions.
func (f *Flags) AddFlags(cmd *cobra.Command) {
	f.PrintFlags.AddFlags(cmd)
	flag := cmd.Flags().Lookup("output")
	formats := strings.Join(append(f.AllowedFormats(), f.columns.AllowedFormats()...), ", ")
	flag.Usage = fmt.Sprintf("Output format. One of: (%s).", formats)
}

// ForMachines reports whether the user asked for one of those formats.
func (f *Flags) ForMachines() bool {
	return *f.OutputFormat != "" || f.OutputFlagSpecified() || *f.TemplatePrinterFlags.TemplateArgument != ""
}

// Check refuses a format that there is not, before any work is done.
func (f *Flags) Check() error {
	if !f.ForMachines() {
		return nil
	}
	_, err := f.printer()
	return err
}

// Print prints the object in the format asked for.
func (f *Flags) Print(object runtime.Object, out io.Writer) error {
	printer, err := f.printer()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, out)
}

func (f *Flags) printer() (printers.ResourcePrinter, error) {
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

// Wide is the format that a table has beside kubectl's.
const Wide = "wide"

// AddWide makes the help of the command's -o name the format wide.
func AddWide(cmd *cobra.Command) {
	flag := cmd.Flags().Lookup("output")
	flag.Usage = strings.Replace(flag.Usage, "One of: (", "One of: ("+Wide+", ", 1)
}

// TakeWide reports whether the user asked for the wide table. It is taken out of
// the flags then, so that what is left of them is for machines.
func (f *Flags) TakeWide() bool {
	if *f.OutputFormat != Wide {
		return false
	}
	*f.OutputFormat = ""
	f.OutputFlagSpecified = func() bool { return false }
	return true
}

// CheckedWriter remembers the first error, because not every printer of
// kubectl's returns it: a result that is lost is no success.
type CheckedWriter struct {
	io.Writer
	err error
}

func (w *CheckedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Err is the first error of a write.
func (w *CheckedWriter) Err() error { return w.err }
