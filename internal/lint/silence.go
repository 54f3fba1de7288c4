package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// Annotation is an annotation that disables rules for its object. Each of its lines has the form RULE[,RULE…]: REASON.
const Annotation = "genname.dev/lint-disable"

// maxReasons is the number of lines that are read from an annotation. It limits the memory.
const maxReasons = 100

// comment begins a comment that disables rules. The comment has the form genname:disable RULE[,RULE…]: REASON.
const comment = "genname:disable"

// Silence is a comment or an annotation that disables rules, and its reason.
type Silence struct {
	File string
	manifest.Position

	// Rules are the names of the rules as the author wrote them.
	Rules  []string
	Reason string
	// Trouble explains why the comment or annotation is invalid. It is "" if the comment or annotation is valid.
	Trouble string
	// Comment is true for a comment, and false for an annotation.
	Comment bool

	place manifest.Place // object with the annotation, or any object of the comment's document
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
		if annotation == "" {
			continue
		}
		at := o.Position("metadata", "annotations", Annotation)
		for i, text := range strings.FieldsFunc(annotation, func(r rune) bool { return r == '\n' || r == ';' }) {
			silence := newSilence(text, Silence{File: file, Position: at, place: o.Place})
			if found = append(found, silence); i == maxReasons {
				silence.Trouble = fmt.Sprintf("only %d reasons of an annotation are read", maxReasons)
				break
			}
		}
	}
	return found
}

func commentsOf(file string, place manifest.Place) []*Silence {
	var found []*Silence
	var next manifest.Comment
	field := 0 // line of the field below the next comment
	for _, c := range slices.Backward(place.Comments()) {
		if !next.Alone || next.Line != c.Line+1 {
			field = c.Line + 1
		}
		next = c
		text, is := strings.CutPrefix(c.Text, comment)
		if !is {
			continue
		}
		silence := Silence{File: file, Position: c.Position, Comment: true, place: place}
		switch {
		case c.Leads:
		case c.Alone:
			silence.line = field
		default:
			silence.line = c.Line
		}
		found = append(found, newSilence(text, silence))
	}
	slices.Reverse(found)
	return found
}

func newSilence(text string, silence Silence) *Silence {
	names, reason, _ := strings.Cut(text, ":")
	silence.Reason = strings.TrimSpace(reason)
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		silence.Rules = append(silence.Rules, name)
		if silence.Trouble != "" {
			continue
		}
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
	in := map[target]*Silence{}
	for _, s := range slices.Backward(all) { // backward, so that the first silence of a target counts
		if s.Trouble != "" {
			continue
		}
		for _, rule := range s.Rules {
			in[s.target(rule)] = s
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		at := target{document: f.Object.Document, rule: f.Rule.Name}
		ofLine, ofObject := at, at
		ofLine.line, ofObject.object = f.Line, f.Object.Path()
		if s := cmp.Or(in[at], in[ofLine], in[ofObject]); s != nil {
			s.used, f.Silence = true, s
		}
	}
	for _, s := range all {
		off := slices.ContainsFunc(s.Rules, func(name string) bool { return slices.Contains(disabled, name) })
		if !s.used && (!off || s.Trouble != "") { // a disabled rule could not use it
			r.Idle = append(r.Idle, s)
		}
	}
}

// target is the document, the line, or the object for which a Silence disables a rule.
type target struct {
	document     *manifest.Document
	line         int
	object, rule string
}

func (s *Silence) target(rule string) target {
	if s.Comment {
		return target{document: s.place.Document, line: s.line, rule: rule}
	}
	return target{document: s.place.Document, object: s.place.Path(), rule: rule}
}
