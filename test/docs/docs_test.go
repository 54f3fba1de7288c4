// Package docs tests the claims of the documentation that need no cluster. Terminals are recorded, links work, tables
// are complete, and packages are layered as documented. test/sessions tests that the recordings are still true.
package docs

import (
	"bufio"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const root = "../../"

// page is one page of the documentation.
type page struct{ path, text string }

// pages returns all pages. For generated pages, it returns the command reference but not the rules.
func pages(t *testing.T) []page {
	t.Helper()
	var pages []page
	for _, path := range glob(t, "*.md") {
		pages = append(pages, page{path, read(t, path)})
	}
	err := filepath.WalkDir(root+"docs", func(path string, _ fs.DirEntry, err error) error {
		generated := strings.Contains(filepath.ToSlash(path), "docs/rules/") // whose tests check them
		if err != nil || generated || filepath.Ext(path) != ".md" {
			return err
		}
		path = filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root)))
		pages = append(pages, page{path, read(t, path)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// glob lists files of the repository. It fails if a pattern has no files, because the pattern is out of date.
func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var found []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(root + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s finds nothing: %v", pattern, err)
		}
		for _, path := range paths {
			found = append(found, filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root))))
		}
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// recordings returns the sessions. test/sessions checks every line of them.
func recordings(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, path := range append(glob(t, "test/sessions/*.txt"), "test/logs/testdata/readme.txt") {
		all.WriteString(read(t, path))
	}
	return all.String()
}

// Each block of a terminal is in a recording, line by line.
func TestTerminalsWereRecorded(t *testing.T) {
	recorded := recordings(t)
	for _, b := range blocksIn(t, "console") {
		if !strings.Contains(recorded, b.text) {
			t.Errorf("%s:%d: no recording has this block:\n%s", b.path, b.line, b.text)
		}
	}
}

// blocksIn returns the blocks of all pages in a language.
func blocksIn(t *testing.T, language string) (found []block) {
	t.Helper()
	for _, p := range pages(t) {
		for _, b := range blocks(p.text) {
			if b.language == language {
				b.path = p.path
				found = append(found, b)
			}
		}
	}
	if len(found) == 0 {
		t.Errorf("no page has a block of %s", language)
	}
	return found
}

type excuse struct{ pattern, reason string }

// notRun are the commands of the documentation that no test runs, and the reasons.
var notRun = []excuse{
	{`^make [a-z-]+`, "targets of a Makefile; .ci/run runs the most of them, and TestTargetsExist looks them up"},
	{`^go (get|mod edit) `, "run by TestGoGet of test/e2e"},
	{`^kubectl genname (create -f job.yaml --count 120|prune jobs/nightly-report- --keep 2)$`, "run by TestFirstMinute of test/e2e"},
	{`^go (run|test) (-C )?\.?/?(lab|test)/`, "a tool of this repository's own, for a person"},
	{`^(sudo dpkg|cosign|sha256sum|gh attestation) `, "needs a published release"},
	{`^git clone https|^sudo install bin/|^kubectl genname version --client$`, "run by TestFirstMinute of test/e2e; test/offline runs version --client"},
	{`^git (tag|push origin) (pkg/once/|pkg/once/oncecr/)?v0\.1\.0$|^git switch --detach$`, "a release; test/release tags a copy in this order"},
	{`^jq -r 'select\(\.verb == "create" `, "run by TestAuditLog of test/e2e"},
	{`^helm template `, "run by TestRecipesOfGuides of test/e2e"},
	{`^helm (install|upgrade) genname-exporter deploy/chart `, "TestChartEqualsTheKustomizations of test/monitoring renders the chart"},
	{`^ln -s kubectl-genname `, "run by test/release"},
	{`^kubectl genname create -n ci -f migration.yaml `, "run by TestPipelineGuide of test/e2e, in a namespace of its own"},
	{`^kubectl genname create --from=cronjob/nightly --idempotency-key="prod-`, "run by the session from with another key"},
	{`^kubectl delete job NAME -n ci$`, "run by TestExamplePipelineOfAFailedJob of test/e2e"},
	{`^kubectl genname audit -A -o json > audit.json$`, "run as an example of report by test/e2e"},
	{`^kubectl genname duplicates `, "run by the session duplicates, in a namespace of its own"},
	{`^kubectl (apply -k deploy/exporter|rollout status deployment/genname-exporter)`, "needs nodes; exporterManifests of test/e2e creates the objects"},
	{`^kubectl (genname prune jobs/nightly-report- --keep 2 --save backup|create -f backup|patch job NAME --type merge)`, "run by the session prune-save with other names"},
	{`^kind (create|delete|load) `, "needs kind, which starts containers"},
	{`^docker build `, "needs docker; it is the build of make image with another target"},
	{`^kubectl genname lint -R -f \. --(write-)?baseline lint\.json$`, "run by lint-files.txt of test/sessions"},
	{`^kubectl get jobs.batch/migrate-`, "the hint of kubectl genname duplicates, which the session duplicates compares"},
	{`^kubectl genname wrap -- argo `, "make clients runs it with another manifest, for docs/concepts/lost-responses.md; argo takes minutes to build"},
	{`^kubectl genname create -f job.yaml -o jsonl \| jq `, "the session lines has the command without jq, which not every machine has"},
	{`^kubectl genname audit -A --compare audit.json$`, "run as an example of audit by test/e2e"},
}

