package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// Annotation silences rules for its object, one line for each reason:
// RULE[,RULE…]: REASON.
const Annotation = "genname.dev/lint-disable"

// comment begins a comment that silences: genname:disable RULE[,RULE…]: REASON.
const comment = "genname:disable"

// Silence is what an author says of rules that shall be silent, and why.
type Silence struct {
	File string
	manifest.Position

	// Rules are the names as they were written.
	Rules  []string
	Reason string
	// Trouble is why it cannot silence anything, if it cannot.
	Trouble string
	// Comment is true of a comment, false of an annotation.
	Comment bool

	document *manifest.Document
	object   *manifest.Object // of an annotation
	line     int              // that the comment is about; 0 for all of the document
	used     bool
}

// silences are those of all documents, by document.
type silences struct {
	in       map[*manifest.Document][]*Silence
	all      []*Silence
	disabled []string
}

// silencesOf finds the silences of all documents.
func silencesOf(objects []rules.Object, disabled []string) *silences {
	s := &silences{in: map[*manifest.Document][]*Silence{}, disabled: disabled}
	for _, o := range objects {
		if _, seen := s.in[o.Document]; !seen && o.Document.Mentions(comment) {
			s.in[o.Document] = nil
			s.takeComments(o)
		}
		if said := o.GetAnnotations()[Annotation]; said != "" {
			for _, text := range strings.FieldsFunc(said, func(r rune) bool { return r == '\n' || r == ';' }) {
				s.add(o, text, &Silence{Position: o.Position("metadata", "annotations", Annotation), object: o.Object})
			}
		}
	}
	return s
}

// takeComments finds the comments of an object's document.
func (s *silences) takeComments(o rules.Object) {
	comments := o.Comments()
	for i, c := range comments {
		text, is := strings.CutPrefix(c.Text, comment)
		if !is {
			continue
		}
		silence := &Silence{Position: c.Position, Comment: true}
		if !c.Leads {
			silence.line = c.Line
		}
		if c.Alone && !c.Leads {
			silence.line++
			for _, next := range comments[i+1:] {
				if next.Alone && next.Line == silence.line {
					silence.line++
				}
			}
		}
		s.add(o, text, silence)
	}
}

// add takes what a silence says.
func (s *silences) add(o rules.Object, text string, silence *Silence) {
	names, reason, _ := strings.Cut(text, ":")
	silence.File, silence.document = o.File, o.Document
	silence.Reason = strings.TrimSpace(reason)
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		silence.Rules = append(silence.Rules, name)
		if _, err := rules.Named(name); err != nil {
			silence.Trouble = err.Error()
		}
	}
	if silence.Reason == "" && silence.Trouble == "" {
		silence.Trouble = fmt.Sprintf("it gives no reason: %s: REASON", strings.Join(silence.Rules, ","))
	}
	s.in[o.Document] = append(s.in[o.Document], silence)
	s.all = append(s.all, silence)
}

// of returns what silences a finding, or nil.
func (s *silences) of(f Finding) *Silence {
	for _, silence := range s.in[f.Object.Document] {
		if silence.Trouble != "" || !slices.Contains(silence.Rules, f.Rule.Name) {
			continue
		}
		if silence.object != nil && silence.object != f.Object.Object || silence.line != 0 && silence.line != f.Line {
			continue
		}
		silence.used = true
		return silence
	}
	return nil
}

// idle returns the silences that silence nothing; those of rules that are disabled
// have not had the chance.
func (s *silences) idle() []*Silence {
	var idle []*Silence
	for _, silence := range s.all {
		off := slices.ContainsFunc(silence.Rules, func(name string) bool { return slices.Contains(s.disabled, name) })
		if !silence.used && (!off || silence.Trouble != "") {
			idle = append(idle, silence)
		}
	}
	return idle
}
