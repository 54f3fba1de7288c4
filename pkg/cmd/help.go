package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mitchellh/go-wordwrap"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	// maxHelpWidth is the width of help on a wider terminal.
	maxHelpWidth = 100
	// flagColumn is the widest name of a flag that has its text beside it.
	flagColumn = 24
)

// kubectls are flags that work as in kubectl create and kubectl get. Short help has only their names.
var kubectls = []string{
	"allow-missing-template-keys", "edit", "field-manager", "kustomize", "raw", "recursive", "save-config",
	"show-managed-fields", "template", "validate", "windows-line-endings",
}

// printHelp prints the help of --help. For a command with flags, it has one or two screens: the first paragraph,
// the examples, and each flag with the first sentence of its text. "help COMMAND" prints the whole help, as
// kubectl does.
func printHelp(cmd *cobra.Command, args []string) {
	if !cmd.HasLocalFlags() || cmd.HasSubCommands() {
		cmd.Root().HelpFunc()(cmd, args)
		return
	}
	printShortHelp(cmd, cmd.OutOrStdout())
}

func printShortHelp(cmd *cobra.Command, out io.Writer) {
	width := min(terminal.Width(out), maxHelpWidth)
	about, _, _ := strings.Cut(strings.TrimSpace(cmd.Long), "\n\n")
	fmt.Fprintln(out, wrapped(about, 0, width))
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", withoutGaps(cmd.Example))
	}
	fmt.Fprintln(out, "\nOptions:")
	var others []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden, f.Name == "help":
		case slices.Contains(kubectls, f.Name):
			others = append(others, "--"+f.Name)
		default:
			fmt.Fprintln(out, flagLine(f, width))
		}
	})
	if len(others) > 0 {
		fmt.Fprintln(out, "  "+wrapped("As in kubectl: "+strings.Join(others, ", "), 2, width))
	}
	fmt.Fprintf(out, "\nUsage:\n  %s\n", wrapped(cmd.UseLine()+" [options]", 2, width))
	fmt.Fprintf(out, "\nTo print all about the command and its flags:\n  %s help %s\n",
		cmd.Parent().CommandPath(), cmd.Name())
}

// wrapped returns text in lines of at most the given width. All lines except the first one are indented.
func wrapped(text string, indent, width int) string {
	text = wordwrap.WrapString(strings.Join(strings.Fields(text), " "), uint(width-indent))
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
}

// withoutGaps returns examples without the lines between them.
func withoutGaps(examples string) string {
	var lines []string
	for line := range strings.Lines(examples) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// flagLine returns a flag with its default, and the first sentence of its text.
func flagLine(f *pflag.Flag, width int) string {
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	if !slices.Contains([]string{"", "0", "0s", "[]", "false", "true"}, f.DefValue) {
		name += "=" + strings.Trim(f.DefValue, "[]")
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(f.Usage, ".(", ". ("), ". ")
	if formats := fewFormats(f); formats != "" {
		text = formats
	}
	const indent = 2 + flagColumn + 2
	text = wrapped(strings.TrimSuffix(text, "."), indent, width)
	if len(name) > flagColumn {
		return "  " + name + "\n" + strings.Repeat(" ", indent) + text
	}
	return fmt.Sprintf("  %-*s  %s", flagColumn, name, text)
}

// fewFormats returns the values of -o, without kubectl's variants of templates.
func fewFormats(f *pflag.Flag) string {
	_, formats, found := strings.Cut(strings.TrimSuffix(f.Usage, ")."), "One of: (")
	if f.Name != "output" || !found {
		return ""
	}
	few := slices.DeleteFunc(strings.Split(formats, ", "), func(format string) bool {
		return strings.HasSuffix(format, "-file") || strings.HasSuffix(format, "-as-json") ||
			strings.HasPrefix(format, "template")
	})
	return strings.Join(few, ", ")
}
