package kustomize

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestExclude compares a regular expression that excludes a letter with the original. Both match
// the same texts without the letter. The new one matches no text with the letter.
func TestExclude(t *testing.T) {
	const letter = '\uA123'
	for _, expression := range []string{
		".*", "(?s).*", "a.b", "[^a]+", "[^a-z0-9]", `\D+`, `\pL*`, "(?i)[^X]y", "(.|x)+$",
		"[\uA100-\uA200]", "migrate-", "",
		"[\uA123-\uA124]+", "[\uA120-\uA123]+",
	} {
		tree, err := syntax.Parse("^(?:"+expression+")$", syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		with := regexp.MustCompile(tree.String())
		exclude(tree, letter)
		without, err := regexp.Compile(tree.String())
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		texts := rapid.StringOf(rapid.SampledFrom([]rune("abxyXY01-\n\uA120\uA124é" + string(letter))))
		rapid.Check(t, func(t *rapid.T) {
			text := texts.Draw(t, "text")
			want := with.MatchString(text) && !strings.ContainsRune(text, letter)
			if without.MatchString(text) != want {
				t.Fatalf("%s matches %q: %v", expression, text, !want)
			}
		})
	}
}

// TestAround compares generateName with the effect of namePrefix and nameSuffix.
func TestAround(t *testing.T) {
	for _, test := range []struct{ prefix, generateName, suffix, want string }{
		{"", "migrate-", "", "migrate-"},
		{"a-", "migrate-", "", "a-migrate-"},
		{"", "migrate-", "-eu", "migrate-eu-"},
		{"b-a-", "migrate-", "-eu-v2", "b-a-migrate-eu-v2-"},
		{"a", "run", "b", "arunb"},
		{"", "dashes--", "-x", "dashes--x-"},
		{"", "-", "x", "x-"},
	} {
		if got := (affix{test.prefix, test.suffix}).around(test.generateName); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Only enclosed texts are found.
func TestMarker(t *testing.T) {
	m := marker('\uA123')
	text := "a-" + m.text(aName, 12) + "-b"
	if before, number, after := m.find(aName, text); before != "a-" || number != 12 || after != "-b" {
		t.Errorf("%q, %d, %q", before, number, after)
	}
	for _, other := range []string{"", "a-n12-b", m.text(aFile, 12), string(rune(m)) + "n" + string(rune(m))} {
		if _, number, _ := m.find(aName, other); number != -1 {
			t.Errorf("%q has %d", other, number)
		}
	}
	all := map[rune]bool{}
	for letter := firstMarker; letter <= lastMarker; letter++ {
		all[letter] = letter != '\uA234'
	}
	for range 3 { // it ends, whatever was seen
		if chosen := rune(chooseMarker(all)); chosen < firstMarker || chosen > lastMarker {
			t.Errorf("%c", chosen)
		}
	}
}
