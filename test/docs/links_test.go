package docs

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	inlineLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// Every link within the repository leads to an existing file, and to an existing heading.
func TestLinks(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		for _, match := range inlineLink.FindAllStringSubmatch(withoutBlocks(p.text), -1) {
			link := match[1]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			checked++
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
	if checked == 0 {
		t.Error("no link was checked")
	}
}

// The README or another page links to every page of docs.
func TestEveryPageIsLinked(t *testing.T) {
	linked := map[string]bool{}
	all := pages(t)
	for _, p := range all {
		for _, match := range inlineLink.FindAllStringSubmatch(withoutBlocks(p.text), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if file := path.Join(path.Dir(p.path), target); file != p.path {
				linked[file] = true
			}
		}
	}
	for _, p := range all {
		if strings.HasPrefix(p.path, "docs/") && !linked[p.path] {
			t.Errorf("no page links to %s", p.path)
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

// older are the modules of older versions, which must not change.
const older = "/test/controlplane/versions/*/*"

// Dependabot keeps every module and every image up to date, not only the plugin's.
func TestDependabotKnowsAllModules(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	patterns := map[string][]string{"gomod": {older}}
	for _, update := range config.Updates {
		patterns[update.Ecosystem] = append(patterns[update.Ecosystem], update.Directories...)
	}
	for ecosystem, name := range map[string]string{"gomod": "go.mod", "docker": "Dockerfile"} {
		command := exec.Command("git", "ls-files", name, "*/"+name)
		command.Dir = root
		files, err := command.Output()
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", name, err)
		}
		for file := range strings.Lines(string(files)) {
			dir := path.Join("/", path.Dir(strings.TrimSpace(file)))
			matches := func(p string) bool { matches, _ := path.Match(p, dir); return matches }
			if !slices.ContainsFunc(patterns[ecosystem], matches) {
				t.Errorf(".github/dependabot.yml does not have %s of %s", dir, ecosystem)
			}
		}
	}
}
