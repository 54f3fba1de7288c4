package duplicates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/duplicates/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// show prints the verdict, the groups and the warnings, and returns the error that makes
// the exit code.
func (o *options) show(ctx context.Context, s *search) error {
	o.printVerdict(s)
	if err := o.print(s); err != nil {
		return err
	}
	o.warn(s)
	return o.evaluate(ctx, s)
}

// print prints the groups on stdout.
func (o *options) print(s *search) error {
	switch {
	case o.names:
		for _, p := range s.proposed() {
			kind := schema.GroupResource{Group: p.resource.Group, Resource: strings.ToLower(p.resource.Kind)}
			fmt.Fprintln(o.Out, terminal.OneLine(kind.String()+"/"+p.name))
		}
		return nil
	case o.printFlags.ForMachines():
		return o.printFlags.Print(o.report(s), o.Out)
	}
	table := o.table(s.shown(o.wide), s.ended)
	if len(table.Rows) == 0 {
		return nil
	}
	if terminal.IsTerminal(o.Out) {
		table = fit(table, terminal.Width(o.Out))
	}
	return table.Print(o.Out, true)
}

// shown returns the groups of the table.
func (s *search) shown(wide bool) (shown []*duplicates.Group) {
	for _, g := range s.result.Groups {
		if wide || g.Grade != duplicates.Possible {
			shown = append(shown, g)
		}
	}
	return shown
}

// printVerdict prints the result in the first lines.
func (o *options) printVerdict(s *search) {
	if unread, _ := s.unread(); len(unread) > 0 && !o.isComplete(s) {
		all := len(s.resources)
		o.printLine(fmt.Sprintf(messages.Unread, humanize.Grouped(all-len(unread)), humanize.Count(all, "type")))
	}
	confirmed, ofConfirmed := s.count(duplicates.Confirmed)
	likely, ofLikely := s.count(duplicates.Likely)
	possible, _ := s.count(duplicates.Possible)
	if confirmed+likely == 0 {
		o.printLine(fmt.Sprintf(messages.None, humanize.Count(s.result.Recent, "object"), o.since.String()))
	} else {
		found := fmt.Sprintf(messages.Found, humanize.Count(confirmed+likely, "group"),
			humanize.Count(ofConfirmed+ofLikely, "object"))
		if confirmed > 0 {
			found += " " + fmt.Sprintf(messages.Grades, humanize.Grouped(confirmed), humanize.Grouped(likely)) + "."
		}
		o.printLine(found)
		if proposed := int64(len(s.proposed())); proposed > 0 && !o.names {
			o.printLine(fmt.Sprintf(messages.Proposed, humanize.Count(proposed, "object")))
		}
		o.hint(s.result.Groups[0])
	}
	if possible > 0 && !o.wide {
		o.printLine(fmt.Sprintf(messages.PossibleGroups, humanize.Count(possible, "group")))
	}
}

// hint prints the command that compares the objects of the first group.
func (o *options) hint(g *duplicates.Group) {
	var words []string
	for _, object := range g.Objects() {
		words = append(words, g.Resource.GroupResource().String()+"/"+object.Name)
	}
	if g.Namespace != "" {
		words = append(words, "-n", g.Namespace)
	}
	o.printLine(messages.Decide)
	fmt.Fprintf(o.ErrOut, messages.CompareCommand+"\n", reference.Words(words...))
}

// warn prints the types that were not read.
func (o *options) warn(s *search) {
	_, forbidden := s.unread()
	quiet := func(skipped census.Skipped) bool {
		isType := slices.ContainsFunc(forbidden, func(r census.Resource) bool {
			return r.Group == skipped.Group && r.Resource == skipped.Resource
		})
		forbidden := isType && skipped.Namespace == o.namespace
		return len(o.arguments) == 0 && (skipped.Reason == census.Excluded || forbidden)
	}
	for _, skipped := range s.result.Skipped {
		if !quiet(skipped) {
			scope := humanize.Scope(skipped.Group, skipped.Resource, skipped.Namespace)
			o.printLine(fmt.Sprintf(messages.Skipped, scope, skipped.Message))
		}
	}
	if types := namesOf(forbidden); len(types) > 0 && len(o.arguments) == 0 {
		count := humanize.Count(len(types), "type")
		text := fmt.Sprintf(messages.Forbidden, count, humanize.Few(types))
		if len(types) == len(s.resources) {
			text = fmt.Sprintf(messages.ForbiddenAll, count)
			if o.allNamespaces {
				text += messages.TryNamespace
			}
		}
		o.printLine(text)
	}
	if types := namesOf(s.result.Inconsistent); len(types) > 0 {
		o.printLine(fmt.Sprintf(messages.Inconsistent, humanize.Few(types)))
	}
	if o.wide && len(o.arguments) == 0 {
		o.printLine(messages.SecretsUnnamed)
	}
}

// printLine writes a line on stderr.
func (o *options) printLine(text string) { fmt.Fprintln(o.ErrOut, terminal.OneLine(text)) }

// evaluate returns the error that has the exit code.
func (o *options) evaluate(ctx context.Context, s *search) error {
	if ctx.Err() != nil {
		return &exitcode.Error{Code: exitcode.Interrupted, Lines: []string{messages.Interrupted}}
	}
	var failed error
	if !o.isComplete(s) {
		failed = errors.New(messages.Incomplete)
	}
	if !o.exceeds(s) {
		return failed
	}
	confirmed, _ := s.count(duplicates.Confirmed)
	likely, _ := s.count(duplicates.Likely)
	line := fmt.Sprintf(messages.GateExceeded, humanize.Count(confirmed+likely, "group"), humanize.Grouped(o.failAbove))
	return &exitcode.Error{Code: exitcode.Gate, Err: failed, Lines: []string{line}}
}
