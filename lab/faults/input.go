package faults

import (
	"fmt"
	"strings"
)

// want is the number of requested objects by generateName.
type want map[string]int

func (w want) objects() int {
	n := 0
	for _, copies := range w {
		n += copies
	}
	return n
}

// prefixOf returns the generateName of a generated name, which has five characters after it, or ten in a run with a key.
func prefixOf(name string) string { return name[:strings.LastIndex(name, "-")+1] }

// manifest returns a document for each generateName (they end in a dash) or name, in their order.
func manifest(names []string) string {
	var b strings.Builder
	for _, name := range names {
		field := "name"
		if strings.HasSuffix(name, "-") {
			field = "generateName"
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {%s: %s}\ndata: {of: faults}\n", field, name)
	}
	return b.String()
}

// single returns an input of n documents with different prefixes. A loop finds reported documents by the prefix.
func single(n int) (names []string, w want) {
	w = want{}
	for i := range n {
		prefix := fmt.Sprintf("document-%05d-", i)
		names = append(names, prefix)
		w[prefix] = 1
	}
	return names, w
}

// named returns the same documents with fixed names, which end in five characters, too.
func named(n int) (names []string, w want) {
	names, w = single(n)
	for i, prefix := range names {
		names[i] = prefix + "fixed"
	}
	return names, w
}

// copies returns an input of n documents, each to be created count times. Every second document equals the previous
// one.
func copies(n, count int) (names []string, w want) {
	w = want{}
	for i := range n {
		prefix := fmt.Sprintf("document-%05d-", i/2)
		names = append(names, prefix)
		w[prefix] += count
	}
	return names, w
}

// mixed returns the same number of objects. count of them have a fixed name, which a key settles, too. Their prefix
// in the counts is "named-".
func mixed(n, count int) (names []string, w want) {
	names, w = copies(n-1, count)
	for i := range count {
		names = append(names, fmt.Sprintf("named-%05d", i))
		w["named-"]++
	}
	return names, w
}
