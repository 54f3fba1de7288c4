// Package suffix makes the name pool of a prefix small, so that conflicts of generated names are common. With
// KUBECTL_GENNAME_SUFFIX_LENGTH=2 a server appends 2 random characters to generateName instead of 5, and a prefix has
// 27^2 = 729 names. Without the variable nothing changes. Importing the package is enough.
//
// Every strategy of a built-in type copies names.SimpleNameGenerator when its package is initialized. This package
// must replace the generator before that. Of the packages that are ready, Go initializes the one with the lowest
// import path first (https://go.dev/ref/spec#Package_initialization). This one is ready as soon as names is, and
// "github.com/" sorts before "k8s.io/". Custom resources take the generator later, when their handler is created.
package suffix

import (
	"fmt"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apiserver/pkg/storage/names"
)

const variable = "KUBECTL_GENNAME_SUFFIX_LENGTH"

// usual is the length in Kubernetes, and the maximum. A longer suffix would make names longer than 63 characters.
const usual = 5

func init() {
	value := os.Getenv(variable)
	if value == "" {
		return
	}
	length, err := strconv.Atoi(value)
	if err != nil || length < 1 || length > usual {
		fmt.Fprintf(os.Stderr, "error: %s is %q: want a number from 1 to %d\n", variable, value, usual)
		os.Exit(1)
	}
	names.SimpleNameGenerator = generator(length)
}

// generator is names.SimpleNameGenerator for suffixes of another length. generator truncates the prefix at the same
// length.
type generator int

func (g generator) GenerateName(base string) string {
	return base[:min(len(base), names.MaxGeneratedNameLength)] + rand.String(int(g))
}
