package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A screen is a picture of a part of a recorded terminal.
type screen struct {
	picture   string // name of the SVG file
	recording string // a session of test/sessions
	columns   int    // width of the terminal
	from, to  string // the first line of the part, and the line after its end
}

var screens = []screen{
	{
		"lost-response.svg", "demo.txt", 92,
		"# A load balancer loses the response to a create.", "# Check manifests before you create them.",
	},
	{
		"audit.svg", "audit.txt", 120,
		"$ kubectl genname audit -A", "# The record of the prefix that the verdict names.",
	},
}

const (
	charWidth, lineHeight = 8.4, 19
	margin                = 16
)

// svg is a format. Arguments: the width, the height, the start of the text, and its rows.
const svg = `<svg xmlns="http://www.w3.org/2000/svg"
width="%.0f" height="%d" role="img" aria-label="A terminal">
<style>
text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d4d4d4;white-space:pre}
.c{fill:#8a8a8a}.p{font-weight:bold;fill:#fff}.e{fill:#ff8a80}
</style>
<rect width="100%%" height="100%%" rx="8" fill="#1e1e1e"/>
<text y="%d" xml:space="preserve">
%s
</text>
</svg>
`

// writeScreens draws all screens from the sessions of a directory into another directory.
func writeScreens(sessions, dir string) error {
	for _, s := range screens {
		text, err := os.ReadFile(filepath.Join(sessions, s.recording))
		if err != nil {
			return err
		}
		_, part, begins := strings.Cut(string(text), "\n"+s.from)
		part, _, ends := strings.Cut(part, "\n"+s.to)
		if !begins || !ends {
			return fmt.Errorf("%s has no part from %q to %q", s.recording, s.from, s.to)
		}
		if err := os.WriteFile(filepath.Join(dir, s.picture), draw(s.from+part, s.columns), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draw returns an SVG of a terminal with the text. Commands are bold, comments gray, and errors red.
func draw(text string, columns int) []byte {
	var rows []string
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		class := classOf(line)
		line = cmp.Or(strings.TrimRight(line, "\n"), "\u00a0") // an empty row would have no height
		for _, row := range wrap(line, columns) {
			rows = append(rows, fmt.Sprintf(`<tspan x="%d" dy="%d"%s>%s</tspan>`,
				margin, lineHeight, class, html.EscapeString(row)))
		}
	}
	var b bytes.Buffer
	width, height := float64(columns)*charWidth+2*margin, len(rows)*lineHeight+2*margin
	fmt.Fprintf(&b, svg, width, height, margin-4, strings.Join(rows, "\n"))
	return b.Bytes()
}

func classOf(line string) string {
	switch {
	case strings.HasPrefix(line, "# "):
		return ` class="c"`
	case strings.HasPrefix(line, "$ "):
		return ` class="p"`
	case strings.HasPrefix(strings.ToLower(line), "error"):
		return ` class="e"`
	}
	return ""
}

// wrap breaks a line between words into rows of a width. A blank line is one row.
func wrap(line string, width int) []string {
	rows := []string{""}
	for i, word := range strings.SplitAfter(line, " ") {
		last := &rows[len(rows)-1]
		if i > 0 && utf8.RuneCountInString(*last)+utf8.RuneCountInString(strings.TrimRight(word, " ")) > width {
			rows = append(rows, "")
			last = &rows[len(rows)-1]
		}
		*last += word
	}
	return rows
}
