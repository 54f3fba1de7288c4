package docs

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	inlineLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// Every link within the repository leads to an existing file, and to an existing heading.
func TestLinks(t *testing.T) {
	for _, p := range pages(t) {
		for _, match := range inlineLink.FindAllStringSubmatch(withoutBlocks(p.text), -1) {
			link := match[1]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			target, anchor, _ := strings.Cut(link, "#")
			file := p.path
			if target != "" {
				file = path.Join(path.Dir(p.path), target)
			}
			text, err := os.ReadFile(root + file)
			info, statErr := os.Stat(root + file)
			switch {
			case statErr != nil:
				t.Errorf("%s: the link to %s leads nowhere", p.path, link)
			case anchor == "" || info.IsDir():
			case err != nil:
				t.Error(err)
			case !slugs(string(text))[anchor]:
				t.Errorf("%s: %s has no heading #%s", p.path, file, anchor)
			}
		}
	}
}

// slugs returns the anchors that GitHub gives to the headings of a page.
func slugs(text string) map[string]bool {
	slugs := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(withoutBlocks(text), -1) {
		title := inlineLink.ReplaceAllStringFunc(match[1], func(link string) string { return link[1:strings.Index(link, "]")] })
		slug := notInSlug.ReplaceAllString(strings.ToLower(title), "")
		slugs[strings.ReplaceAll(slug, " ", "-")] = true
	}
	return slugs
}

// withoutBlocks removes the fenced blocks of a page.
func withoutBlocks(text string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(text, "")
}
