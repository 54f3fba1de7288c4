package table

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"
)

const ellipsis = "…"

// Shorten returns the table with shorter cells in the given columns, as long as a row is wider than width. leasts are
// minimum widths of cells. Shorten shortens each column to the first minimum, and only then each column to the next.
func (t *Table) Shorten(width int, columns []string, leasts ...int) *Table {
	short := &Table{Columns: t.Columns, below: t.below}
	for _, row := range t.Rows {
		short.Rows = append(short.Rows, slices.Clone(row))
	}
	for _, least := range leasts {
		for _, name := range columns {
			at, excess := t.index(name), short.Width()-width
			if at < 0 || excess <= 0 {
				continue
			}
			forms := t.formsOf(at, max(short.Widths(nil)[at]-excess, least))
			for i, row := range t.Rows {
				short.Rows[i][at] = forms[row[at]]
			}
		}
	}
	return short
}

// Fit returns the table with shorter cells, as long as a row is wider than width. It shortens namespaces, then types,
// creators and prefixes.
func (t *Table) Fit(width int) *Table {
	t = t.Shorten(width, []string{"NAMESPACE"}, 16, len("NAMESPACE"))
	return t.Shorten(width, []string{"RESOURCE", "CREATOR", "PREFIX"}, 24, 16, 8)
}

func (t *Table) formsOf(column, width int) map[string]string {
	cells := map[string]bool{}
	for _, row := range t.Rows {
		cells[row[column]] = true
	}
	if !t.Columns[column].CutEnd {
		return distinct(cells, width)
	}
	forms := map[string]string{}
	for cell := range cells {
		forms[cell] = omit(cell, width, width-1)
	}
	return forms
}

// distinct returns a short form of each text, without its middle. No two forms are the same:
// texts that would be alike are shortened elsewhere, or less.
func distinct(texts map[string]bool, width int) map[string]string {
	forms, taken := map[string]string{}, map[string]bool{}
	alike := map[string][]string{} // texts by their form without the middle
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		form := omit(text, width, width/2)
		if form == text {
			forms[text], taken[text] = text, true
			continue
		}
		alike[form] = append(alike[form], text)
	}
	for _, form := range slices.Sorted(maps.Keys(alike)) {
		for text, form := range different(alike[form], width, taken) {
			forms[text], taken[form] = form, true
		}
	}
	return forms
}

// different returns short forms of texts, which differ from each other and from those in taken. different leaves out
// the same part of all texts, or less.
func different(texts []string, width int, taken map[string]bool) map[string]string {
	longest := 0
	for _, text := range texts {
		longest = max(longest, utf8.RuneCountInString(text))
	}
	for ; width < longest; width++ {
		for _, head := range heads(width) {
			forms, used := map[string]string{}, map[string]bool{}
			for _, text := range texts {
				form := omit(text, width, head)
				if used[form] || taken[form] {
					break
				}
				forms[text], used[form] = form, true
			}
			if len(forms) == len(texts) {
				return forms
			}
		}
	}
	whole := map[string]string{}
	for _, text := range texts {
		whole[text] = text
	}
	return whole
}

func heads(width int) []int {
	all := make([]int, width)
	for i := range all {
		all[i] = i
	}
	distance := func(head int) int { return max(head-width/2, width/2-head) }
	slices.SortFunc(all, func(a, b int) int { return cmp.Or(distance(a)-distance(b), b-a) })
	return all
}

// omit returns a text of the given width, with head characters of its beginning, and the rest from its end. If the
// text fits, omit returns it unchanged.
func omit(text string, width, head int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:head]) + ellipsis + string(runes[len(runes)-(width-1-head):])
}
