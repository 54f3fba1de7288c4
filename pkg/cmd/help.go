package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	// maxHelpWidth is the width of help on a wider terminal.
	maxHelpWidth = 100
	// flagColumn is the widest name of a flag that has its text beside it.
	flagColumn = 24
	// commandColumn is the column of the texts of commands.
	commandColumn = 14
)

// kubectls are flags that work as in kubectl create and kubectl get. Short help has only their names.
var kubectls = []string{
	"allow-missing-template-keys", "edit", "field-manager", "kustomize", "raw", "recursive", "save-config",
	"show-managed-fields", "template", "validate", "windows-line-endings",
}

// common are the flags that people set most often, by command. Short help has them on its first screen.
var common = map[string][]string{
	"audit":      {"all-namespaces", "output", "sort-by", "top", "watch"},
	"create":     {"count", "filename", "output", "wait", "wait-timeout"},
	"duplicates": {"all-namespaces", "output", "since"},
	"exporter":   {"all-namespaces", "web.listen-address"},
	"lint":       {"filename", "fail-on", "explain"},
	"prune":      {"all-namespaces", "keep", "older-than", "yes"},
	"report":     {"creates", "existing", "filename"},
	"version":    {"client", "output"},
	"wrap":       {"idempotency-key"},
}

// maxExamples is the number of examples in short help.
const maxExamples = 3

// printHelp prints the help of --help. For a command, its first 24 lines have the first paragraph, the usage, three
// examples and the common flags. The other flags come after these, each with the first sentence of its text. "help
// COMMAND" prints the whole help, as kubectl does.
func printHelp(cmd *cobra.Command, _ []string) {
	if cmd.HasSubCommands() {
		printCommands(cmd, cmd.OutOrStdout())
		return
	}
	printShortHelp(cmd, cmd.OutOrStdout())
}

func printShortHelp(cmd *cobra.Command, out io.Writer) {
	width := min(terminal.Width(out), maxHelpWidth)
	about, _, _ := strings.Cut(strings.TrimSpace(cmd.Long), "\n\n")
	fmt.Fprintln(out, wrapped(about, 0, width))
	fmt.Fprintf(out, "\nUsage:\n  %s\n", wrapped(cmd.UseLine(), 2, width))
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", firstExamples(cmd.Example))
	}
	var first, rest, others []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden, f.Name == "help":
		case slices.Contains(common[cmd.Name()], f.Name):
			first = append(first, flagLine(f, width))
		case slices.Contains(kubectls, f.Name):
			others = append(others, "--"+f.Name)
		default:
			rest = append(rest, flagLine(f, width))
		}
	})
	if len(others) > 0 {
		rest = append(rest, "  "+wrapped("As in kubectl: "+strings.Join(others, ", "), 2, width))
	}
	printSection(out, "Common flags:", first)
	printSection(out, "Other flags:", rest)
	fmt.Fprintf(out, "\nTo print all about the command and its flags:\n  %s help %s\n",
		cmd.Parent().CommandPath(), cmd.Name())
}

func printSection(out io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(out, "\n%s\n%s\n", title, strings.Join(lines, "\n"))
	}
}

// printCommands prints the help of a command that has commands.
func printCommands(cmd *cobra.Command, out io.Writer) {
	width := min(terminal.Width(out), maxHelpWidth)
	fmt.Fprintln(out, wrapped(cmd.Long, 0, width))
	var lines []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "options" {
			lines = append(lines, fmt.Sprintf("  %-11s %s", c.Name(), wrapped(c.Short, commandColumn, width)))
		}
	}
	printSection(out, "Available Commands:", lines)
	printSection(out, "Usage:", []string{"  " + cmd.CommandPath() + " COMMAND [flags]"})
	for _, more := range []string{
		fmt.Sprintf("To print the help of a command, use \"%s COMMAND --help\".", cmd.CommandPath()),
		fmt.Sprintf("To print the flags of all commands, use \"%s options\".", cmd.CommandPath()),
	} {
		fmt.Fprintln(out, "\n"+wrapped(more, 0, width))
	}
}

// wrapped returns text in lines of at most the given width. All lines except the first one are indented.
func wrapped(text string, indent, width int) string {
	return terminal.Wrap(strings.Join(strings.Fields(text), " "), indent, width)
}

// firstExamples returns the first examples, without the lines between them.
func firstExamples(examples string) string {
	all := strings.SplitN(strings.TrimRight(examples, " \n"), "\n  \n", maxExamples+1)
	return strings.Join(all[:min(len(all), maxExamples)], "\n")
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
