package rules

import (
	"fmt"
	"strings"
)

// Page returns the documentation of the rule as Markdown, for --explain and for
// docs/rules.
func (r *Rule) Page() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n", r.Name)
	fmt.Fprintf(&out, "%s: %s.\n\n", r.levels(), r.Finds)
	fmt.Fprintf(&out, "%s\n\n", r.Reason())
	fmt.Fprintf(&out, "Fix: %s.\n", r.Fix)
	for _, bad := range []bool{true, false} {
		for _, example := range r.Examples {
			if (len(example.Finds) > 0) == bad {
				fmt.Fprintf(&out, "\n## %s\n\n%s\n\n```yaml\n%s```\n", example.title(), example.About, example.Manifest)
			}
		}
	}
	out.WriteString("\n## Sources\n\n")
	for _, source := range r.Sources {
		fmt.Fprintf(&out, "- %s\n", source)
	}
	fmt.Fprintf(&out, "\n## Disable the rule\n\nWrite the comment `# genname:disable %s: REASON` "+
		"at the line of the field, above it, or before the first field of the document. "+
		"Or set the annotation `genname.dev/lint-disable: \"%s: REASON\"`.\n",
		r.Name, r.Name)
	return out.String()
}

// Reason returns Why in one line.
func (r *Rule) Reason() string { return strings.ReplaceAll(r.Why, "\n", " ") }

// levels returns the levels of the rule, as the beginning of a sentence.
func (r *Rule) levels() string {
	var words []string
	for _, level := range r.Levels {
		words = append(words, string(level))
	}
	text := strings.Join(words, " or ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// title returns the heading of an example.
func (e Example) title() string {
	if len(e.Finds) == 0 {
		return "Good"
	}
	return "Bad: " + string(e.Finds[0])
}
