package derive

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

func secretOf(t *testing.T, text string) Secret {
	t.Helper()
	s, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A short, long or unprintable secret causes an error. The error doesn't show the secret.
func TestParseSecretRefuses(t *testing.T) {
	long := strings.Repeat("s", 32)
	for _, text := range []string{
		"", "short-secret", long[1:], strings.Repeat("s", 1025), long + " ", "\t" + long, long + "\n", long + "é", long + "\x7f", strings.Repeat("\x00", 32),
	} {
		if s, err := ParseSecret(text); err == nil || s != (Secret{}) || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want an error without the secret", text, err)
		}
	}
	for _, text := range []string{long, strings.Repeat("s", 1024), strings.Repeat("!~", 16)} {
		secretOf(t, text)
	}
}

// No way to print a secret shows it.
func TestSecretIsNotPrinted(t *testing.T) {
	const text = "0123456789abcdef0123456789abcdef"
	s := secretOf(t, text)
	inJSON, err := json.Marshal(map[string]any{"s": s, "p": &s})
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %v", s, s, s, s, s, s, s, &s, struct{ S Secret }{s}) + string(inJSON)
	printed += fmt.Sprintf("%v %+v %#v", struct{ s Secret }{s}, []struct{ s Secret }{{s}}, map[string]struct{ s Secret }{"": {s}})
	if strings.Contains(printed, text) || strings.Contains(printed, fmt.Sprintf("%x", text)) {
		t.Error(printed)
	}
	if got := fmt.Sprint(Secret{}); got != "no secret" {
		t.Errorf("%q, want no secret", got)
	}
}

// An ID verifies for its source, its object and its name, and for nothing else.
func TestVerifies(t *testing.T) {
	secret, key := secretOf(t, strings.Repeat("s", 32)), FromKey("k")
	o := Object{Group: "batch", Kind: "Job", Namespace: "n", GenerateName: "p-", Document: 3, Copy: 7}
	id := secret.ID(key, o)
	name, fixed := secret.Name(id, "p-"), Object{Kind: "ConfigMap", Namespace: "n", Name: "settings"}
	copied := secret.ID(key, fixed) // to another fixed name
	unnumbered := Object{Group: "batch", Kind: "Job", Namespace: "n", GenerateName: "p-"}
	if !secret.Verifies(key, unnumbered, id, name) || !secret.Verifies(key, fixed, secret.ID(key, fixed), "settings") {
		t.Error("our own object doesn't verify")
	}
	other := unnumbered
	other.Namespace = "m"
	for what, verifies := range map[string]bool{
		"another fixed name":    secret.Verifies(key, fixed, copied, "other"),
		"another name":          secret.Verifies(key, unnumbered, id, secret.Name(id+"0", "p-")),
		"the public name":       secret.Verifies(key, unnumbered, id, Secret{}.Name(id, "p-")),
		"another namespace":     secret.Verifies(key, other, id, name),
		"another key":           secret.Verifies(FromKey("l"), unnumbered, id, name),
		"no secret":             Secret{}.Verifies(key, unnumbered, id, name),
		"other numbers":         secret.Verifies(key, unnumbered, strings.Replace(id, "-3-7", "-3-8", 1), name),
		"no ID":                 secret.Verifies(key, unnumbered, "", name),
		"an ID without numbers": secret.Verifies(key, unnumbered, strings.TrimSuffix(id, "-3-7"), name),
	} {
		if verifies {
			t.Errorf("%s verifies", what)
		}
	}
}

func TestParseID(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef"
	for _, text := range []string{
		"", "v1-" + hash, "v1-" + hash + "-0", "v2-" + hash + "-0-0", "v1-" + hash + "-00-0", "v1-" + hash + "-0-0\n", "v1-" + hash + "--1-0",
		"v1-" + strings.ToUpper(hash) + "-0-0", "r1-" + hash, "v1-" + hash + "-9999999999-0", "v1s-" + hash[1:] + "-0-0",
	} {
		if _, _, _, ok := ParseID(text); ok {
			t.Errorf("%q is an ID", text)
		}
	}
	if d, n, secret, ok := ParseID("v1s-" + hash + "-12-999999999"); d != 12 || n != 999_999_999 || !secret || !ok {
		t.Error(d, n, secret, ok)
	}
	if _, _, secret, ok := ParseID("v1-" + hash + "-0-0"); secret || !ok {
		t.Error(secret, ok)
	}
}

