// Package humanize formats numbers and lists for people: counts, probabilities, room, resource types. JSON and
// metrics have the exact values.
package humanize

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Unknown is the text for an unknown number.
const Unknown = "?"

// Grouped returns an integer with thousands separated: 14,348,907.
func Grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ChanceOf returns a probability that people understand at a glance, with three digits at most: "0", "1 in 1.6e13", "1
// in 6.2 million", "0.0064%", "21.6%", "> 99.9%".
func ChanceOf(p float64) string {
	switch {
	case p == 0:
		return "0"
	case p < 1e-9:
		return "1 in " + exponents.Replace(strconv.FormatFloat(min(1/p, math.MaxFloat64), 'e', 1, 64))
	case p < 1e-5:
		return "1 in " + Round(int64(math.Round(1/p)))
	case p == 1:
		return "100%"
	case p >= 0.9995:
		return "> 99.9%"
	case p >= 0.01:
		return strconv.FormatFloat(p*100, 'g', 3, 64) + "%"
	}
	return trimmed(Significant(p*100)) + "%"
}

// Negligible is the text that Odds returns for a chance below 1 in 10^9.
const Negligible = "–"

// Odds returns a probability as the text of a table cell.
func Odds(p float64) string {
	if p < 1e-9 {
		return Negligible
	}
	return ChanceOf(p)
}

// Round returns a number with two significant digits. Large numbers are in millions: 6.2 million.
func Round(n int64) string {
	const million, billion = 1e6, 1e9
	rounded := float64(n)
	if n > 0 {
		unit := math.Pow(10, math.Floor(math.Log10(rounded))-1)
		rounded = math.Round(rounded/unit) * unit
	}
	switch {
	case rounded >= billion:
		return trimmed(strconv.FormatFloat(rounded/billion, 'f', 1, 64)) + " billion"
	case rounded >= million:
		return trimmed(strconv.FormatFloat(rounded/million, 'f', 1, 64)) + " million"
	}
	return Grouped(int64(math.Round(rounded)))
}

func trimmed(number string) string {
	return strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
}

// Significant returns a number with two significant digits. Only a very small or very large number has an exponent.
func Significant(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x >= 1e6, x < 1e-4:
		return exponents.Replace(strconv.FormatFloat(x, 'e', 1, 64))
	case x >= 100:
		return Grouped(int64(math.Round(x)))
	}
	digits := max(0, 1-int(math.Floor(math.Log10(x))))
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// exponents are written without a plus and zeros: 7.2e6, 6.7e-5.
var exponents = strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-")

// Room formats a number of creates. nil means that the number is unlimited.
func Room(creates *int64) string {
	if creates == nil {
		return "unbounded"
	}
	return Grouped(*creates)
}

// Count returns a number of things: "1 prefix", "1,234 prefixes".
func Count[N int | int64](n N, thing string) string {
	if n != 1 {
		if strings.HasSuffix(thing, "x") {
			thing += "e"
		}
		thing += "s"
	}
	return Grouped(n) + " " + thing
}

// mostNamed is the largest number of things that Few lists by name.
const mostNamed = 5

// Few returns the first things, and the number of the remaining things.
func Few(things []string) string {
	if len(things) <= mostNamed {
		return strings.Join(things, ", ")
	}
	others := Grouped(len(things) - mostNamed)
	return fmt.Sprintf("%s and %s more", strings.Join(things[:mostNamed], ", "), others)
}

// Type returns a resource type with its API group: jobs.batch.
func Type(group, resource string) string {
	return schema.GroupResource{Group: group, Resource: resource}.String()
}

// In returns a thing with its namespace, if it has one: "jobs.batch/run- in prod".
func In(thing, namespace string) string {
	if namespace == "" {
		return thing
	}
	return thing + " in " + namespace
}

// Scope returns a resource type, or an API group if resource is empty. It adds the namespace if there is one.
func Scope(group, resource, namespace string) string {
	if resource == "" {
		return In(cmp.Or(group, "an unknown type"), namespace)
	}
	return In(Type(group, resource), namespace)
}

// Farthest is the largest distance between two words that count as similar.
const Farthest = 2

// DidYouMean returns a question with the word that is most similar to a misspelled word, or "" if no word is similar.
// If several words are equally similar, it uses the first. In the question, the prefix is before the word.
func DidYouMean(prefix, misspelled string, words []string) string {
	nearest, best := "", min(Farthest, len(misspelled)/3)+1
	for _, word := range words {
		if d := Distance(misspelled, word); d < best {
			nearest, best = word, d
		}
	}
	if nearest == "" {
		return ""
	}
	return ". Did you mean " + prefix + nearest + "?"
}

// Distance returns the number of changes that turn one word into another (optimal string alignment). A change
// inserts, deletes or replaces a byte, or swaps two neighboring bytes. Distance returns Farthest+1 if the lengths
// differ by more than Farthest.
func Distance(a, b string) int {
	if difference := len(a) - len(b); difference > Farthest || difference < -Farthest {
		return Farthest + 1
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	now, before, earlier := rows[0], rows[1], rows[2] // the row of this byte of a, and the two before
	for j := range now {
		now[j] = j
	}
	for i := range len(a) {
		now, before, earlier = earlier, now, before
		now[0] = i + 1
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			now[j+1] = min(before[j+1]+1, now[j]+1, before[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], earlier[j-1]+1)
			}
		}
	}
	return now[len(b)]
}
