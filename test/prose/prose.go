// Package prose measures the readability of texts by the bars of CONTRIBUTING.md: the length of sentences, and
// phrases that hide the actor. Its tests check the pages, the messages, the help and the comments.
package prose

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The phrases that are counted. A splice joins two sentences by ";" or ":".
var (
	whatNoun = regexp.MustCompile(`\b[Ww]hat (is|was|are|were|has|have|had|it|they|the|a|an|comes?|came|goes|cannot|can|could|` +
		`nobody|somebody|stands|follows|this|that|must|happens|happened|else|others|kubectl|controllers)\b`)
	passive = regexp.MustCompile(`\b(is|are|was|were|be|been) (said|told)\b|\bsays? so\b`)
	ghost   = regexp.MustCompile(`\b(nobody|somebody|whoever|anybody|` +
		`who (may|can|makes|guesses|asks|reads|knows|names|wants|has|writes|cannot))\b`)
	splice = regexp.MustCompile(`;|:\s+[a-z]`)
)

// The parts of Markdown.
var (
	frontMatter = regexp.MustCompile(`(?s)^---\n.*?\n---\n|<!--.*?-->`)
	fence       = regexp.MustCompile("^\\s*(```|~~~)")
	listItem    = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(.*)`)
	notProse    = regexp.MustCompile(`^\s*[#|<]|^\s*!\[|^    \S`)
	image       = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link        = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	code        = regexp.MustCompile("`[^`]*`")
	emphasis    = regexp.MustCompile(`[*_]{1,2}([^*_]+)[*_]{1,2}`)
	sentenceEnd = regexp.MustCompile(`[.!?]["”)]?\s+[A-Z“"(0-9]`)
	word        = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9'’.,:/^_-]*`)
)

// Values are the measures of a text. Lengths are in words, shares in percent, and phrases per 100 sentences.
type Values map[string]float64

// Bars are the largest values that pass.
var Bars = Values{
	"median": 14, "p90": 25, "longest": 40, "over25": 8, "spliced": 8, "what": 1, "said": 0, "nobody": 1,
}

// Measures are the names of the values, in the order of the table of the writing rules.
var Measures = []string{"median", "p90", "longest", "over25", "spliced", "what", "said", "nobody"}

// Of returns the measures of some sentences.
func Of(sentences []string) Values {
	lengths := []int{0}
	if len(sentences) > 0 {
		lengths = nil
	}
	long, spliced := 0, 0
	for _, s := range sentences {
		n := len(word.FindAllString(s, -1))
		lengths = append(lengths, n)
		if n > 25 {
			long++
		}
		if splice.MatchString(s) {
			spliced++
		}
	}
	slices.Sort(lengths)
	n := max(len(sentences), 1)
	per100 := func(r *regexp.Regexp) float64 {
		found := 0
		for _, s := range sentences {
			found += len(r.FindAllString(s, -1))
		}
		return 100 * float64(found) / float64(n)
	}
	half := len(lengths) / 2
	median := float64(lengths[half])
	if len(lengths)%2 == 0 {
		median = float64(lengths[half-1]+lengths[half]) / 2
	}
	return Values{
		"median": median, "p90": float64(lengths[int(0.9*float64(len(lengths)-1))]),
		"longest": float64(lengths[len(lengths)-1]),
		"over25":  100 * float64(long) / float64(n), "spliced": 100 * float64(spliced) / float64(n),
		"what": per100(whatNoun), "said": per100(passive), "nobody": per100(ghost),
	}
}

// Sentences returns the sentences of a Markdown page, without code, tables, headings and comments.
func Sentences(page string) []string {
	var sentences []string
	for _, p := range paragraphs(frontMatter.ReplaceAllString(page, "")) {
		p = image.ReplaceAllString(p, "")
		p = link.ReplaceAllString(p, "$1")
		p = code.ReplaceAllString(p, "CODE")
		p = emphasis.ReplaceAllString(p, "$1")
		for _, s := range split(p) {
			if len(word.FindAllString(s, -1)) >= 3 {
				sentences = append(sentences, strings.TrimSpace(s))
			}
		}
	}
	return sentences
}

// paragraphs returns the paragraphs and the list items of a page, each in one line.
func paragraphs(page string) []string {
	var found, current []string
	end := func() {
		if len(current) > 0 {
			found = append(found, strings.Join(current, " "))
		}
		current = nil
	}
	fenced := false
	for line := range strings.SplitSeq(page, "\n") {
		if fence.MatchString(line) {
			fenced, line = !fenced, ""
		}
		item := listItem.FindStringSubmatch(line)
		switch {
		case fenced, strings.TrimSpace(line) == "", item == nil && notProse.MatchString(line):
			end()
		case item != nil:
			end()
			current = []string{item[1]}
		default:
			current = append(current, strings.TrimSpace(line))
		}
	}
	end()
	return found
}

// split returns the sentences of a paragraph.
func split(paragraph string) []string {
	var sentences []string
	for {
		at := sentenceEnd.FindStringIndex(paragraph)
		if at == nil {
			return append(sentences, paragraph)
		}
		_, size := utf8.DecodeLastRuneInString(paragraph[:at[1]])
		next := at[1] - size
		sentences = append(sentences, paragraph[:next])
		paragraph = paragraph[next:]
	}
}
