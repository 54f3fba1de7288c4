package audit

import (
	"slices"
	"unicode/utf8"
)

const (
	// gap is the space between columns, as kubectl's printer has it.
	gap = 3
	// leastCell is the width below which a column gives way only once the notes have gone
	// below their rows, and narrow that below which none does.
	leastCell = 16
	narrow    = 8
	ellipsis  = "…"
)

// fit returns the table with cells shortened so that rows fit into a width, if they can. It
// shortens the creators and the types first, and then the other columns that tell rows apart.
// No two different cells look the same afterwards. Notes are never shortened. If rows are
// still too wide, the notes go below their rows, and then the creators go.
func (g grid) fit(width int) grid {
	fitted := g.shrunk(width, leastCell)
	if fitted.width() > width {
		g = g.withNotesBelow()
		fitted = g.shrunk(width, narrow)
	}
	if fitted.width() > width {
		g = g.without(creatorColumn)
		fitted = g.shrunk(width, narrow)
	}
	return fitted
}

// withNotesBelow returns the table with the notes in lines below their rows.
func (g grid) withNotesBelow() grid {
	at := slices.Index(g.header, notesColumn)
	if at < 0 {
		return g
	}
	left := g.without(notesColumn)
	for _, row := range g.rows {
		left.below = append(left.below, row[at])
	}
	return left
}

// without returns the table without a column.
func (g grid) without(name string) grid {
	at := slices.Index(g.header, name)
	if at < 0 {
		return g
	}
	left := grid{
		header: slices.Delete(slices.Clone(g.header), at, at+1),
		right:  slices.Delete(slices.Clone(g.right), at, at+1), below: g.below,
	}
	for _, row := range g.rows {
		left.rows = append(left.rows, slices.Delete(slices.Clone(row), at, at+1))
	}
	return left
}

// shrunk returns the table with cells that are shortened as far as rows do not fit, to
// the least width at most.
func (g grid) shrunk(width, least int) grid {
	short := grid{header: g.header, right: g.right, below: g.below}
	for _, row := range g.rows {
		short.rows = append(short.rows, slices.Clone(row))
	}
	for _, least := range []int{leastCell, least} {
		for _, name := range []string{creatorColumn, resourceColumn, namespaceColumn, prefixColumn} {
			short.shrink(g, name, least, width)
		}
	}
	return short
}

// shrink shortens the cells of a column of the whole table, to the least width at
// most, as far as rows do not fit.
func (g grid) shrink(whole grid, name string, least, width int) {
	at, excess := slices.Index(g.header, name), g.width()-width
	if at < 0 || excess <= 0 {
		return
	}
	to := max(g.widthOf(at)-excess, least)
	short := func(text string) string { return cutTo(text, to) }
	if name != creatorColumn {
		all := map[string]bool{}
		for _, row := range whole.rows {
			all[row[at]] = true
		}
		forms := distinct(all, to)
		short = func(text string) string { return forms[text] }
	}
	for i, row := range whole.rows {
		g.rows[i][at] = short(row[at])
	}
}

// width returns that of the widest row.
func (g grid) width() int {
	total := 0
	for i := range g.header {
		total += g.widthOf(i) + gap
	}
	return total - gap
}

// widthOf returns the width of a column, in characters.
func (g grid) widthOf(at int) int {
	widest := utf8.RuneCountInString(g.header[at])
	for _, row := range g.rows {
		widest = max(widest, utf8.RuneCountInString(row[at]))
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

// distinct returns a short form of each text, without its middle. No two forms are the same:
// texts that would be alike are shortened elsewhere, or less.
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

// group groups the texts that are the same without their middle, in an order.
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

// heads returns the numbers of characters to keep before the omitted part of a text, the
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