// A name is one that Kubernetes accepts wherever it accepts the prefix: at most 63
// bytes, with the first bytes of the prefix, and ten characters of the alphabet.
func TestNameHasTheFormOfAGeneratedName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringN(1, 80, 120).Draw(t, "prefix")
		name := Secret{}.Name(rapid.String().Draw(t, "id"), prefix)
		cut := len(name) - SuffixLength
		if len(name) > names.MaxLength || !strings.HasPrefix(prefix, name[:cut]) || strings.Trim(name[cut:], names.Alphabet) != "" ||
			len(prefix) > cut && cut < names.MaxLength-SuffixLength-3 {
			t.Fatalf("%q from %q", name, prefix)
		}
	})
}

// The names that a server or a key generates count as generated from their generateName.
func TestNamesAreGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringMatching(`[a-z][a-z-]{0,70}`).Draw(t, "prefix")
		id := rapid.String().Draw(t, "id")
		for _, name := range []string{names.Candidate(prefix, id, 3), Secret{}.Name(id, prefix)} {
			if !GeneratedFrom(name, prefix) {
				t.Errorf("%q was not generated from %q", name, prefix)
			}
		}
	})
	if !GeneratedFrom("run-bbbbbb", "run-") {
		t.Error("a server can't append six characters")
	}
}

// Other names are not generated, because the suffix has another length or other characters, or follows another part
// of the generateName.
func TestFixedNames(t *testing.T) {
	long := strings.Repeat("x-", 35)
	for name, generateName := range map[string]string{
		"run-b": "run-", "run-bbbb": "run-", long[:53] + "bbbbbbbbb": long, long[:53] + "bbbbbbbbbbb": long,
		"run-hello": "run-", "run-": "run-", "bbbbb": "", "bbbbbbbbbb": "", "run-bbbbb": "ru", "run-bbbbbbbbbb": "other-",
		long[:53] + "bbbbb": long, long[:57] + "bbbbb": long, long[:58] + "bbbbbbbbbb": long, long + "bbbbb": long,
	} {
		if GeneratedFrom(name, generateName) {
			t.Errorf("%q was generated from %q", name, generateName)
		}
	}
}

// A value that JSON can't represent has no digest. docs/spec/vectors.json has the digests of contents.
func TestNoDigest(t *testing.T) {
	for what, value := range map[string]any{
		"not UTF-8": "\xff", "infinity": math.Inf(1), "NaN": math.NaN(),
		"a number of another type": uint8(1), "in a list": []any{"\xff"}, "in a map": map[string]any{"a": "\xff"}, "a name that is not UTF-8": map[string]any{"\xff": "a"},
	} {
		if got := (Secret{}).Digest("id", Object{Kind: "ConfigMap"}, map[string]any{"data": value}); got != "" {
			t.Errorf("%s has the digest %s", what, got)
		}
	}
}

func TestComparable(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"d1-1", "d1-2", true}, {"d1s-1", "d1s-1", true}, {"d1-1", "d1s-1", false}, {"d1-1", "d2-1", false}, {"", "", false}, {"d1-1", "", false}, {"", "d1-1", false},
	} {
		if Comparable(c.a, c.b) != c.want {
			t.Errorf("%q and %q: %t, want %t", c.a, c.b, !c.want, c.want)
		}
	}
}

// The content is never changed, and any JSON has either no digest or always the same one.
func FuzzDigest(f *testing.F) {
	f.Add(`{"a":[null,{"b":1e3}],"metadata":{"labels":{"x":null}}}`)
	f.Add(`{"data":{"\ud800":"\u2028"},"metadata":[],"stringData":{"a":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var content map[string]any
		if json.Unmarshal([]byte(text), &content) != nil {
			return
		}
		before := fmt.Sprint(content)
		o := Object{Kind: "Secret"}
		digest := Secret{}.Digest("id", o, content)
		if fmt.Sprint(content) != before {
			t.Errorf("the content was changed: %v", content)
		}
		if canonical, ok := (Secret{}).Canonical(o, content); ok {
			var again map[string]any
			if err := json.Unmarshal([]byte(canonical), &again); err != nil {
				t.Fatalf("%q is not JSON: %v", canonical, err)
			}
			if got := (Secret{}).Digest("id", o, again); got != digest {
				t.Errorf("%s, and %s of the canonical form", digest, got)
			}
		}
	})
}

// Two keys must never be read as the same text. A key that begins or ends with an empty variable is an error.
func TestCheckKey(t *testing.T) {
	for _, key := range []string{
		"", "a\xff", "\xc3", "migrate-", "-1", " a", "a\n", "\u00a0a", "a.", "a:", "a/", "/a", "https:///", "ftp://host/",
	} {
		if CheckKey(key) == nil {
			t.Errorf("%q is accepted", key)
		}
	}
	for _, key := range []string{"prod-migrate-4f2a9c1", "a", "https://ci.example.com/runs/17/", "bGFzdA==", "é", "a\x00\nb"} {
		if err := CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}
