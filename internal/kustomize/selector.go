package kustomize

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// selector is one whose name is served changed.
type selector struct {
	text string // the user's
	name *regexp.Regexp
	kind *types.SelectorRegex
}

// serveSelector changes a selector's name, which is a regular expression. It then matches the
// placeholders of the generateNames that it matches, and no part of other placeholders.
func (t *tree) serveSelector(s *types.Selector) {
	if s == nil || s.Name == "" {
		return
	}
	anchored := "^(?:" + s.Name + ")$" // as kustomize does
	name, err := regexp.Compile(anchored)
	if err != nil {
		return // for kustomize to refuse
	}
	user := *s
	kind, err := types.NewSelectorRegex(&user)
	if err != nil {
		return // likewise
	}
	t.selectors = append(t.selectors, selector{s.Name, name, kind})
	var alternatives []string
	for placeholder, generateName := range t.names {
		if name.MatchString(generateName) {
			alternatives = append(alternatives, regexp.QuoteMeta(placeholder))
		}
	}
	slices.Sort(alternatives)
	tree, err := syntax.Parse(anchored, syntax.Perl)
	if err != nil {
		return
	}
	without := tree.String()
	exclude(tree, rune(t.marker))
	if len(alternatives) == 0 && tree.String() == without {
		return
	}
	marker := t.marker.text(aSelector, len(t.selectors)-1)
	alternatives = slices.Concat([]string{marker, tree.String()}, alternatives, []string{marker})
	s.Name = strings.Join(alternatives, "|")
}

// exclude makes a regular expression match no text with a letter that it does
// not have itself.
func exclude(tree *syntax.Regexp, letter rune) {
	switch tree.Op {
	case syntax.OpAnyChar:
		tree.Op, tree.Rune = syntax.OpCharClass, []rune{0, letter - 1, letter + 1, '\U0010FFFF'}
	case syntax.OpAnyCharNotNL:
		tree.Op, tree.Rune = syntax.OpCharClass, []rune{0, '\n' - 1, '\n' + 1, letter - 1, letter + 1, '\U0010FFFF'}
	case syntax.OpCharClass:
		var ranges []rune
		for i := 0; i < len(tree.Rune); i += 2 {
			low, high := tree.Rune[i], tree.Rune[i+1]
			if letter < low || letter > high {
				ranges = append(ranges, low, high)
				continue
			}
			if low < letter {
				ranges = append(ranges, low, letter-1)
			}
			if letter < high {
				ranges = append(ranges, letter+1, high)
			}
		}
		tree.Rune = ranges
	}
	for _, sub := range tree.Sub {
		exclude(sub, letter)
	}
}

// serveTarget is serveSelector for the target of a patch.
func (t *tree) serveTarget(p *types.Patch) {
	if p.Target != nil {
		target := *p.Target
		t.serveSelector(&target)
		p.Target = &target
	}
}

// exactly returns the names under which kustomize finds the objects with a name or a generateName
// in one kustomization. kustomize finds objects whose files have that name, but not objects that
// other kustomizations have renamed to it.
func (t *tree) exactly(k *kustomization, name string) []string {
	known := len(k.renamed) == 0
	var renamed []string
	for _, i := range k.renamed {
		for _, p := range i.places {
			switch {
			case i.object == nil || p.around(i.id.Name) != name:
			case p.affix == affix{}:
				known = true
			default:
				renamed = append(renamed, t.placeholder(i, p.affix))
			}
		}
	}
	if known || len(renamed) == 0 {
		renamed = append(renamed, name)
	}
	slices.Sort(renamed)
	return slices.Compact(renamed)
}

// serveName is exactly for a field with one name. It changes nothing if there are several names,
// because then kustomize finds no object.
func (t *tree) serveName(k *kustomization, name *string) {
	if names := t.exactly(k, *name); len(names) == 1 {
		*name = names[0]
	}
}
