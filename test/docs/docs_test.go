// Package docs tests what the documentation says that can be tested without a
// cluster: that what it shows of a terminal was really recorded, and that its
// links lead somewhere. That the recordings are still true is tested by
// test/e2e.
package docs

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../"

// page is one page of the documentation.
type page struct{ path, text string }

// pages are all that people read: those made from the commands have tests of
// their own, but for their links.
func pages(t *testing.T) []page {
	t.Helper()
	var pages []page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/reference/*.md", "examples/*.md", ".github/*.md"} {
		paths, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, page{strings.TrimPrefix(path, root), string(text)})
		}
	}
	if len(pages) < 5 {
		t.Fatalf("only %d pages", len(pages))
	}
	return pages
}

// recordings are the sessions of which test/e2e checks every line.
func recordings(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob(root + "docs/sessions/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range append(paths, root+"docs/demo.txt") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// A block of a terminal is in a recording, line by line as it stands there.
func TestTerminalsWereRecorded(t *testing.T) {
	recorded, shown := recordings(t), 0
	for _, p := range pages(t) {
		for _, b := range blocks(p.text) {
			if b.language == "console" {
				shown++
				if !strings.Contains(recorded, b.text) {
					t.Errorf("%s:%d: no recording in docs/sessions has this block:\n%s", p.path, b.line, b.text)
				}
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a terminal")
	}
}

// notRun are the commands of the documentation that no test runs, and why.
var notRun = []struct{ pattern, reason string }{
	{`^make [a-z-]+`, "the Makefile's own targets; .ci/run runs the most of them"},
	{`^go (install|get) `, "needs the published module"},
	{`^go (run|test) (-C )?\.?/?test/`, "a tool of this repository's own, for a person; its package has tests"},
	{`^kubectl genname report --plot docs/figures/`, "run by make figures, which takes it from the page"},
	{`^(kubectl krew|brew|sudo (dpkg|apt|dnf|rpm)|curl|cosign|tar|sha256sum) `, "needs a published release"},
	{`^ln -s kubectl-genname `, "run by test/release, and as an example by test/e2e"},
	{`^kubectl wait .*"\$\(kubectl genname create -f job.yaml -o name\)"$`, "run as an example of create by test/e2e"},
	{`^git clone `, "needs the published repository"},
}

// A command that is shown without its output is in a recording too, or there
// is a reason why not.
func TestCommandsAreRun(t *testing.T) {
	recorded := recordings(t)
	command := regexp.MustCompile(`^(kubectl|make|go|brew|sudo|curl|cosign|ln|helm|git|tar|sha256sum) `)
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "docs/reference/") {
			continue // test/e2e runs the examples
		}
		for _, b := range blocks(p.text) {
			if b.language == "console" {
				continue
			}
			for line := range strings.Lines(b.text) {
				line, _, _ = strings.Cut(strings.TrimSpace(line), "    #")
				line = strings.TrimSpace(line)
				if command.MatchString(line) && !strings.Contains(recorded, "$ "+line+"\n") && reasonNotToRun(line) == "" {
					t.Errorf("%s:%d: no test runs this command, and no reason is given in notRun:\n%s", p.path, b.line, line)
				}
			}
		}
	}
}

func reasonNotToRun(command string) string {
	for _, n := range notRun {
		if regexp.MustCompile(n.pattern).MatchString(command) {
			return n.reason
		}
	}
	return ""
}

// A manifest is one of the examples, or a part of it.
func TestManifestsAreExamples(t *testing.T) {
	var examples bytes.Buffer
	for _, pattern := range []string{"examples/*.yaml", "examples/*/*.yaml"} {
		paths, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			examples.Write(text)
		}
	}
	for _, p := range pages(t) {
		for _, b := range blocks(p.text) {
			if b.language == "yaml" && !strings.Contains(examples.String(), b.text) {
				t.Errorf("%s:%d: no file in examples/ has this manifest:\n%s", p.path, b.line, b.text)
			}
		}
	}
}

// block is a piece of a page that is shown as it stands: fenced, or indented
// and without a language.
type block struct {
	language, text string
	line           int // of its first line
}

func blocks(text string) []block {
	var found []block
	var open *block
	fenced, afterBlank := false, true
	number := 0
	for scanner := bufio.NewScanner(strings.NewReader(text)); scanner.Scan(); {
		number++
		line := scanner.Text()
		language, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		indented := strings.HasPrefix(line, "    ")
		switch {
		case isFence && !fenced:
			found = append(found, block{language: language, line: number + 1})
			open, fenced = &found[len(found)-1], true
		case isFence:
			open, fenced = nil, false
		case fenced:
			open.text += line + "\n"
		case indented && (open != nil || afterBlank):
			if open == nil {
				found = append(found, block{line: number})
				open = &found[len(found)-1]
			}
			open.text += strings.TrimPrefix(line, "    ") + "\n"
		default:
			open = nil
		}
		afterBlank = line == ""
	}
	return found
}
