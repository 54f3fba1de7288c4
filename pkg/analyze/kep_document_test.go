package analyze

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/internals/kep-4420.md")

const kepDocument = "../../docs/internals/kep-4420.md"

// kep calculates for a suffix length and a number of attempts.
type kep struct{ t *testing.T }

func (k kep) model(length, attempts int) Model {
	names, err := NamePoolSize(length)
	if err != nil {
		k.t.Fatal(err)
	}
	return newModel(k.t, names, attempts)
}

func (k kep) threshold(length, attempts int, p float64) int64 {
	return threshold(k.t, k.model(length, attempts), p)
}

func (k kep) chance(length, attempts int, creates int64) float64 {
	return k.model(length, attempts).AnyFails(0, creates).Float64()
}

// holds fails the test if a verdict of the document is not true.
func (k kep) holds(verdict string, is bool) string {
	k.t.Helper()
	if !is {
		k.t.Errorf("it does not hold: %s", verdict)
	}
	return verdict
}

func percent(p float64) string {
	if p < 1e-6 {
		exponent := math.Ceil(math.Log10(p))
		return fmt.Sprintf("1 in %.2fe%.0f", math.Pow(10, exponent)/p, -exponent)
	}
	digits := max(2, 1-int(math.Floor(math.Log10(p*100))))
	return strconv.FormatFloat(p*100, 'f', digits, 64) + "%"
}

// thousands is humanize.Grouped, which imports a package of Kubernetes.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func (k kep) claims() [][]string {
	const million = 1_000_000
	server := k.model(5, 8)
	equivalent := func(creates int64) float64 { return server.EquivalentSuffixLength(0, creates) }
	retried := func(existing int64) float64 { return k.model(5, 1).NextFails(existing) }
	attempts := func(existing int64) float64 { return 1 + server.ExpectedExtraAttempts(existing, 1) }
	return [][]string{
		{"The KEP says", "Exact", "Verdict"},
		{
			"27^5 = 14,348,907 names per prefix", thousands(server.Names()) + " names",
			k.holds("right", server.Names() == 14_348_907),
		},
		{
			"50% chance of a conflict before even 5000 names",
			fmt.Sprintf("50%% by %s; %s at 5,000", thousands(k.threshold(5, 1, 0.5)), percent(k.chance(5, 1, 5000))),
			k.holds("right", k.threshold(5, 1, 0.5) < 5000),
		},
		{
			"0.1% at only 500 names",
			fmt.Sprintf("0.1%% by %s; %s at 500", thousands(k.threshold(5, 1, 0.001)), percent(k.chance(5, 1, 500))),
			k.holds("**wrong**: the chance is 8.7 times as high", math.Abs(k.chance(5, 1, 500)/0.001-8.7) < 0.05),
		},
		{
			"With up to 7 retries, a million names before 0.1%",
			fmt.Sprintf("8 attempts: 0.1%% by %s; %s at a million", thousands(k.threshold(5, 8, 0.001)), percent(k.chance(5, 8, million))),
			k.holds("right. The exact chance is 16 times smaller", math.Round(0.001/k.chance(5, 8, million)) == 16),
		},
		{
			"After 7 attempts, a million entries drop below 0.1%",
			fmt.Sprintf("7 attempts: 0.1%% by %s; %.4f%% at a million", thousands(k.threshold(5, 7, 0.001)), 100*k.chance(5, 7, million)),
			k.holds("just right for 7 attempts. The server makes 8", k.chance(5, 7, million) < 0.001 && k.chance(5, 7, million) > 0.00099),
		},
		{
			"With at most 100,000 names, a chance of 1 in 1.6×10^13",
			fmt.Sprintf("8 attempts: %s; 7 attempts: %s", percent(k.chance(5, 8, 100_000)), percent(k.chance(5, 7, 100_000))),
			k.holds("right for 8 attempts. The claim above uses 7", math.Abs(1.6e13*k.chance(5, 8, 100_000)-1) < 0.02),
		},
		{
			"7 retries are roughly as good as 11 characters",
			fmt.Sprintf("at a million: 8 attempts %s, 11 characters %s", percent(k.chance(5, 8, million)), percent(k.chance(11, 1, million))),
			k.holds("right only near a million ([below](#retries-in-characters))", math.Abs(equivalent(million)-11) < 0.2 && equivalent(100_000) > 15 && equivalent(2*million) < 10),
		},
		{
			"11 characters are needed for 0.1% to exceed a million names",
			fmt.Sprintf("10 characters: %s; 11: %s", thousands(k.threshold(10, 1, 0.001)), thousands(k.threshold(11, 1, 0.001))),
			k.holds("right", k.threshold(10, 1, 0.001) < million && k.threshold(11, 1, 0.001) > million),
		},
		{
			"Retries are very rare, even for 100,000 to a million names",
			fmt.Sprintf("the next create is retried with %s at 100,000, %s at a million", percent(retried(100_000)), percent(retried(million))),
			k.holds("right at 100,000. At a million, they are not rare", retried(100_000) < 0.01 && retried(million) > 0.05),
		},
		{
			"Up to 7 times the CPU with millions of names",
			fmt.Sprintf("%.3f attempts per create at a million names, %.2f at 5 million, at most 8", attempts(million), attempts(5*million)),
			k.holds("right if 7 means the extra attempts", attempts(server.Names()) == 8),
		},
	}
}

