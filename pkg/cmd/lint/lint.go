// Package lint is the command that checks manifests. The package owns the flags, the choice of files and the output
// formats. The checks are in internal/lint.
package lint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// gate is the lowest level that makes the command fail.
type gate string

const (
	atError   = gate(v1alpha1.LintError)
	atWarning = gate(v1alpha1.LintWarning)
	atNote    = gate(v1alpha1.LintNote)
	never     = gate("never")
)

// The command's own formats.
const (
	sarifFormat  = "sarif"
	junitFormat  = "junit"
	githubFormat = "github"
)

// newestMinor is the default minor version of Kubernetes. oldestMinor is the oldest minor version
// that the rules support.
const (
	newestMinor = lint.NewestMinor
	oldestMinor = 28
)

// garbage is the percentage of garbage in the memory before it is collected. Lint forgets each
// document at once, and with Go's default it would collect garbage for a third of its time.
const garbage = 200

// options are the values of the flags.
type options struct {
	genericiooptions.IOStreams
	resource.FilenameOptions

	printFlags    *output.Flags
	print         func(*lint.Result) error
	failOn        flagvalue.Enum[gate]
	explain       flagvalue.Enum[string]
	disable       []string
	exclude       []string
	showSkips     bool
	noInline      bool
	failOnSkipped bool
	kubernetes    string
	baseline      string
	writeBaseline string

	repository repository
	excludes   []ignoreList
	fileNote   string // a note about the configuration file of the repository
	settings   lint.Config
	known      baseline
}

// New returns the command.
func New(streams genericiooptions.IOStreams) *cobra.Command {
	names := ruleNames()
	o := &options{
		IOStreams:  streams,
		printFlags: output.NewFlags(sarifFormat, junitFormat, githubFormat),
		failOn:     flagvalue.NewEnum(atError, atError, atWarning, atNote, never),
		explain:    flagvalue.NewEnum("", names...),
		kubernetes: fmt.Sprintf("1.%d", newestMinor),
	}
	cmd := &cobra.Command{
		Use:                   "lint (-f FILENAME... [-R] | -k DIRECTORY)",
		DisableFlagsInUseLine: true,
		Short:                 "Check the names in manifests before you create the objects",
		Long: templates.LongDesc(`
			Check manifests for problems with names. Lint finds prefixes that the server truncates or
			refuses, and names that become too long when controllers extend them. Lint also finds
			generateName in files of tools that need a fixed name, such as Helm. Run lint before you
			create the objects, or in CI. Lint needs no cluster.

			Each finding has the file, line and column, the problem, and how to fix it. To disable a
			rule, write the comment "# genname:disable RULE: REASON" on the line of the field, on the
			line above, or before the first field of the document. Or set the annotation
			genname.dev/lint-disable to "RULE: REASON".

			The exit code is 3 if a finding has the level of --fail-on or a worse level. Otherwise the
			exit code is 1 if lint can't read a file. In a directory, lint skips templates, files
			without Kubernetes objects, invalid YAML without apiVersion and kind, and symbolic links to
			directories or out of the repository.`),
		Example: templates.Examples(`
			# Check a manifest
			kubectl genname lint -f job.yaml

			# Check all manifests below a directory, for GitHub code scanning
			kubectl genname lint -R -f . -o sarif --fail-on never > genname.sarif

			# Explain a rule
			kubectl genname lint --explain truncated-prefix`),
		RunE: runner.RunE(o),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	cmdutil.AddFilenameOptionFlags(cmd, &o.FilenameOptions, "to check")
	flags := cmd.Flags()
	flags.Var(&o.failOn, "fail-on",
		o.failOn.Usage("Exit with code 3 if there is a finding of this level or a worse one", nil))
	flags.Var(&o.explain, "explain",
		"Print the documentation of a rule, and check nothing. Rules are "+strings.Join(ruleNames(), ", "))
	flags.StringSliceVar(&o.disable, "disable", nil, "Rules to disable")
	flags.StringVar(&o.kubernetes, "kubernetes-version", o.kubernetes,
		"Version of Kubernetes that the manifests are for, 1.28 or newer. "+
			"This version decides which names are valid, and which names controllers derive from them")
	flags.StringArrayVar(&o.exclude, "exclude", nil,
		"Pattern of files to leave out of directories, as in .gitignore. Can be repeated")
	flags.BoolVar(&o.showSkips, "show-skipped", false,
		"Print the names of skipped files, and the findings that comments disable")
	flags.BoolVar(&o.failOnSkipped, "fail-on-skipped", false,
		"Exit with code 1 if files of directories can't be checked, such as symbolic links, templates and "+
			"invalid YAML, or if an object has metadata.resourceVersion")
	flags.BoolVar(&o.noInline, "no-inline-disable", false,
		"Ignore "+configName+", .gitignore, and the comments and annotations that disable rules. "+
			"Use this flag for manifests of authors that you don't trust")
	flags.StringVar(&o.baseline, "baseline", "",
		"File that --write-baseline wrote. Findings in this file count as disabled, so only new findings fail the run")
	flags.StringVar(&o.writeBaseline, "write-baseline", "",
		"Write the findings to this file, and exit with code 0. Later, run lint with the same arguments and --baseline")
	o.printFlags.AddFlags(cmd)
	offer := cobra.FixedCompletions(ruleNames(), cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("disable", offer) // fails only for an unknown flag
}

func ruleNames() []string {
	var names []string
	for _, rule := range rules.All {
		names = append(names, rule.Name)
	}
	return names
}

// Complete sets the format from the command line.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cmdutil.UsageErrorf(cmd, "Unexpected args: %v. Name files with -f, like -f %s", args, args[0])
	}
	if err := o.printFlags.Check(); err != nil {
		return err
	}
	o.print = o.printText
	for format, printer := range map[string]func(*lint.Result) error{
		sarifFormat: o.printSARIF, junitFormat: o.printJUnit, githubFormat: o.printGitHub,
	} {
		if o.printFlags.Take(format) {
			o.print = printer
		}
	}
	if o.printFlags.ForMachines() {
		o.print = func(result *lint.Result) error { return o.printFlags.Print(report(result), o.Out) }
	}
	if o.explain.Value != "" {
		return nil
	}
	return o.configure(cmd)
}

