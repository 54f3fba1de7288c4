package pools

import (
	"fmt"
	"hash/fnv"
	randv2 "math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// tails generates the last five characters of names.
type tails struct {
	name string
	make func(random *randv2.Rand, i int) string // of the i-th name
}

// from returns tails of independent random characters, each with the same probability.
func from(name, symbols string) tails {
	return tails{name, func(random *randv2.Rand, _ int) string {
		var tail [names.SuffixLength]byte
		for i := range tail {
			tail[i] = symbols[random.IntN(len(symbols))]
		}
		return string(tail[:])
	}}
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyz"
)

// otherTails returns tails that evidence must not mistake for generated suffixes.
func otherTails(t *testing.T) []tails {
	words := wordsOf(t, "../../LICENSE")
	return []tails{
		from("hex", digits+"abcdef"),
		from("base36", digits+letters),
		from("base32 (RFC 4648)", letters+"234567"),
		from("base32 (Crockford)", digits+"abcdefghjkmnpqrstvwxyz"),
		{"counters", func(_ *randv2.Rand, i int) string { return fmt.Sprintf("%05d", 24000+i) }},
		{"words of a license", func(random *randv2.Rand, _ int) string { return words[random.IntN(len(words))] }},
		{"pod-template-hashes", func(random *randv2.Rand, _ int) string {
			// k8s.io/kubernetes/pkg/controller.ComputeHash
			hash := fnv.New32a()
			_, _ = fmt.Fprint(hash, random.Uint64())
			return tailOf(rand.SafeEncodeString(fmt.Sprint(hash.Sum32())))
		}},
		{"the same of hex", func(random *randv2.Rand, _ int) string {
			return tailOf(rand.SafeEncodeString(fmt.Sprintf("%08x", random.Uint32())))
		}},
	}
}

func tailOf(text string) string { return text[max(0, len(text)-names.SuffixLength):] }

// wordsOf returns the last five letters of each word in a file, if the word is long enough.
func wordsOf(t *testing.T, path string) (ends []string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range regexp.MustCompile(`[a-z]{5,}`).FindAllString(strings.ToLower(string(text)), -1) {
		ends = append(ends, tailOf(word))
	}
	return ends
}

// measured counts the prefixes whose n names with these tails look generated. The creation times are random. For
// counters, they are in the order of the names.
func measured(of tails, prefixes, n int) (evident int) {
	random := randv2.New(randv2.NewPCG(1, 2))
	for range prefixes {
		var e evidence
		objects := make([]object.Object, n)
		for i := range objects {
			objects[i] = object.Object{Name: "stem-" + of.make(random, i), Created: 1 + random.Int64N(1e6)}
			if of.name == "counters" {
				objects[i].Created = int64(1 + i)
			}
		}
		slices.SortFunc(objects, func(a, b object.Object) int { return strings.Compare(a.Name, b.Name) })
		own, others := int64(0), int64(0)
		for i := range objects {
			if _, _, ok := names.Split(objects[i].Name); ok {
				e.add(&objects[i])
				own++
			} else {
				others++
			}
		}
		if e.convinces(own, others, 0) {
			evident++
		}
	}
	return evident
}

// 95% of the names with a beginning must have only the server's characters at the end.
func TestShareOfOthers(t *testing.T) {
	random := randv2.New(randv2.NewPCG(1, 2))
	var e evidence
	for i := range 38 {
		e.add(&object.Object{Name: "stem-" + from("", names.Alphabet).make(random, i), Created: 1 + random.Int64N(1e6)})
	}
	if !e.convinces(38, 2, 0) || e.convinces(38, 3, 0) {
		t.Errorf("2 others of 40: %t, 3 of 41: %t, want only the first to look generated", e.convinces(38, 2, 0), e.convinces(38, 3, 0))
	}
}

// Names with the tails of docs/internals/audit-engine.md don't look generated.
func TestFalseAlarms(t *testing.T) {
	for _, of := range otherTails(t) {
		if n := measured(of, 20_000, 10); n > 0 {
			t.Errorf("%s: %d of 20,000 prefixes look client-generated, want none", of.name, n)
		}
	}
}

// isDerived recognizes an owner's name, with or without a hash.
func TestIsDerived(t *testing.T) {
	for name, test := range map[string]struct {
		object, owner string
		want          bool
	}{
		"a ReplicaSet of a Deployment":        {"web-7c9f8d5b6f", "web", true},
		"a hash without a dash":               {"web7c9f8d", "web", true},
		"a Machine of a MachineSet":           {"md-bbbbb-ccccc", "md-bbbbb", false},
		"a MachineSet of a MachineDeployment": {"md-bbbbb", "md", false},
		"a CiliumEndpoint of a Pod":           {"web-7c9f8d5b6f-bbbbb", "web-7c9f8d5b6f-bbbbb", true},
		"another name":                        {"other-bbbbbb", "web", false},
		"a name with parts":                   {"web-pod-bbbbb", "web", false},
		"no owner":                            {"web-bbbbbb", "", false},
	} {
		if got := isDerived(test.object, test.owner); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// A controller's name with a hash is not a generated name, whatever the hash looks like.
func TestHashesOfOwners(t *testing.T) {
	for owner, want := range map[string]bool{"": true, "stem": true, "other": true, "st": false} {
		s := New(jobs, &Rules{})
		for i, tail := range []string{
			"bcdfg", "dfghj", "fghjk", "ghjkl", "hjklm", "jklmn", "klmnp", "lmnpq", "mnpqr", "npqrs", "pqrst",
		} {
			o := &object.Object{Name: "stem" + tail, Created: int64(100 - i)}
			if owner != "" {
				o.Creator = object.Creator{Kind: "X", Name: owner}
			}
			s.Add(o)
		}
		pools := collect(s)
		if got := len(pools) == 1 && pools[0].ClientGenerated; got != want {
			t.Errorf("owner %q: evident %v, want %v", owner, got, want)
		}
	}
}
