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

// comment begins a comment that disables rules, genname:disable RULE[,RULE…]: REASON.
const comment = "genname:disable"

// Silence is a comment or an annotation that disables rules, and its reason.
type Silence struct {
	File string
	manifest.Position

	// Rules are the names as written.
	Rules  []string
	Reason string
	// Trouble is the reason why the comment or annotation is invalid, or "".
	Trouble string
	// Comment is true of a comment, false of an annotation.
	Comment bool

	place manifest.Place // object of an annotation, or an object of the document
	line  int            // line that the comment is about, or 0 for the whole document
	used  bool
}

func silencesOf(file string, objects []*manifest.Object) []*Silence {
	var found []*Silence
	if len(objects) > 0 && objects[0].Document.Mentions(comment) {
		found = commentsOf(file, objects[0].Place)
	}
	for _, o := range objects {
		annotation := o.GetAnnotations()[Annotation]
		for _, text := range strings.FieldsFunc(annotation, func(r rune) bool { return r == '\n' || r == ';' }) {
			at := o.Position("metadata", "annotations", Annotation)
			found = append(found, newSilence(text, Silence{File: file, Position: at, place: o.Place}))
		}
	}
	return found
}

func commentsOf(file string, place manifest.Place) []*Silence {
	var found []*Silence
	comments := place.Comments()
	for i, c := range comments {
		text, is := strings.CutPrefix(c.Text, comment)
		if !is {
			continue
		}
		silence := Silence{File: file, Position: c.Position, Comment: true, place: place}
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
		found = append(found, newSilence(text, silence))
	}
	return found
}

func newSilence(text string, silence Silence) *Silence {
	names, reason, _ := strings.Cut(text, ":")
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
	return &silence
}

func (r *Result) silence(all []*Silence, disabled []string) {
	in := map[*manifest.Document][]*Silence{}
	for _, s := range all {
		in[s.place.Document] = append(in[s.place.Document], s)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, s := range in[f.Object.Document] {
			if s.disables(f) {
				s.used, f.Silence = true, s
				break
			}
		}
	}
	for _, s := range all {
		off := slices.ContainsFunc(s.Rules, func(name string) bool { return slices.Contains(disabled, name) })
		if !s.used && (!off || s.Trouble != "") { // a rule that is left out has had no chance
			r.Idle = append(r.Idle, s)
		}
	}
}

func (s *Silence) disables(f *Finding) bool {
	switch {
	case s.Trouble != "", !slices.Contains(s.Rules, f.Rule.Name):
		return false
	case s.Comment:
		return s.line == 0 || s.line == f.Line
	}
	return s.place.Same(f.Object.Place)
}
