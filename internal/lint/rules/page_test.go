package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each rule has a page with its levels and the parts that all pages have, and a row in the list of all rules. There are
// no other pages.
func TestPages(t *testing.T) {
	overview, err := os.ReadFile("../../../docs/rules/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range All {
		page := rule.Page()
		var levels []string
		for _, level := range rule.Levels {
			levels = append(levels, string(level))
		}
		heading := strings.Join(levels, " or ")
		row := "\n| [" + rule.Name + "](" + rule.Name + ".md) | " + heading + " | " + page.Finds + " |\n"
		if !strings.Contains(string(overview), row) {
			t.Errorf("docs/rules/README.md doesn't have%s", row)
		}
		begin := "# " + rule.Name + "\n\n" + strings.ToUpper(heading[:1]) + heading[1:] + ": " + page.Finds + ".\n\n" +
			page.Why + "\n\nFix: " + page.Fix + ".\n\n## Bad: "
		disable := "Write this comment above the field that lint reports, or [elsewhere](../guides/lint.md#disable-a-finding):\n\n```yaml\n# genname:disable " +
			rule.Name + ": REASON\n```\n"
		if !strings.HasPrefix(page.Text, begin) || !strings.HasSuffix(page.Text, "\n## Disable the rule\n\n"+disable) ||
			!strings.Contains(page.Text, "\n\n## Sources\n\n- ") {
			t.Errorf("the page of %s differs from the form of the others:\n%s", rule.Name, page.Text)
		}
	}
	found, err := filepath.Glob("../../../docs/rules/*.md")
	if err != nil || len(found) != len(All)+1 {
		t.Errorf("%d pages of %d rules: %v", len(found), len(All), err)
	}
}
