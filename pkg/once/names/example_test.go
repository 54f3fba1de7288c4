package names_test

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// The server makes a name from a generateName. Split takes the name apart.
func Example() {
	name := names.Candidate("nightly-backup-", "v1-0123456789abcdef", 0)
	prefix, suffix, ok := names.Split(name)
	fmt.Println(name, prefix, suffix, ok)
	// Output: nightly-backup-zx6t2 nightly-backup- zx6t2 true
}

// The names to try for one object follow from a seed.
func ExampleCandidate() {
	for attempt := range uint32(3) {
		fmt.Println(names.Candidate("demo-", "v1-0123456789abcdef", attempt))
	}
	// Output:
	// demo-zx6t2
	// demo-mf2d4
	// demo-xc5vw
}

// The server keeps 58 bytes of a generateName.
func ExampleEffectivePrefix() {
	fmt.Println(names.EffectivePrefix("a-name-that-is-longer-than-all-that-the-server-will-ever-keep-"))
	// Output: a-name-that-is-longer-than-all-that-the-server-will-ever-k
}

// The first and the last name can be generated. The last one has another prefix.
func ExampleSplit() {
	for _, name := range []string{"demo-x4k2z", "demo-hello", "demo-x4k2z7"} {
		prefix, suffix, ok := names.Split(name)
		fmt.Printf("%s: %q %q %v\n", name, prefix, suffix, ok)
	}
	// Output:
	// demo-x4k2z: "demo-" "x4k2z" true
	// demo-hello: "" "" false
	// demo-x4k2z7: "demo-x" "4k2z7" true
}
