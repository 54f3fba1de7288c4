package campaign

import (
	"fmt"
	"strings"
)

// want is how many objects are asked for, by generateName, or by name for an
// object that has one.
type want map[string]int

func (w want) objects() int {
	n := 0
	for _, copies := range w {
		n += copies
	}
	return n
}

// manifest is one document for each of the prefixes, in their order.
func manifest(prefixes []string) string {
	var b strings.Builder
	for _, prefix := range prefixes {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: %s}\ndata: {of: campaign}\n", prefix)
	}
	return b.String()
}

// single is an input of n documents, each with a prefix of its own, by which a
// loop knows which of them were reported created.
func single(n int) (prefixes []string, w want) {
	w = want{}
	for i := range n {
		prefix := fmt.Sprintf("document-%05d-", i)
		prefixes = append(prefixes, prefix)
		w[prefix] = 1
	}
	return prefixes, w
}

// copies is the input of a keyed run: n documents, every second of them equal
// to the one before, each to be created as often as --count says.
func copies(n, count int) (prefixes []string, w want) {
	w = want{}
	for i := range n {
		prefix := fmt.Sprintf("document-%05d-", i/2)
		prefixes = append(prefixes, prefix)
		w[prefix] += count
	}
	return prefixes, w
}
