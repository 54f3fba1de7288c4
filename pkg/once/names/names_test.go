package names

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/rand"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	type parts struct {
		prefix, suffix string
		ok             bool
	}
	for name, want := range map[string]parts{
		"":                                {},
		"bbbbb":                           {}, // nothing before the suffix
		"job-74r6":                        {}, // "-" is not in the alphabet
		"job-74r6a":                       {}, // a vowel
		"job-74r60":                       {}, // 0 isn't in the alphabet
		"job-74R6T":                       {}, // upper case
		"kube-root-ca.crt":                {},
		"job-74r6t":                       {"job-", "74r6t", true},
		"xbbbbb":                          {"x", "bbbbb", true},
		strings.Repeat("x", 58) + "bbbbb": {strings.Repeat("x", 58), "bbbbb", true},
		strings.Repeat("x", 59) + "bbbbb": {}, // longer than the server makes
	} {
		prefix, suffix, ok := Split(name)
		if got := (parts{prefix, suffix, ok}); got != want {
			t.Errorf("Split(%q) = %+v, want %+v", name, got, want)
		}
	}
}

// The server's own generator is the reference. Split returns the prefix and the suffix
// of every name that it generates.
func TestSplitUndoesTheServersGenerator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		generateName := rapid.StringMatching(`[a-z0-9.-]{1,80}`).Draw(t, "generateName")
		suffix := rand.String(SuffixLength)
		prefix, gotSuffix, ok := Split(EffectivePrefix(generateName) + suffix)
		if !ok || prefix != EffectivePrefix(generateName) || gotSuffix != suffix {
			t.Fatalf("Split gave %q, %q, %v", prefix, gotSuffix, ok)
		}
	})
}

// Another program computed the vectors, from the rule in Candidate's comment. They are a promise: the same ID always
// gives the same names.
func TestCandidateVectors(t *testing.T) {
	for _, v := range []struct {
		generateName, id string
		attempt          uint32
		want             string
	}{
		{"job-", "v1-00000000000000000000000000000000", 0, "job-74r6t"},
		{"job-", "v1-00000000000000000000000000000000", 1, "job-gc9r6"},
		{"job-", "v1-0123456789abcdef0123456789abcdef", 0, "job-v895x"},
		{strings.Repeat("x", 70), "v1-0123456789abcdef0123456789abcdef", 15, strings.Repeat("x", 58) + "dx2vf"},
		{"a", "", 4294967295, "agvkwc"},
		{strings.Repeat("x", 57) + "é-", "v1-0123456789abcdef0123456789abcdef", 15, strings.Repeat("x", 57) + "dx2vf"},
	} {
		if got := Candidate(v.generateName, v.id, v.attempt); got != v.want {
			t.Errorf("Candidate(%q, %q, %d) = %q, want %q", v.generateName, v.id, v.attempt, got, v.want)
		}
	}
}

func TestCandidatesAreGeneratedNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		generateName := rapid.StringN(1, 100, 100).Draw(t, "generateName")
		name := Candidate(generateName, rapid.String().Draw(t, "id"), rapid.Uint32().Draw(t, "attempt"))
		prefix, _, ok := Split(name)
		want := strings.ToValidUTF8(EffectivePrefix(generateName), "")
		if !utf8.ValidString(name) || (prefix != "" && !ok) || prefix != want {
			t.Fatalf("%q is not a name generated from %q", name, generateName)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("job-74r6t")
	f.Add("\xff\x00bbbbb")
	f.Fuzz(func(t *testing.T, name string) {
		prefix, suffix, ok := Split(name)
		if ok && (prefix+suffix != name || len(suffix) != SuffixLength || prefix != EffectivePrefix(prefix)) {
			t.Fatalf("Split(%q) = %q, %q", name, prefix, suffix)
		}
	})
}
