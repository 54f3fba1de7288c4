// Package output prints results for machines. The package has kubectl's -o for our objects, and the writer that
// notices a lost result. The package has no text for people.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
)

// Wide is the format of a table with all its columns.
const Wide = "wide"

// Flags are kubectl's -o for an object of ours: json, yaml, kyaml, jsonpath, go-template and
// custom-columns, and the command's own formats. There is no -o name, because a report has no name.
type Flags struct {
	// NoHeaders is --no-headers.
	NoHeaders bool

	kubectls *genericclioptions.PrintFlags
	columns  *get.CustomColumnsPrintFlags
	own      []string
	made     printers.ResourcePrinter // by the first Print
}

// NewFlags returns flags that have their defaults. own are the formats that the command prints itself.
func NewFlags(own ...string) *Flags {
	flags := genericclioptions.NewPrintFlags("")
	flags.NamePrintFlags = nil
	return &Flags{kubectls: flags, columns: get.NewCustomColumnsPrintFlags(), own: own}
}

// AddFlags gives the command -o and its companions.
func (f *Flags) AddFlags(cmd *cobra.Command) {
	f.kubectls.AddFlags(cmd)
	const name = "output"
	cmd.Flags().Lookup(name).Usage = fmt.Sprintf("Output format. One of: (%s).", strings.Join(f.formats(), ", "))
	cmd.Flags().Lookup("show-managed-fields").Hidden = true // a report has no managedFields
	offer := cobra.FixedCompletions(f.formats(), cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc(name, offer) // fails only for an unknown flag
}

// AddTableFlags gives a command that prints a table --no-headers, too.
func (f *Flags) AddTableFlags(cmd *cobra.Command) {
	f.AddFlags(cmd)
	cmd.Flags().BoolVar(&f.NoHeaders, "no-headers", false, "Print the table without headers")
}

// formats returns the values of -o, in the order of its help.
func (f *Flags) formats() []string {
	formats := append(f.kubectls.AllowedFormats(), f.columns.AllowedFormats()...)
	for _, own := range f.own {
		if own == Wide { // where kubectl get has it
			formats = slices.Insert(formats, 0, own)
			continue
		}
		formats = append(formats, own)
	}
	return formats
}

// Take reports whether -o is the command's own format, and removes that format from the flags. The
// remaining formats are for machines.
func (f *Flags) Take(own string) bool {
	f.own = slices.DeleteFunc(f.own, func(format string) bool { return format == own })
	if *f.kubectls.OutputFormat != own {
		return false
	}
	*f.kubectls.OutputFormat = ""
	f.kubectls.OutputFlagSpecified = func() bool { return false }
	return true
}

// ForMachines reports whether the user chose a format that programs read.
func (f *Flags) ForMachines() bool {
	return *f.kubectls.OutputFormat != "" || f.kubectls.OutputFlagSpecified() ||
		*f.kubectls.TemplatePrinterFlags.TemplateArgument != ""
}

// Check returns an error for an unknown format, before any work is done.
func (f *Flags) Check() error {
	if !f.ForMachines() || slices.Contains(f.own, *f.kubectls.OutputFormat) {
		return nil
	}
	_, err := f.printer()
	return err
}

// Print prints the object in the chosen format. If Print is called several times, it separates YAML documents, and
// prints one header of custom columns.
func (f *Flags) Print(object runtime.Object, out io.Writer) error {
	if f.made == nil {
		printer, err := f.printer()
		if err != nil {
			return err
		}
		f.made = printer
	}
	return f.made.PrintObj(object, out)
}

func (f *Flags) printer() (printers.ResourcePrinter, error) {
	f.columns.TemplateArgument = *f.kubectls.TemplatePrinterFlags.TemplateArgument
	columns, err := f.columns.ToPrinter(*f.kubectls.OutputFormat)
	if !genericclioptions.IsNoCompatiblePrinterError(err) {
		return contentPrinter{columns}, err
	}
	printer, err := f.kubectls.ToPrinter()
	var none genericclioptions.NoCompatiblePrinterError
	switch {
	case errors.As(err, &none):
		none.AllowedFormats = f.formats()
		return nil, WithNearest(none)
	case strings.HasPrefix(*f.kubectls.OutputFormat, "jsonpath"):
		return contentPrinter{printer}, err
	}
	switch *f.kubectls.OutputFormat {
	case "json":
		printer = jsonPrinter{}
	case "yaml", "kyaml":
		printer = InertYAML(printer)
	}
	return printer, err
}

// InertYAML returns a printer of YAML that prints an object as kubectl's printer does. If a CI system would execute a
// line of it, the printer prints JSON, which is YAML, too.
func InertYAML(kubectls printers.ResourcePrinter) printers.ResourcePrinter {
	return yamlPrinter{kubectls}
}

type yamlPrinter struct{ printer printers.ResourcePrinter }

// executes reports whether a CI system would execute a command in the text (terminal.Printable).
func executes(text []byte) bool {
	return reference.LineCommand.Match(text) || reference.RunnerCommand.Match(text)
}

func (p yamlPrinter) PrintObj(object runtime.Object, to io.Writer) error {
	var text bytes.Buffer
	if err := p.printer.PrintObj(object, &text); err != nil {
		return err
	}
	if !executes(text.Bytes()) {
		_, err := text.WriteTo(to)
		return err
	}
	compact, err := yaml.YAMLToJSON(text.Bytes())
	if err != nil {
		return err
	}
	separator := ""
	if strings.HasPrefix(text.String(), "---\n") {
		separator = "---\n"
	}
	indented, err := jsontext.AppendFormat([]byte(separator), compact, jsontext.WithIndent("    "))
	if err != nil {
		return err
	}
	_, err = InertJSON(to).Write(append(indented, '\n'))
	return err
}

// jsonPrinter prints the same as kubectl's printer, but as a stream, because the whole text of 100,000 items takes a
// gigabyte.
type jsonPrinter struct{}

func (jsonPrinter) PrintObj(object runtime.Object, to io.Writer) error {
	out := InertJSON(to)
	if err := json.MarshalWrite(out, object, jsonv1.DefaultOptionsV1(), jsontext.WithIndent("    ")); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

// WithNearest adds the most similar format to kubectl's error about an unknown format.
func WithNearest(err error) error {
	var none genericclioptions.NoCompatiblePrinterError
	if !errors.As(err, &none) || none.OutputFormat == nil {
		return err
	}
	return fmt.Errorf("%w%s", err, humanize.DidYouMean("-o ", *none.OutputFormat, none.AllowedFormats))
}

// contentPrinter prints the content of our objects as kubectl's printers print objects of a
// cluster. Integers have all their digits in jsonpath, and custom columns have a row for each item.
type contentPrinter struct{ printer printers.ResourcePrinter }

func (p contentPrinter) PrintObj(object runtime.Object, out io.Writer) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	items, ok := content["items"].([]any)
	if !ok {
		return p.printer.PrintObj(&unstructured.Unstructured{Object: content}, out)
	}
	list := &unstructured.UnstructuredList{Object: content}
	for _, item := range items {
		list.Items = append(list.Items, unstructured.Unstructured{Object: item.(map[string]any)})
	}
	return p.printer.PrintObj(list, out)
}

// CheckedWriter keeps the first error, because not every printer of kubectl returns it. A lost
// result is a failure.
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

// Err returns the first error of a write.
func (w *CheckedWriter) Err() error { return w.err }

// These are the forms of a bracket in JSON and XML.
const (
	jsonBracket = `\u005b`
	xmlBracket  = "&#91;"
)

// InertJSON returns a writer of JSON in which no string has a command for a CI system that runs commands anywhere in
// a line, such as ##[add-mask] or ##vso[…]. Readers of the JSON get the same strings.
func InertJSON(out io.Writer) io.Writer { return &inertWriter{out: out, bracket: jsonBracket} }

// InertXML is InertJSON for XML.
func InertXML(out io.Writer) io.Writer { return &inertWriter{out: out, bracket: xmlBracket} }

// inertWriter replaces the bracket of a command. A command begins with two number signs, letters and a bracket
// (reference.RunnerCommand). In JSON and XML, this sequence is only in strings.
type inertWriter struct {
	out     io.Writer
	bracket string
	sharps  int // 0 to 2: the beginning of a command that was written last
}

func (w *inertWriter) Write(text []byte) (int, error) {
	var safe []byte
	for _, b := range text {
		if b == '[' && w.sharps == 2 {
			safe = append(safe, w.bracket...)
			w.sharps = 0
			continue
		}
		safe = append(safe, b)
		switch {
		case b == '#':
			w.sharps = min(w.sharps+1, 2)
		case w.sharps < 2 || !isWord(b):
			w.sharps = 0
		}
	}
	if _, err := w.out.Write(safe); err != nil {
		return 0, err
	}
	return len(text), nil
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