// printedThresholds are the 50% and 0.1% thresholds of the README, and of the older rendering, for
// 5 to 11 characters.
var printedThresholds = []struct{ readme, rendered [2]int64 }{
	{[2]int64{4460, 169}, [2]int64{5000, 500}},
	{[2]int64{23175, 880}, [2]int64{25000, 900}},
	{[2]int64{120421, 4575}, [2]int64{120000, 5000}},
	{[2]int64{625724, 23773}, [2]int64{650000, 8000}},
	{[2]int64{3251357, 123527}, [2]int64{3300000, 120000}},
	{[2]int64{16894547, 641863}, [2]int64{17000000, 600000}},
	{[2]int64{87786641, 3335219}, [2]int64{24000000, 3400000}},
}

func (k kep) suffixes() [][]string {
	rows := [][]string{{"Characters", "Names", "50%: exact", "README", "rendering", "0.1%: exact", "README", "rendering"}}
	short := 0 // cells of the README that are one less than exact
	for i, printed := range printedThresholds {
		length := 5 + i
		row := []string{strconv.Itoa(length), thousands(k.model(length, 1).Names())}
		for j, p := range []float64{0.5, 0.001} {
			exact := k.threshold(length, 1, p)
			row = append(row, thousands(exact), thousands(printed.readme[j]), k.printed(length, printed.rendered[j], p))
			short += int(exact - printed.readme[j])
			formula := math.Sqrt(2 * float64(k.model(length, 1).Names()) * math.Log(1/(1-p)))
			k.holds("the README's formula", int64(math.Round(formula)) == printed.readme[j])
		}
		rows = append(rows, row)
	}
	k.holds("one less in 13 of the 14 cells", short == 13)
	return rows
}

// printed is a number with the chance at it, bold if that is far from p.
func (k kep) printed(length int, names int64, p float64) string {
	is := k.chance(length, 1, names)
	text := fmt.Sprintf("%s (%s)", thousands(names), percent(is))
	if is > 2*p || is < p/2 {
		return "**" + text + "**"
	}
	return text
}

func (k kep) equivalents() [][]string {
	rows := [][]string{{"Creates", "Chance with 8 attempts", "Characters"}}
	for _, creates := range []int64{10_000, 100_000, 1_000_000, 1_362_495, 2_000_000, 3_000_000} {
		rows = append(rows, []string{
			thousands(creates), percent(k.chance(5, 8, creates)),
			fmt.Sprintf("%.2f", k.model(5, 8).EquivalentSuffixLength(0, creates)),
		})
	}
	return rows
}

func markdown(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&out, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	return out.String()
}

// This package calculates the tables of docs/internals/kep-4420.md.
func TestKEPDocument(t *testing.T) {
	data, err := os.ReadFile(kepDocument)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	for name, rows := range map[string][][]string{"claims": kep{t}.claims(), "suffixes": kep{t}.suffixes(), "equivalents": kep{t}.equivalents()} {
		place := regexp.MustCompile("(?s)<!-- " + name + " -->\n.*?<!-- end -->")
		if !place.MatchString(want) {
			t.Fatalf("%s has no place for %s", kepDocument, name)
		}
		want = place.ReplaceAllLiteralString(want, "<!-- "+name+" -->\n"+markdown(rows)+"<!-- end -->")
	}
	if *update {
		if err := os.WriteFile(kepDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(data) {
		t.Errorf("%s is not what is calculated (-update writes it); it should be\n%s", kepDocument, want)
	}
}

// The recursion that KEP-4420 prints, with its missing parentheses: C_n =
// C_(n-1) + (1-C_(n-1)) ((n-1)/N)^t.
func kepRecursion(names int64, attempts int, existing, creates int64) float64 {
	var c float64
	for i := existing; i < existing+creates; i++ {
		c += (1 - c) * math.Pow(float64(i)/float64(names), float64(attempts))
	}
	return c
}

func TestKEPRecursion(t *testing.T) {
	const recursionError = 2e-14
	names, err := NamePoolSize(SuffixLength)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		attempts          int
		existing, creates int64
	}{
		{1, 0, 500},
		{1, 0, 5000},
		{1, 100_000, 100},
		{1, names - 10, 10},
		{7, 0, 1_000_000},
		{8, 0, 1_000_000},
		{8, 500_000, 30_000},
		{8, 5_000_000, 1000},
		{16, 3_000_000, 400_000},
		{64, 10_000_000, 200_000},
		{1024, 14_200_000, 140_000},
	} {
		got := newModel(t, names, c.attempts).AnyFails(c.existing, c.creates).Float64()
		if want := kepRecursion(names, c.attempts, c.existing, c.creates); !near(got, want, recursionError) {
			t.Errorf("%+v: %v, by the KEP's recursion %v", c, got, want)
		}
	}
}
