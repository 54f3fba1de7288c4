package create

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// errNotWritten is why a run stops whose results can't be written.
var errNotWritten = errors.New("the results cannot be written")

// printer prints objects on stdout in the format that the user asked for.
type printer struct {
	out       io.Writer
	lines     genericclioptions.NamePrintFlags // for output without -o
	format    string                           // of -o
	whole     bool                             // the format shows more of an object than its name
	operation string                           // "created", or "created (dry run)"
	kubectls  func(runtime.Object) error
	stop      context.CancelCauseFunc

	inLines sync.Mutex // held while lines of -o jsonl are written; guards the fields below
	job     int        // of the last line
	taken   bool       // giveUp writes the last lines, and nothing else does
}

func newPrinter(
	out io.Writer, flags *genericclioptions.PrintFlags, kubectls func(runtime.Object) error,
	stop context.CancelCauseFunc,
) *printer {
	return &printer{
		out: out, lines: *flags.NamePrintFlags, format: *flags.OutputFormat, whole: showsWhole(flags),
		operation: flags.NamePrintFlags.Operation, kubectls: kubectls, stop: stop,
	}
}

// showsWhole reports whether the format shows more of an object than its name.
func showsWhole(flags *genericclioptions.PrintFlags) bool {
	switch *flags.OutputFormat {
	case "":
		return *flags.TemplatePrinterFlags.TemplateArgument != ""
	case "name", formatLines:
		return false
	}
	return true
}

// print prints an object, except in lines. After stdout is closed, the run creates nothing more.
func (p *printer) print(object runtime.Object, operation string) error {
	if p.format == formatLines {
		return nil
	}
	return p.checked(p.write(object, operation))
}

func (p *printer) checked(err error) error {
	if out, ok := p.out.(*output.CheckedWriter); ok && out.Err() != nil {
		err = out.Err()
		p.stop(errNotWritten)
	}
	return err
}

// write refuses for -o name a name that could write to a terminal, or that would be two lines, because readers of -o
// name take the name as it is. A line without -o is as kubectl's, with control characters escaped. Names can come from
// a cluster.
func (p *printer) write(object runtime.Object, operation string) error {
	switch metadata, err := meta.Accessor(object); {
	case p.whole:
		return p.kubectls(object)
	case p.format == "":
	case err == nil && terminal.Escaped(metadata.GetName()) != metadata.GetName():
		return errors.New("its name has control characters, which -o name doesn't escape. Use -o json")
	default:
		return p.kubectls(object)
	}
	p.lines.Operation = operation
	named, err := p.lines.ToPrinter("")
	if err != nil {
		return err
	}
	var line strings.Builder
	if err := named.PrintObj(object, &line); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, terminal.Escaped(strings.TrimSuffix(line.String(), "\n")))
	return err
}