var version = regexp.MustCompile(`^v?1\.(\d+)(\.\d+)?$`)

// minorOf returns the minor version in a version of Kubernetes. minorOf returns false if the rules don't support that
// version.
func minorOf(text string) (int, bool) {
	match := version.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	minor, err := strconv.Atoi(match[1])
	return minor, err == nil && minor >= oldestMinor
}

func (o *options) configure(cmd *cobra.Command) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	o.repository = newRepository(here)
	var c config
	switch file := findConfig(o.repository, here); {
	case file == "":
	case o.noInline:
		o.fileNote = "Ignored because of --no-inline-disable: " + configName + "."
	default:
		if c, err = readConfig(o.repository, file); err != nil {
			return err
		}
	}
	if c.KubernetesVersion != "" && !cmd.Flags().Changed("kubernetes-version") {
		o.kubernetes = c.KubernetesVersion
	}
	o.settings = lint.Config{Levels: map[string]v1alpha1.LintLevel{}, Disabled: o.disable, NoInlineDisable: o.noInline}
	var disabled []string
	for name, level := range c.Levels {
		if level == off {
			disabled = append(disabled, name)
			continue
		}
		o.settings.Levels[name] = v1alpha1.LintLevel(level)
	}
	if len(disabled) > 0 {
		slices.Sort(disabled)
		o.fileNote = fmt.Sprintf("Disabled in %s: %s.", configName, strings.Join(disabled, ", "))
		o.settings.Disabled = slices.Concat(o.disable, disabled)
	}
	flags, wrong := newIgnoreList(here, o.exclude)
	if wrong != "" {
		return fmt.Errorf("--exclude: pattern %q is not valid", wrong)
	}
	list, _ := newIgnoreList(filepath.Dir(c.file), c.Exclude) // it has been checked
	o.excludes = []ignoreList{flags, list}
	if o.baseline != "" {
		o.known, err = readBaseline(o.baseline)
	}
	return err
}