// A command without output is in a recording or matches a pattern of notRun. Every pattern of notRun is used.
func TestCommandsAreRun(t *testing.T) {
	recorded, excused := recordings(t), make([]int, len(notRun))
	command := regexp.MustCompile(`^(name=\$\()?(kubectl|make|go|brew|sudo|curl|cosign|ln|helm|git|tar|sha256sum|jq|gh|kind|while|podman|docker) `)
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "docs/reference/commands/") {
			continue // test/e2e runs the examples
		}
		for _, b := range blocks(p.text) {
			if b.language == "console" {
				continue
			}
			for line := range strings.Lines(b.text) {
				line, _, _ = strings.Cut(strings.TrimSpace(line), "    #")
				line = strings.TrimSpace(line)
				if !command.MatchString(line) || strings.Contains(recorded, "$ "+line+"\n") {
					continue
				}
				reason := slices.IndexFunc(notRun, func(n excuse) bool { return regexp.MustCompile(n.pattern).MatchString(line) })
				if reason < 0 {
					t.Errorf("%s:%d: no test runs this command, and no reason is given in notRun:\n%s", p.path, b.line, line)
					continue
				}
				excused[reason]++
			}
		}
	}
	for i, times := range excused {
		if times == 0 {
			t.Errorf("no page has a command for %q in notRun", notRun[i].pattern)
		}
	}
}

// The Makefile has each TARGET of "make TARGET" in a page. The directory of each "go run" or "go test" in a page has
// the program or the test.
func TestTargetsExist(t *testing.T) {
	target := regexp.MustCompile("(?m)(?:^ *|`)make (?:-f ([a-z]+/)Makefile )?([a-z][a-z-]*)")
	program := regexp.MustCompile("(?m)(?:^ *|`)go (?:run|test) (?:-C )?(?:\\./)?((?:test|docs|krew)/[a-z0-9/]+)")
	for _, p := range pages(t) {
		for _, match := range target.FindAllStringSubmatch(p.text, -1) {
			if !strings.Contains(read(t, match[1]+"Makefile"), "\n"+match[2]+":") {
				t.Errorf("%s: there is no target %s in %sMakefile", p.path, match[2], match[1])
			}
		}
		for _, match := range program.FindAllStringSubmatch(p.text, -1) {
			if _, err := os.Stat(root + match[1]); err != nil {
				t.Errorf("%s: %v", p.path, err)
			}
		}
	}
}

// ciSteps is the page with the YAML of CI systems. TestPipelineGuide of test/e2e runs it.
const ciSteps = "docs/guides/pipelines.md"

// A manifest is one of the examples, or a part of it.
func TestManifestsAreExamples(t *testing.T) {
	var examples strings.Builder
	for _, path := range glob(t, "examples/*.yaml", "examples/*/*.yaml") {
		examples.WriteString(read(t, path))
	}
	for _, b := range blocksIn(t, "yaml") {
		if b.path != ciSteps && !strings.Contains(examples.String(), b.text) {
			t.Errorf("%s:%d: no file in examples/ has this manifest:\n%s", b.path, b.line, b.text)
		}
	}
}

// The Go code of a page is a part of a program or an example that is compiled and run. Indentation can differ.
func TestGoIsRun(t *testing.T) {
	flat := func(text string) string {
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimSpace(line))
		}
		return strings.Join(lines, "\n")
	}
	var programs strings.Builder
	for _, path := range glob(t, "pkg/*/example*_test.go", "pkg/*/*/example*_test.go", "examples/*/*.go") {
		programs.WriteString(flat(read(t, path)))
	}
	for _, b := range blocksIn(t, "go") {
		if !strings.Contains(programs.String(), flat(b.text)) {
			t.Errorf("%s:%d: no program and no example has this:\n%s", b.path, b.line, b.text)
		}
	}
}

// block is preformatted text of a page. block is fenced, or indented and without a language.
type block struct {
	language, text string
	path           string // of its page
	line           int    // of its first line
	indent         string // indent of the fence, in a list item
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
			indent, _, _ := strings.Cut(line, "```")
			found = append(found, block{language: language, line: number + 1, indent: indent})
			open, fenced = &found[len(found)-1], true
		case isFence:
			open, fenced = nil, false
		case fenced:
			open.text += strings.TrimPrefix(line, open.indent) + "\n"
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
