// Package lint is the command that looks at manifests: its flags, which files it
// reads, and the formats that it prints. It finds nothing itself: internal/lint
// does.
package lint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
)

// gate is the least level that makes the command fail.
type gate string

const (
	atError   = gate(v1alpha1.LintError)
	atWarning = gate(v1alpha1.LintWarning)
	atNote    = gate(v1alpha1.LintNote)
	never     = gate("never")
)

// The formats that the command has of its own.
const (
	sarifFormat  = "sarif"
	junitFormat  = "junit"
	githubFormat = "github"
)

// newestMinor is the minor version of Kubernetes that manifests are for, unless
// the user says another; oldestMinor is that of which the rules know.
const (
	newestMinor = 37
	oldestMinor = 28
)

// options are what the flags say.
type options struct {
	genericiooptions.IOStreams
	resource.FilenameOptions

	printFlags *output.Flags
	print      func(*lint.Result) error
	failOn     flagvalue.Enum[gate]
	explain    flagvalue.Enum[string]
	disable    []string
	kubernetes string
	minor      int
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
		Short:                 "Say what will go wrong with the names of manifests",
		Long: templates.LongDesc(`
			Read manifests as create does, and say what will go wrong with the names of their objects,
			before they are created. No cluster is asked.

			Each finding names file, line and column, what is wrong, why, and what to do. With
			"# genname:disable RULE: REASON" above the field, at its line, or before the first field
			for all of the document, or in the annotation genname.dev/lint-disable, a rule is silent.

			The exit code is 3 with findings of the level of --fail-on, and 1 if a file cannot be read.
			In a folder, what is no Kubernetes object is passed over, and so are templates.`),
		Example: templates.Examples(`
			# Look at a manifest
			kubectl genname lint -f job.yaml

			# Look at all manifests of a folder and of those in it, for GitHub
			kubectl genname lint -R -f . -o sarif --fail-on never > genname.sarif

			# What a rule is about
			kubectl genname lint --explain cut-prefix`),
		RunE: runner.RunE(o),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	cmdutil.AddFilenameOptionFlags(cmd, &o.FilenameOptions, "to look at")
	flags := cmd.Flags()
	flags.Var(&o.failOn, "fail-on",
		o.failOn.Usage("Exit with 3 if there is a finding of this level, or of a worse one", nil))
	flags.Var(&o.explain, "explain", o.explain.Usage("Say what a rule is about, and look at nothing", nil))
	flags.StringSliceVar(&o.disable, "disable", nil, "Rules that are left out")
	flags.StringVar(&o.kubernetes, "kubernetes-version", o.kubernetes,
		"Version of Kubernetes that the manifests are for, from 1.28 on: "+
			"names of Services may begin with a digit from 1.36 on")
	o.printFlags.AddFlags(cmd)
	offer := cobra.FixedCompletions(ruleNames(), cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("disable", offer) // fails only for a flag that is not there
}

// ruleNames returns the names of all rules.
func ruleNames() []string {
	var names []string
	for _, rule := range rules.All {
		names = append(names, rule.Name)
	}
	return names
}

// Complete takes the format from the command line.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cmdutil.UsageErrorf(cmd, "Unexpected args: %v", args)
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
	return nil
}

var version = regexp.MustCompile(`^v?1\.(\d+)(\.\d+)?$`)

// Validate returns what is wrong with the flags.
func (o *options) Validate() error {
	for _, name := range o.disable {
		if _, err := rules.Named(name); err != nil {
			return fmt.Errorf("--disable: %w", err)
		}
	}
	said := version.FindStringSubmatch(o.kubernetes)
	if said != nil {
		o.minor, _ = strconv.Atoi(said[1])
	}
	if o.minor < oldestMinor {
		return fmt.Errorf("--kubernetes-version must be like 1.%d, and not below 1.%d, as %q is",
			newestMinor, oldestMinor, o.kubernetes)
	}
	switch {
	case o.explain.Value != "":
		return nil
	case len(o.Filenames) == 0 && o.Kustomize == "":
		return errors.New("must specify one of -f and -k")
	case len(o.Filenames) > 0 && o.Kustomize != "":
		return errors.New("only one of -f or -k can be specified")
	case o.Kustomize != "" && o.Recursive:
		return errors.New("the -k flag can't be used with -f or -R")
	}
	return nil
}

// Run looks at the manifests, prints what it finds, and judges.
func (o *options) Run(ctx context.Context) error {
	if o.explain.Value != "" {
		rule, err := rules.Named(o.explain.Value)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(o.Out, rule.Page())
		return err
	}
	sources, failure := o.sources()
	result, err := lint.Run(ctx, sources, lint.Config{Disabled: o.disable, Minor: o.minor})
	if err != nil {
		return err
	}
	if err := o.print(result); err != nil {
		return err
	}
	o.tell(result)
	for _, u := range result.Unreadable {
		failure = errors.Join(failure, unreadable(u))
	}
	if !o.fails(result) {
		return failure
	}
	return &exitcode.Error{Code: exitcode.Gate, Err: failure}
}

// levels are from the worst one on.
var levels = []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning, v1alpha1.LintNote}

// failing reports whether a level is that of --fail-on, or worse.
func (o *options) failing(level v1alpha1.LintLevel) bool {
	return slices.Index(levels, level) <= slices.Index(levels, v1alpha1.LintLevel(o.failOn.Value))
}

// fails reports whether there is a finding that is to make the command fail.
func (o *options) fails(result *lint.Result) bool {
	return slices.ContainsFunc(result.Findings, func(f lint.Finding) bool {
		return f.Silence == nil && o.failing(f.Level)
	})
}

// unreadable returns the error of what cannot be read.
func unreadable(u lint.Unreadable) error {
	if u.Line == 0 { // its own words name it
		return u.Err
	}
	return fmt.Errorf("%s:%d: cannot be read: %w", u.File, u.Line, u.Err)
}