// Validate returns an error if the flags are invalid.
func (o *options) Validate() error {
	for _, name := range o.disable {
		if _, err := rules.Named(name); err != nil {
			return fmt.Errorf("--disable: %w", err)
		}
	}
	minor, ok := minorOf(o.kubernetes)
	if !ok {
		return fmt.Errorf(badVersion, "--kubernetes-version", newestMinor, oldestMinor, o.kubernetes)
	}
	o.settings.Minor = minor
	switch {
	case o.explain.Value != "":
		return nil
	case len(o.Filenames) == 0 && o.Kustomize == "":
		return errors.New("must specify one of -f and -k")
	case len(o.Filenames) > 0 && o.Kustomize != "":
		return errors.New("only one of -f or -k can be specified")
	case o.baseline != "" && o.writeBaseline != "":
		return errors.New("only one of --baseline or --write-baseline can be specified")
	case o.Kustomize != "" && o.Recursive:
		return errors.New("the -k flag can't be used with -f or -R")
	}
	return nil
}

// Run checks the manifests, prints the findings, and evaluates --fail-on.
func (o *options) Run(ctx context.Context) error {
	if o.explain.Value != "" {
		rule, err := rules.Named(o.explain.Value)
		if err != nil {
			return err
		}
		text := rule.Page().Text
		if terminal.IsTerminal(o.Out) {
			text = wrapPage(text, terminal.Width(o.Out))
		}
		_, err = fmt.Fprint(o.Out, text)
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	in, done := o.input()
	defer done()
	result, err := lint.Run(ctx, in.sources, o.settings)
	if ctx.Err() != nil {
		return &exitcode.Error{Code: exitcode.Interrupted, Lines: []string{terminal.Errorf("interrupted")}}
	}
	if err != nil {
		return err
	}
	result.Unreadable = append(in.missing, result.Unreadable...)
	result.Skipped = append(result.Skipped, in.skipped...)
	gone := o.known.silence(result)
	if err := o.print(result); err != nil {
		return err
	}
	stderr := terminal.NewStderr(o.ErrOut)
	for _, line := range o.notes(result) {
		stderr.Line(line)
	}
	if gone > 0 {
		stderr.Line(terminal.Sprintf("Gone since the baseline: %s. To write it again, use --write-baseline.",
			humanize.Count(gone, "finding")))
	}
	var failures []error // joined at once, because the text of nested errors takes quadratic time
	if o.writeBaseline != "" {
		failures = append(failures, o.saveBaseline(result, stderr))
	}
	for _, u := range result.Unreadable {
		failures = append(failures, unreadable(u))
	}
	if o.failOnSkipped {
		files := notChecked(len(unchecked(result, true)), "file")
		failures = append(failures, files, notChecked(result.Exported, "object"))
	}
	failure := errors.Join(failures...)
	if o.count(result) == 0 || o.writeBaseline != "" {
		return failure
	}
	exceeded := terminal.Errorf("%s at level %s or above (--fail-on)",
		humanize.Count(o.count(result), "finding"), string(o.failOn.Value))
	return &exitcode.Error{Code: exitcode.Gate, Err: failure, Lines: []string{exceeded}}
}

// levels begins with the worst level.
var levels = []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning, v1alpha1.LintNote}

func (o *options) failing(level v1alpha1.LintLevel) bool {
	return slices.Index(levels, level) <= slices.Index(levels, v1alpha1.LintLevel(o.failOn.Value))
}

func (o *options) count(result *lint.Result) int {
	count := 0
	for _, f := range result.Findings {
		if f.Silence == nil && o.failing(f.Level) {
			count++
		}
	}
	return count
}

// unchecked returns the skipped files that can contain objects. There can be many templates, so they count only if
// the user wants it.
func unchecked(result *lint.Result, templates bool) []v1alpha1.LintSkipped {
	return slices.DeleteFunc(slices.Clone(result.Skipped), func(s v1alpha1.LintSkipped) bool {
		return s.Reason == v1alpha1.LintNoObject || s.Reason == v1alpha1.LintTemplate && !templates
	})
}

func notChecked(count int, noun string) error {
	if count == 0 {
		return nil
	}
	return fmt.Errorf("%s not checked (--fail-on-skipped). To leave files out on purpose, use --exclude",
		humanize.Count(count, noun))
}

func unreadable(u lint.Unreadable) error {
	if u.Line == 0 { // its own words name it
		return u.Err
	}
	return fmt.Errorf("%s:%d: can't be read: %w", u.File, u.Line, u.Err)
}

// badVersion is the error of a version in a flag or the configuration.
const badVersion = "%s must be a version like 1.%d, at least 1.%d, and not %q"
