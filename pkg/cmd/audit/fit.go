package audit

import (
	"slices"
	"unicode/utf8"
)

const (
	// gap is what kubectl's printer leaves between columns.
	gap = 3
	// leastCell is the width below which a column does not give way, and leastNotes
	// that of the notes; narrow is that of makers and prefixes if nothing else helps.
	leastCell  = 16
	leastNotes = 8
	narrow     = 8
	ellipsis   = "…"
)

// fit shortens cells so that rows fit into a width, if they can: the notes first, then
// who made the names, then what tells rows apart, of which no two that differ look the
// same afterwards. If that is not enough, the notes go.
func (g *grid) fit(width int) {
	g.shrink(notesColumn, leastNotes, width)
	for _, name := range []string{madeByColumn, prefixColumn, namespaceColumn, resourceColumn} {
		g.shrink(name, leastCell, width)
	}
	if last := len(g.header) - 1; g.width() > width && g.header[last] == notesColumn {
		g.header = g.header[:last]
		for i := range g.rows {
			g.rows[i] = g.rows[i][:last]
		}
		g.shrink(madeByColumn, narrow, width)
		g.shrink(prefixColumn, narrow, width)
	}
}

// shrink shortens the cells of a column, to the least width at most, as far as rows
// do not fit.
func (g *grid) shrink(name string, least, width int) {
	at, excess := slices.Index(g.header, name), g.width()-width
	if at < 0 || excess <= 0 {
		return
	}
	to := g.widthOf(at) - excess
	if at < len(g.header)-1 {
		to -= len(ellipsis) - 1
	}
	to = max(to, least)
	if name != notesColumn && name != madeByColumn {
		g.shorten(at, to)
		return
	}
	for _, row := range g.rows {
		row[at] = cutTo(row[at], to)
	}
}

// width returns that of the widest row.
func (g *grid) width() int {
	total := 0
	for i := range g.header {
		total += g.widthOf(i) + gap
	}
	return total - gap
}

// widthOf returns the width of a column. kubectl's printer makes all but the last as
// wide as their widest cell has bytes, not characters.
func (g *grid) widthOf(at int) int {
	measure := func(text string) int { return len(text) }
	if at == len(g.header)-1 {
		measure = utf8.RuneCountInString
	}
	widest := measure(g.header[at])
	for _, row := range g.rows {
		widest = max(widest, measure(row[at]))
	}
	return widest
}

// cutTo returns the beginning of a text that is too long.
func cutTo(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + ellipsis
}

// shorten takes the middle out of the cells of a column that are too long. Cells that
// would look the same are shortened elsewhere, or less.
func (g *grid) shorten(at, width int) {
	all := map[string]bool{}
	for _, row := range g.rows {
		all[row[at]] = true
	}
	short := distinct(all, width)
	for _, row := range g.rows {
		row[at] = short[row[at]]
	}
}

// distinct returns a short form of each text, no two of them the same.
func distinct(texts map[string]bool, width int) map[string]string {
	short, taken := map[string]string{}, map[string]bool{}
	long := []string{}
	for text := range texts {
		if utf8.RuneCountInString(text) <= width {
			short[text], taken[text] = text, true
			continue
		}
		long = append(long, text)
	}
	for _, alike := range group(long, width) {
		for _, form := range formsOf(alike, width, taken) {
			taken[form.short] = true
			short[form.text] = form.short
		}
	}
	return short
}

// group returns the texts by what each would be without its middle, in an order.
func group(texts []string, width int) [][]string {
	slices.Sort(texts)
	at := map[string]int{}
	var groups [][]string
	for _, text := range texts {
		form := without(text, width, width/2)
		i, known := at[form]
		if !known {
			i = len(groups)
			at[form] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], text)
	}
	return groups
}

type form struct{ text, short string }

// formsOf returns short forms of texts that are all different, and not taken: with
// the same part left out of all, or less of it.
func formsOf(texts []string, width int, taken map[string]bool) []form {
	longest := 0
	for _, text := range texts {
		longest = max(longest, utf8.RuneCountInString(text))
	}
	for ; width < longest; width++ {
		for _, head := range heads(width) {
			forms, used := []form{}, map[string]bool{}
			for _, text := range texts {
				short := without(text, width, head)
				if used[short] || taken[short] {
					break
				}
				used[short] = true
				forms = append(forms, form{text, short})
			}
			if len(forms) == len(texts) {
				return forms
			}
		}
	}
	var whole []form
	for _, text := range texts {
		whole = append(whole, form{text, text})
	}
	return whole
}

// heads returns how many characters to keep before what is left out of a text, the
// middle first.
func heads(width int) []int {
	order := []int{width / 2}
	for step := 1; step < width; step++ {
		if head := width/2 + step; head < width {
			order = append(order, head)
		}
		if head := width/2 - step; head >= 0 {
			order = append(order, head)
		}
	}
	return order
}

// without returns a text of the given width, of which only so many characters are
// from the beginning and the others from the end; a text that fits is whole.
func without(text string, width, head int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:head]) + ellipsis + string(runes[len(runes)-(width-1-head):])
}
